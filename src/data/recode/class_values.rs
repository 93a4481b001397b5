//! Computes one value that replaces the values of a class: the mean, the median or the mode
//! (LABELS).
//!
//! All three are computed from the base frequency set (the distinct combinations of values with
//! their counts), so no further scan is needed. Integers, decimals, dates and timestamps are summed
//! as whole units of their type. Their sums are exact, and the quotient is rounded to the nearest
//! unit, with ties to even. Floating-point numbers are summed without rounding, and only the mean
//! is rounded, so the result depends neither on the number of threads nor on the order of rows. If
//! several values are equally frequent, the mode is the lowest of them. Means and medians ignore
//! NULL.
//!
//! Reference: Domingo-Ferrer and Mateo-Sanz, Practical data-oriented microaggregation for
//! statistical disclosure control, 2002, section 2, doi:10.1109/69.979982 (groups are released as
//! their mean).

use super::exact_sum::ExactSum;
use crate::base::error::{Error, Result};
use crate::method::hierarchy::{LabelForm, Lookup, Units, plain_type};
use arrow::array::{Array, ArrayRef, AsArray, Float64Array, UInt32Array};
use arrow::compute::{cast, take};
use arrow::datatypes::{DataType, Float64Type};

/// The number of rows in a class that have a given ground code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GroundCount {
    pub(super) class: u32,
    pub(super) code: u32,
    pub(super) rows: u64,
}

/// Returns one value for each of `classes` classes, with the type of the column. `counted` contains
/// the values in the classes, in any order. The value of a class without an entry is NULL.
pub(super) fn class_values(
    form: LabelForm,
    lookup: &Lookup,
    mut counted: Vec<GroundCount>,
    classes: usize,
) -> Result<ArrayRef> {
    counted.sort_unstable();
    let values = lookup.values();
    if form == LabelForm::Mode {
        let mut modes: Vec<Option<u32>> = vec![None; classes];
        for run in counted.chunk_by(|a, b| a.class == b.class) {
            modes[run[0].class as usize] = mode(run);
        }
        return Ok(take(values, &UInt32Array::from(modes), None)?);
    }
    let data_type = plain_type(values.data_type());
    match Units::of(data_type) {
        Some(units) => {
            let numbers = units.read(values)?;
            let read = |code: u32| values.is_valid(code as usize).then(|| numbers.value(code as usize));
            units.write(of_runs(&counted, classes, read, |weighted| match form {
                LabelForm::Mean => whole_mean(weighted),
                _ => whole_median(weighted),
            })?)
        }
        None => {
            let numbers = cast(values, &DataType::Float64)?;
            let numbers = numbers.as_primitive::<Float64Type>();
            let read = |code: u32| values.is_valid(code as usize).then(|| numbers.value(code as usize));
            let found = of_runs(&counted, classes, read, |weighted| {
                Ok(match form {
                    LabelForm::Mean => mean(weighted),
                    _ => median(weighted),
                })
            })?;
            Ok(cast(&Float64Array::from(found), data_type)?)
        }
    }
}

/// Returns the result of `value` for each class, called with the numbers in the class and their
/// counts. `counted` is sorted. `read` returns the number for a code, or `None` for NULL.
fn of_runs<T: Clone>(
    counted: &[GroundCount],
    classes: usize,
    read: impl Fn(u32) -> Option<T>,
    value: impl Fn(&[(T, u64)]) -> Result<Option<T>>,
) -> Result<Vec<Option<T>>> {
    let mut found = vec![None; classes];
    for run in counted.chunk_by(|a, b| a.class == b.class) {
        let weighted = run.iter().filter_map(|one| Some((read(one.code)?, one.rows)));
        found[run[0].class as usize] = value(&weighted.collect::<Vec<_>>())?;
    }
    Ok(found)
}

/// Returns the most frequent code, or the lowest of several equally frequent codes. Codes are in
/// ascending order, and the same code may have several entries.
fn mode(run: &[GroundCount]) -> Option<u32> {
    let codes = run.chunk_by(|a, b| a.code == b.code);
    let sums = codes.map(|same| (same.iter().map(|one| one.rows).sum::<u64>(), same[0].code));
    let most = sums.reduce(|best, next| if next.0 > best.0 { next } else { best });
    most.map(|(_, code)| code)
}

/// Returns the mean of ascending values with their counts, rounded to the nearest whole number,
/// with ties to even.
fn whole_mean(weighted: &[(i128, u64)]) -> Result<Option<i128>> {
    let Some((least, _)) = weighted.first().copied() else {
        return Ok(None);
    };
    // Differences from the minimum may be small even if the values are large, so their sum
    // overflows less often.
    let mut sum = 0i128;
    let mut rows = 0i128;
    for (value, n) in weighted {
        let distance = value.checked_sub(least).and_then(|d| d.checked_mul(i128::from(*n)));
        sum = distance.and_then(|d| sum.checked_add(d)).ok_or_else(too_large)?;
        rows += i128::from(*n);
    }
    let (floor, rest) = (least + sum / rows, sum % rows);
    Ok(Some(match rest.cmp(&(rows - rest)) {
        std::cmp::Ordering::Less => floor,
        std::cmp::Ordering::Equal => floor + i128::from(floor % 2 != 0),
        std::cmp::Ordering::Greater => floor + 1,
    }))
}

fn too_large() -> Error {
    Error::data(
        "the sum of the values of a class is too large to compute exactly; write LABELS MEDIAN, or cast the column to a \
         type with fewer digits in a query",
    )
}

/// Returns the two middle values of ascending values with their counts. The two are the same value
/// if the total count is odd.
fn middle<T: Copy>(weighted: &[(T, u64)]) -> Option<(T, T)> {
    let rows: u64 = weighted.iter().map(|(_, n)| n).sum();
    let at = |place: u64| {
        let mut before = 0;
        let found = weighted.iter().find(|(_, n)| {
            before += n;
            place < before
        });
        found.map(|(value, _)| *value)
    };
    Some((at(rows.checked_sub(1)? / 2)?, at(rows / 2)?))
}

fn whole_median(weighted: &[(i128, u64)]) -> Result<Option<i128>> {
    match middle(weighted) {
        Some((low, high)) => whole_mean(&[(low, 1), (high, 1)]),
        None => Ok(None),
    }
}

/// A power of two by which large numbers are scaled down. Multiplication by a power of two keeps
/// every digit of a number, unless the number is tiny.
const SCALE: f64 = 1.0 / (1u128 << 100) as f64;

/// Returns the floating-point number nearest to the mean of ascending values with their counts. If
/// two numbers are equally near, returns the number with the even significand.
fn mean(weighted: &[(f64, u64)]) -> Option<f64> {
    let ((least, _), (greatest, _)) = (weighted.first()?, weighted.last()?);
    let rows: u64 = weighted.iter().map(|(_, n)| n).sum();
    // Large values are scaled down, because their sum may exceed the maximum floating-point number.
    let is_large = !(least.abs().max(greatest.abs()) * 4.0 * rows as f64).is_finite();
    let scale = if is_large { SCALE } else { 1.0 };
    // The sum of the scaled values minus `rows` times `mean`.
    let above = |mean: f64| {
        let mut sum = ExactSum::default();
        weighted.iter().for_each(|(value, n)| sum.add(value * scale, *n));
        sum.add(-mean, rows);
        sum.value()
    };
    let near = above(0.0) / rows as f64;
    let rest = above(near);
    let next = if rest > 0.0 { near.next_up() } else { near.next_down() };
    let of_next = if rest == 0.0 { f64::INFINITY } else { above(next).abs() };
    let is_next = of_next < rest.abs() || of_next == rest.abs() && next.to_bits() % 2 == 0;
    let nearest = if is_next { next } else { near };
    Some((nearest / scale).clamp(*least, *greatest))
}

fn median(weighted: &[(f64, u64)]) -> Option<f64> {
    let (low, high) = middle(weighted)?;
    Some(if low == high {
        low
    } else {
        (low / 2.0 + high / 2.0).clamp(low, high)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::hierarchy::Hierarchy;
    use arrow::array::{Date32Array, Date64Array, Decimal128Array, Int64Array};
    use arrow::datatypes::{Date32Type, Date64Type, Decimal128Type, Int64Type};
    use proptest::prelude::*;
    use std::sync::Arc;

    fn lookup(values: ArrayRef) -> Lookup {
        Hierarchy::suppression_of("x").unwrap().bind(values).unwrap()
    }

    /// Returns the values of classes, where each class is given by the codes of its rows.
    fn of(form: LabelForm, lookup: &Lookup, classes: &[Vec<u32>]) -> ArrayRef {
        let one = |class: u32, codes: &[u32]| -> Vec<GroundCount> {
            codes
                .iter()
                .map(|code| GroundCount {
                    class,
                    code: *code,
                    rows: 1,
                })
                .collect()
        };
        let counted = classes
            .iter()
            .zip(0..)
            .flat_map(|(codes, class)| one(class, codes))
            .collect();
        class_values(form, lookup, counted, classes.len()).unwrap()
    }

    #[test]
    fn halves_go_to_the_even_number() {
        let numbers = lookup(Arc::new(Int64Array::from(vec![
            -3,
            -2,
            1,
            2,
            3,
            i64::MAX - 1,
            i64::MAX,
        ])));
        let means = of(
            LabelForm::Mean,
            &numbers,
            &[vec![2, 3], vec![3, 4], vec![0, 1], vec![], vec![5, 6]],
        );
        let expected = [Some(2), Some(2), Some(-2), None, Some(i64::MAX - 1)];
        assert_eq!(means.as_primitive::<Int64Type>().iter().collect::<Vec<_>>(), expected);
        let days = lookup(Arc::new(Date32Array::from(vec![10, 11, 20])));
        let medians = of(LabelForm::Median, &days, &[vec![0, 1], vec![0, 1, 2], vec![1, 2]]);
        assert_eq!(medians.as_primitive::<Date32Type>().values().as_ref(), [10, 11, 16]);
        // A Date64 value is stored in milliseconds, but its unit is a day too.
        let days = lookup(Arc::new(Date64Array::from(
            vec![10, 11, 20]
                .into_iter()
                .map(|d| d * 86_400_000)
                .collect::<Vec<i64>>(),
        )));
        let means = of(LabelForm::Mean, &days, &[vec![0, 1], vec![0, 1, 2], vec![1, 2]]);
        let means: Vec<i64> = means
            .as_primitive::<Date64Type>()
            .values()
            .iter()
            .map(|at| at / 86_400_000)
            .collect();
        assert_eq!(means, [10, 14, 16]);
        let cents = Decimal128Array::from(vec![100, 101, 105])
            .with_precision_and_scale(38, 2)
            .unwrap();
        let means = of(LabelForm::Mean, &lookup(Arc::new(cents)), &[vec![0, 1, 2], vec![0, 1]]);
        assert_eq!(means.as_primitive::<Decimal128Type>().values().as_ref(), [102, 100]);
    }

    #[test]
    fn a_sum_that_does_not_fit_is_an_error() {
        let most = 10i128.pow(38) - 1;
        let wide = Decimal128Array::from(vec![-most, most])
            .with_precision_and_scale(38, 0)
            .unwrap();
        let lookup = lookup(Arc::new(wide));
        let counted = vec![
            GroundCount {
                class: 0,
                code: 0,
                rows: 1,
            },
            GroundCount {
                class: 0,
                code: 1,
                rows: 9,
            },
        ];
        let error = class_values(LabelForm::Mean, &lookup, counted, 1)
            .unwrap_err()
            .to_string();
        assert!(error.contains("LABELS MEDIAN"), "{error}");
    }

    #[test]
    fn a_mean_of_fractions_is_rounded_once() {
        for (values, expected) in [
            (&[(0.1, 1), (0.2, 1), (0.3, 1)][..], 0.2),
            (&[(1e308, 2)], 1e308),
            (&[(f64::MIN, 1), (f64::MAX, 1)], 0.0),
            (&[(-1e308, 3), (1e308, 1)], -5e307),
            (&[(5e-324, 1), (1e-323, 1)], 1e-323),
            (&[(0.1, 10)], 0.1),
        ] {
            assert_eq!(mean(values), Some(expected), "{values:?}");
        }
    }

    proptest! {
        #[test]
        fn classes_are_what_their_rows_are(
            classes in prop::collection::vec(prop::collection::vec(0u32..8, 1..12), 1..5), shift in -20i64..20
        ) {
            let values: Vec<i64> = (0..8).map(|i| i * i + shift).collect();
            let numbers = lookup(Arc::new(Int64Array::from(values.clone())));
            let floats = lookup(Arc::new(values.iter().map(|v| Some(*v as f64 / 8.0)).collect::<Float64Array>()));
            let rows = |class: &Vec<u32>| {
                let mut rows: Vec<i64> = class.iter().map(|code| values[*code as usize]).collect();
                rows.sort_unstable();
                rows
            };
            let got = |form| of(form, &numbers, &classes).as_primitive::<Int64Type>().values().to_vec();
            let (means, medians, modes) = (got(LabelForm::Mean), got(LabelForm::Median), got(LabelForm::Mode));
            let exact = of(LabelForm::Mean, &floats, &classes);
            for (i, class) in classes.iter().enumerate() {
                let rows = rows(class);
                let (n, sum) = (rows.len() as i64, rows.iter().sum::<i64>());
                // The nearest integer, found by trying all integers from -60 to 79.
                let nearest = |sum: i64, n: i64| {
                    (-60..80).min_by_key(|m| ((m * n - sum).abs(), m.rem_euclid(2))).unwrap()
                };
                prop_assert_eq!(means[i], nearest(sum, n));
                let middle = rows[(rows.len() - 1) / 2] + rows[rows.len() / 2];
                prop_assert_eq!(medians[i], nearest(middle, 2));
                let count = |v: i64| rows.iter().filter(|r| **r == v).count();
                let most = rows.iter().map(|v| count(*v)).max().unwrap();
                prop_assert_eq!(Some(&modes[i]), rows.iter().find(|v| count(**v) == most));
                prop_assert_eq!(exact.as_primitive::<Float64Type>().value(i), sum as f64 / 8.0 / n as f64);
            }
        }
    }
}
