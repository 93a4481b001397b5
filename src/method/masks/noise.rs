//! NOISE: a number with a random number added to it.
//!
//! `NOISE (0.1)` adds a random number to each value. The number is drawn from a normal distribution
//! with mean 0, whose standard deviation is 0.1 times the standard deviation of the column. The
//! latter is the square root of the sum of (x - mean)^2 divided by n - 1, over the n values in the
//! source that are released with noise. So the mean of these values is about the same as before,
//! and their variance is about (1 + 0.1^2) times as large. The values of suppressed rows do not
//! count, unless a row is suppressed because its own limit (`personal_privacy`) cannot be met.
//!
//! For whole numbers, the random number is rounded to a whole number, and for decimal numbers, to
//! the number of decimals in the column. NOISE fails if the share is so small that the noise would
//! mostly be rounded to 0. A sum outside the range of the column's type becomes the nearest value
//! of the type; in a column of unsigned numbers, for example, it never becomes negative. NULL stays
//! NULL. NOISE also fails for a column with NaN or infinity, with the same value in all rows, or
//! with values so large or so near to each other that 64-bit floats cannot compute their standard
//! deviation.
//!
//! Anyone with the secret can compute the random numbers. The same source, statement and secret
//! give the same noise. The noise is different with another secret, with other released columns or
//! other masks, and after rows were added, changed or left out. The mean of a row's values in two
//! such releases is nearer to the original value.
//!
//! Example: `KEEP (income NOISE (0.1) WITH SECRET 'env:ANONSQL_SECRET')`
//!
//! Reference: `addNoise` of sdcMicro, method additive (there in percent); Hundepool et al.,
//! Statistical Disclosure Control, Wiley 2012, section 3.4.

use super::clause::{MaskItem, MaskKind, MaskPart, MaskPlace, MaskSyntax, Reads};
use super::draws::Draws;
use super::key::Key;
use super::survey::Survey;
use super::text::unfit;
use super::values::{Mask, Unmasked};
use crate::base::catalogue::Info;
use crate::base::error::{Error, Result};
use crate::method::canonical::plain;
use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray, UInt64Array};
use arrow::compute::{CastOptions, cast, cast_with_options};
use arrow::datatypes::{DataType, Decimal128Type, Float64Type, Int64Type};
use std::sync::Arc;

/// The minimum standard deviation of noise that is rounded, in units of the column. With less
/// noise, most values would stay unchanged.
const ROUNDED: f64 = 0.7;
/// The maximum standard deviation of the noise, as a multiple of the column's standard deviation.
const MOST: f64 = 100.0;
/// The least absolute value of noise that is not rounded as a number of 64 bits: 2^62.
const WHOLE: f64 = (1_u64 << 62) as f64;

pub(super) const KIND: MaskKind = MaskKind {
    info: Info {
        name: "noise",
        summary: "a number with normal noise added, whose standard deviation is a share of the column's",
        params: &[],
        example: "KEEP (income NOISE (0.1) WITH SECRET 'env:ANONSQL_SECRET')",
        reference: "addNoise of sdcMicro (additive); Hundepool et al., Statistical Disclosure Control, 2012, section 3.4",
    },
    clause: MaskSyntax {
        start: "NOISE",
        syntax: "NOISE (share) WITH SECRET 'env:NAME'",
        parts: &[
            MaskPart::Value(
                "share",
                MaskItem::Share,
                "the standard deviation of the noise as a share of the column's: (0.1) or (10 PERCENT)",
            ),
            MaskPart::Secret,
        ],
    },
    places: &[MaskPlace::Values],
    reads: Reads::Column,
    function: None,
    noun: "a value with noise",
    phrase: "a value with noise",
    technique: "noise addition: a random number is added to every value",
    is_pseudonym: false,
    tells_apart: false,
    limits: (
        "Values with noise",
        "A value far from all others stays far from them, and anyone who knows a value well finds the records near \
         it. The several values of one person have noise of their own, so their mean tells more than each. Two \
         releases of one table do so, too, unless their statements and secrets are the same. Zero and other values that \
         many share get noise as all others. No model counts such values.",
    ),
    build: |clause| {
        let share = clause.share("share", None)?;
        if !(share > 0.0 && share <= MOST) {
            return Err(Error::usage(format!(
                "NOISE: the share of the standard deviation is above 0 and at most {MOST}: NOISE (0.1)"
            )));
        }
        Ok(Arc::new(Noise { share, drawn: None }))
    },
};

/// The mask that adds noise to numbers.
#[derive(Debug)]
struct Noise {
    /// The standard deviation of the noise, as a share of the column's standard deviation.
    share: f64,
    drawn: Option<Drawn>,
}

/// The noise for a column.
#[derive(Debug)]
struct Drawn {
    draws: Draws,
    /// The standard deviation of the noise.
    deviation: f64,
}

impl Drawn {
    /// Returns the noise of each row with one of these ids.
    fn of(&self, ids: &UInt64Array) -> Vec<f64> {
        let mut noise = self.draws.normal(ids.values());
        noise.iter_mut().for_each(|number| *number *= self.deviation);
        noise
    }
}

impl Mask for Noise {
    fn data_type(&self, values: &DataType) -> Result<DataType> {
        match plain(values) {
            wide @ DataType::Decimal256(..) => Err(unfit(
                KIND.clause.start,
                "decimal numbers of at most 38 digits",
                &wide,
                "cast the column to DECIMAL(38, 2) or DOUBLE in a query",
            )),
            number if number.is_numeric() => Ok(number),
            other => Err(unfit(
                KIND.clause.start,
                "numbers",
                &other,
                "cast the column to a number in a query",
            )),
        }
    }

    fn surveyed(&self, survey: &Survey, key: &Key) -> Result<Arc<dyn Mask>> {
        survey.check()?;
        let deviation = self.share * deviation(survey)?;
        if deviation > 0.0 && deviation < ROUNDED * unit(survey.values.data_type()) {
            return Err(survey.unfit(
                "NOISE of this share is mostly rounded away, because the column has whole numbers or few decimals; write a larger \
                 share, or cast the column to DOUBLE in a query",
            ));
        }
        // Another share has another noise. Otherwise the difference of two releases would reveal
        // it.
        let draws = Draws::new(key, &format!("{} {}", KIND.info.name, self.share), &survey.column)?;
        Ok(Arc::new(Self {
            share: self.share,
            drawn: Some(Drawn { draws, deviation }),
        }))
    }

    fn mask(&self, unmasked: &Unmasked) -> Result<ArrayRef> {
        let drawn = self.drawn.as_ref();
        let drawn = drawn.ok_or_else(|| Error::internal("noise without the column's standard deviation"))?;
        let (values, noise) = (unmasked.values, drawn.of(unmasked.ids()?));
        // A sum outside the range of a type becomes the maximum or the minimum of the type, never
        // NULL.
        match values.data_type() {
            DataType::Decimal32(digits, scale)
            | DataType::Decimal64(digits, scale)
            | DataType::Decimal128(digits, scale) => {
                let (unit, end) = (10_f64.powi((*scale).into()), 10_i128.pow((*digits).into()) - 1);
                exact(values, (*digits, *scale), &noise, |x, noise| {
                    x.saturating_add(rounded(noise * unit)).clamp(-end, end)
                })
            }
            DataType::UInt64 => {
                // Every whole number has at most 20 digits.
                exact(values, (20, 0), &noise, |x, noise| {
                    x.saturating_add(rounded(noise)).clamp(0, u64::MAX.into())
                })
            }
            of if of.is_integer() => {
                let (least, greatest) = ends(of);
                let wide = cast(values, &DataType::Int64)?;
                let sum = |x: i64, noise: f64| {
                    let sum = i128::from(x).saturating_add(rounded(noise));
                    sum.clamp(least.into(), greatest.into()) as i64
                };
                Ok(cast(&added::<Int64Type>(&wide, &noise, sum)?, of)?)
            }
            of => {
                let wide = cast(values, &DataType::Float64)?;
                let greatest = greatest_float(of);
                let sum = |x: f64, noise: f64| (x + noise).clamp(-greatest, greatest);
                let sums = added::<Float64Type>(&wide, &noise, sum)?;
                Ok(cast(&sums, of)?)
            }
        }
    }
}

/// Returns the smallest difference between two values of a type; 0 for floating-point numbers.
fn unit(of: &DataType) -> f64 {
    match plain(of) {
        DataType::Decimal32(_, scale) | DataType::Decimal64(_, scale) | DataType::Decimal128(_, scale) => {
            10_f64.powi(-i32::from(scale))
        }
        whole if whole.is_integer() => 1.0,
        _ => 0.0,
    }
}

/// Returns the nearest whole number. Halves are rounded away from zero.
#[inline]
fn rounded(number: f64) -> i128 {
    // `round` is a call of a function on many processors, and so is the conversion to 128 bits.
    if number.abs() >= WHOLE || number.is_nan() {
        return number.round() as i128;
    }
    let whole = number as i64;
    // This difference is exact.
    let rest = number - whole as f64;
    i128::from(whole + i64::from(rest >= 0.5) - i64::from(rest <= -0.5))
}

/// Returns the result of `sum` for each value and the noise of its row; NULL for a row without a
/// value.
fn added<T: ArrowPrimitiveType>(
    values: &ArrayRef,
    noise: &[f64],
    sum: impl Fn(T::Native, f64) -> T::Native,
) -> Result<ArrayRef> {
    let values = values.as_primitive::<T>();
    let sums = values
        .values()
        .iter()
        .zip(noise)
        .map(|(value, noise)| sum(*value, *noise));
    let mut sums: Vec<T::Native> = sums.collect();
    let nulls = values.nulls().filter(|nulls| nulls.null_count() > 0);
    // A value that became NULL may still be in its place, and must not be released.
    if let Some(nulls) = nulls {
        let unknown = sums.iter_mut().zip(nulls).filter(|(_, is_known)| !is_known);
        unknown.for_each(|(sum, _)| *sum = T::default_value());
    }
    let sums = PrimitiveArray::<T>::try_new(sums.into(), nulls.cloned())?;
    Ok(Arc::new(sums.with_data_type(values.data_type().clone())))
}

/// Returns the minimum and the maximum of a type of whole numbers other than `UInt64`, which is the
/// only one with values above those of `i64`.
fn ends(of: &DataType) -> (i64, i64) {
    match of {
        DataType::Int8 => (i8::MIN.into(), i8::MAX.into()),
        DataType::Int16 => (i16::MIN.into(), i16::MAX.into()),
        DataType::Int32 => (i32::MIN.into(), i32::MAX.into()),
        DataType::UInt8 => (0, u8::MAX.into()),
        DataType::UInt16 => (0, u16::MAX.into()),
        DataType::UInt32 => (0, u32::MAX.into()),
        _ => (i64::MIN, i64::MAX),
    }
}

/// Returns the greatest finite value of a floating-point type.
fn greatest_float(of: &DataType) -> f64 {
    match of {
        DataType::Float16 => 65_504.0,
        DataType::Float32 => f32::MAX.into(),
        _ => f64::MAX,
    }
}

/// Returns the result of `sum` for each value and the noise of its row, in the type of the values.
/// The sums are computed on decimals with `digits` digits and the scale `scale`, which represent
/// the values exactly.
fn exact(
    values: &ArrayRef,
    (digits, scale): (u8, i8),
    noise: &[f64],
    sum: impl Fn(i128, f64) -> i128,
) -> Result<ArrayRef> {
    let wide = cast(values, &DataType::Decimal128(digits, scale))?;
    let sums = added::<Decimal128Type>(&wide, noise, sum)?;
    let options = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    Ok(cast_with_options(&sums, values.data_type(), &options)?)
}

/// Returns the standard deviation of a column, or 0 if the column has no values. Fails if a value
/// is NaN or infinite, if all values are the same, or if the standard deviation is so large or so
/// small that it cannot be computed with 64-bit floats.
fn deviation(survey: &Survey) -> Result<f64> {
    let values = cast(&survey.values, &DataType::Float64)?;
    let values = values.as_primitive::<Float64Type>().values();
    if !values.iter().all(|x| x.is_finite()) {
        return Err(survey.unfit(
            "NOISE is drawn by the standard deviation, and a column with NaN or infinity has none; select these as NULL in a \
             query",
        ));
    }
    let deviation = survey.deviation_of(values);
    match deviation.is_finite() && deviation > 0.0 {
        true => Ok(deviation),
        // A column without values needs no noise.
        false if values.is_empty() => Ok(0.0),
        false if values.len() > 1 => Err(survey.unfit(
            "NOISE is drawn by the standard deviation, which 64-bit floats cannot compute for values that are so large, or so \
             near to each other; subtract a constant from the column, or multiply it by a constant, in a query",
        )),
        false => Err(survey.unfit(
            "NOISE is drawn by the standard deviation, and a column with one value in all released rows has none; drop the \
             column, or add it as a constant to the release",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{BooleanArray, Decimal128Array, Float64Array, Int64Array, UInt8Array};
    use arrow::compute::{nullif, take};
    use proptest::prelude::*;

    const SECRET: &[u8] = b"0123456789abcdef";

    fn survey(values: ArrayRef, counts: Vec<u64>) -> Survey {
        Survey {
            column: "pay".into(),
            values,
            counts,
            order: vec![],
        }
    }

    fn masked(share: f64, survey: &Survey, values: &ArrayRef, ids: Vec<u64>) -> Result<ArrayRef> {
        let key = Key::new(SECRET)?;
        let noise = Noise { share, drawn: None }.surveyed(survey, &key)?;
        noise.mask(&Unmasked {
            values,
            beside: &[Arc::new(UInt64Array::from(ids))],
            key: Some(&key),
        })
    }

    /// `sd(c(1, 2, 2, 4, 4, 4))` of R is 1.32916013582512.
    #[test]
    fn the_standard_deviation_is_that_of_the_rows() {
        let values: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 4]));
        let found = deviation(&survey(values, vec![1, 2, 3])).unwrap();
        assert!((found - 1.329_160_135_825_12).abs() < 1e-13, "{found}");
    }

    #[test]
    fn a_column_without_a_standard_deviation_is_refused() {
        for (values, counts, said) in [
            (vec![3.0], vec![4], "one value"),
            (vec![3.0], vec![1], "one value"),
            (vec![-1e200, 1e200], vec![1, 2], "so large"),
            (vec![1e-200, 2e-200], vec![1, 2], "so near to each other"),
            (vec![1.0, f64::NAN], vec![1, 1], "NaN"),
            (vec![1.0, f64::INFINITY], vec![1, 1], "infinity"),
        ] {
            let refused = deviation(&survey(Arc::new(Float64Array::from(values)), counts)).unwrap_err();
            assert!(
                refused.to_string().contains(said) && refused.to_string().contains("pay"),
                "{refused}"
            );
        }
        let none: ArrayRef = Arc::new(Float64Array::from(Vec::<f64>::new()));
        assert_eq!(deviation(&survey(none, vec![])).unwrap(), 0.0);
    }

    #[test]
    fn sums_keep_the_type_and_its_range() {
        let all: ArrayRef = Arc::new(UInt8Array::from(vec![0, 255]));
        let values: ArrayRef = Arc::new(UInt8Array::from([Some(0), None, Some(255)].repeat(40)));
        let found = masked(1.0, &survey(all, vec![40, 40]), &values, (1..=120).collect()).unwrap();
        assert_eq!(found.data_type(), &DataType::UInt8);
        assert_eq!(found.null_count(), 40);
        let found = found.as_primitive::<arrow::datatypes::UInt8Type>();
        assert!(found.iter().any(|x| x == Some(0)) && found.iter().any(|x| x == Some(255)));

        for narrow in [DataType::Float16, DataType::Float32] {
            let end = greatest_float(&narrow);
            let all: ArrayRef = Arc::new(Float64Array::from(vec![-end, end]));
            let all = cast(&all, &narrow).unwrap();
            let rows = UInt64Array::from_iter_values((0..80).map(|row| row % 2));
            let values = take(&all, &rows, None).unwrap();
            let found = masked(1.0, &survey(all, vec![40, 40]), &values, (1..=80).collect()).unwrap();
            assert_eq!(found.data_type(), &narrow);
            let found = cast(&found, &DataType::Float64).unwrap();
            let found = found.as_primitive::<Float64Type>();
            assert!(found.iter().flatten().all(f64::is_finite), "{narrow}");
            assert!(found.iter().any(|x| x == Some(end)), "{narrow}");
        }

        let decimals = |values: Vec<i128>| -> ArrayRef {
            Arc::new(Decimal128Array::from(values).with_precision_and_scale(10, 2).unwrap())
        };
        let found = masked(
            0.5,
            &survey(decimals(vec![100, 900]), vec![1, 1]),
            &decimals(vec![100, 900]),
            vec![1, 2],
        );
        let found = found.unwrap();
        assert_eq!(found.data_type(), &DataType::Decimal128(10, 2));
        assert_ne!(&found, &decimals(vec![100, 900]));
    }

    /// A value that became NULL is not in the masked array, not even with noise.
    #[test]
    fn nothing_is_stored_in_place_of_null() {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![5, 7, 9]));
        let hidden = nullif(&numbers, &BooleanArray::from(vec![false, true, false])).unwrap();
        assert_eq!(hidden.as_primitive::<Int64Type>().values()[1], 7);
        let decimals = cast(&hidden, &DataType::Decimal128(12, 2)).unwrap();
        let survey = survey(numbers, vec![1, 1, 1]);
        for values in [hidden, decimals] {
            let found = masked(1.0, &survey, &values, vec![1, 2, 3]).unwrap();
            assert!(found.is_null(1) && found.null_count() == 1);
            let data = found.to_data();
            let bytes = data.buffers()[0].as_slice();
            let width = bytes.len() / 3;
            assert!(bytes[width..2 * width].iter().all(|byte| *byte == 0));
        }
    }

    #[test]
    fn halves_are_rounded_away_from_zero() {
        let half = 0.5_f64.next_down();
        for (number, wanted) in [
            (2.5, 3),
            (-2.5, -3),
            (0.5, 1),
            (-0.5, -1),
            (half, 0),
            (-half, 0),
            (f64::NAN, 0),
        ] {
            assert_eq!(rounded(number), wanted, "{number}");
        }
        assert_eq!(
            [rounded(f64::INFINITY), rounded(-f64::INFINITY)],
            [i128::MAX, i128::MIN]
        );
    }

    proptest! {
        #[test]
        fn numbers_are_rounded_as_by_the_standard_library(
            number in prop_oneof![-10.0_f64..10.0, -1e19_f64..1e19, any::<f64>()],
        ) {
            for number in [number, number.trunc() + 0.5, number.trunc() - 0.5] {
                prop_assert_eq!(rounded(number), number.round() as i128);
            }
        }

        /// The noise of a row is a normal random number for the row's id, times the share and the
        /// standard deviation. It is rounded for whole numbers, but not for floating-point numbers.
        #[test]
        fn noise_is_as_defined(values in prop::collection::vec(-1_000i64..1_000, 2..40), share in 0.01f64..3.0) {
            let mut sorted = values.clone();
            sorted.sort_unstable();
            prop_assume!(sorted[0] != sorted[sorted.len() - 1]);
            let n = sorted.len() as f64;
            let mean = sorted.iter().sum::<i64>() as f64 / n;
            let deviation = f64::sqrt(sorted.iter().map(|x| (*x as f64 - mean).powi(2)).sum::<f64>() / (n - 1.0));
            let ids: Vec<u64> = (1..=sorted.len() as u64).collect();
            let mut distinct = sorted.clone();
            distinct.dedup();
            let counts = distinct.iter().map(|x| sorted.iter().filter(|y| *y == x).count() as u64).collect();
            let survey = survey(Arc::new(Int64Array::from(distinct)), counts);
            let draws = Draws::new(&Key::new(SECRET).unwrap(), &format!("noise {share}"), "pay").unwrap();
            let normal = draws.normal(&ids);
            let whole: ArrayRef = Arc::new(Int64Array::from(sorted.clone()));
            let real = cast(&whole, &DataType::Float64).unwrap();
            let whole = masked(share, &survey, &whole, ids.clone()).unwrap();
            let real = masked(share, &survey, &real, ids).unwrap();
            for (row, (x, normal)) in sorted.iter().zip(normal).enumerate() {
                let noise = share * deviation * normal;
                let (whole, real) = (whole.as_primitive::<Int64Type>().value(row), real.as_primitive::<Float64Type>().value(row));
                prop_assert!((real - *x as f64 - noise).abs() < 1e-9 * (1.0 + noise.abs()));
                prop_assert!((whole - x) as f64 - noise <= 0.5 + 1e-6 && noise - (whole - x) as f64 <= 0.5 + 1e-6);
            }
        }
    }
}
