//! Ground values as text, and the matching of ground values with a column of any type. A ground
//! value is a value at level 0 of a hierarchy, before generalization.

use super::instant::texts;
use super::number::Number;
pub(super) use super::plain_type::plain_type;
use crate::base::error::{Error, Result};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, PrimitiveArray, StringArray, UInt32Array};
use arrow::compute::kernels::cmp::neq;
use arrow::compute::{cast, nullif, or};
use arrow::datatypes::*;
use arrow::row::{RowConverter, SortField};
use std::collections::HashMap;
use std::sync::Arc;

/// Returns true for numbers, dates and timestamps, the types for which ranges can be computed.
pub(crate) fn has_order(data_type: &DataType) -> bool {
    let plain = plain_type(data_type);
    plain.is_numeric() || matches!(plain, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..))
}

/// Returns the values without dictionary or run-end encoding.
pub(super) fn plain(values: &ArrayRef) -> Result<ArrayRef> {
    let data_type = plain_type(values.data_type());
    if data_type == values.data_type() {
        return Ok(Arc::clone(values));
    }
    Ok(cast(values, data_type)?)
}

/// Returns the error for a column whose type a kind of hierarchy does not accept. The error names
/// the kinds that accept the type.
pub(super) fn unfit(kind: &str, values: &str, data_type: &DataType) -> Error {
    let plain = plain_type(data_type);
    let fits = match plain {
        t if t.is_numeric() => {
            "; INTERVALS, QUANTILES and VALUES take numbers, or cast the column to a string in a query"
        }
        DataType::Time32(_) | DataType::Time64(_) => "; VALUES and a hierarchy file take times of day",
        t if t.is_temporal() => "; TRUNCATE, QUANTILES and VALUES take dates and timestamps",
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            "; PREFIX, VALUES and a hierarchy file take strings, or cast the column in a query"
        }
        _ => "",
    };
    Error::usage(format!(
        "{kind} generalizes {values}, not a column of type {plain}{fits}"
    ))
}

/// Fails if the values of this type cannot be written as text such that parsing the text gives the
/// same value.
pub(super) fn has_text(data_type: &DataType) -> Result<()> {
    match plain_type(data_type) {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Boolean => Ok(()),
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) | DataType::Time32(_) | DataType::Time64(_) => {
            Ok(())
        }
        t if t.is_numeric() => Ok(()),
        other => Err(Error::usage(format!(
            "a column of type {other} cannot be generalized; numbers, strings, booleans, dates, times and timestamps can"
        ))),
    }
}

/// Returns the values as text. [`parse`] returns the same values for these texts.
pub(super) fn text(values: &ArrayRef) -> Result<StringArray> {
    has_text(values.data_type())?;
    texts(&plain(values)?)
}

/// Parses `texts` as plain values of `data_type`. The result is null where a text is not exactly a
/// value of that type.
pub(super) fn parse(texts: &StringArray, data_type: &DataType) -> Result<ArrayRef> {
    has_text(data_type)?;
    macro_rules! integers {
        ($type:ty) => {
            Arc::new(whole::<$type>(texts, 0, u32::MAX))
        };
    }
    macro_rules! decimals {
        ($type:ty, $precision:expr, $scale:expr) => {
            Arc::new(
                whole::<$type>(texts, i32::from(*$scale), u32::from(*$precision))
                    .with_precision_and_scale(*$precision, *$scale)?,
            )
        };
    }
    let values: ArrayRef = match plain_type(data_type) {
        DataType::Int8 => integers!(Int8Type),
        DataType::Int16 => integers!(Int16Type),
        DataType::Int32 => integers!(Int32Type),
        DataType::Int64 => integers!(Int64Type),
        DataType::UInt8 => integers!(UInt8Type),
        DataType::UInt16 => integers!(UInt16Type),
        DataType::UInt32 => integers!(UInt32Type),
        DataType::UInt64 => integers!(UInt64Type),
        DataType::Decimal32(p, s) => decimals!(Decimal32Type, p, s),
        DataType::Decimal64(p, s) => decimals!(Decimal64Type, p, s),
        DataType::Decimal128(p, s) => decimals!(Decimal128Type, p, s),
        DataType::Decimal256(p, s) => {
            let small = whole::<Decimal128Type>(texts, i32::from(*s), u32::from(*p));
            let wide: PrimitiveArray<Decimal256Type> = small.unary(arrow::datatypes::i256::from_i128);
            Arc::new(wide.with_precision_and_scale(*p, *s)?)
        }
        DataType::Float64 => {
            let floats = texts
                .iter()
                .map(|t| t?.trim().parse::<f64>().ok().filter(|x| x.is_finite()));
            Arc::new(floats.collect::<PrimitiveArray<Float64Type>>())
        }
        narrow @ (DataType::Float16 | DataType::Float32) => {
            let floats = texts
                .iter()
                .map(|t| t?.trim().parse::<f32>().ok().filter(|x| x.is_finite()));
            let floats: ArrayRef = Arc::new(floats.collect::<PrimitiveArray<Float32Type>>());
            let narrowed = cast(&floats, narrow)?;
            // A value outside the range of the narrower type became infinite.
            let wide = cast(&narrowed, &DataType::Float32)?;
            let is_infinite = wide
                .as_primitive::<Float32Type>()
                .iter()
                .map(|x| x.map(f32::is_infinite));
            nullif(&narrowed, &is_infinite.collect())?
        }
        other => cast(texts, other)?,
    };
    let is_other = says_other(texts, &values)?;
    Ok(nullif(&values, &is_other)?)
}

/// Returns, for each text and the value that was parsed from it, true if the text states a
/// different value: a date with a time of day, a fraction of a second finer than the type, or a
/// whole number that a floating-point number can only approximate.
fn says_other(texts: &StringArray, values: &ArrayRef) -> Result<BooleanArray> {
    let finer: &[DataType] = match values.data_type() {
        DataType::Float16 | DataType::Float32 | DataType::Float64 => return rounds_whole(texts, values),
        // Microseconds can represent dates that nanoseconds cannot.
        DataType::Date32 | DataType::Date64 => &[
            DataType::Timestamp(TimeUnit::Nanosecond, None),
            DataType::Timestamp(TimeUnit::Microsecond, None),
        ],
        DataType::Timestamp(_, zone) => &[
            DataType::Timestamp(TimeUnit::Nanosecond, zone.clone()),
            DataType::Timestamp(TimeUnit::Microsecond, zone.clone()),
        ],
        DataType::Time32(_) | DataType::Time64(_) => &[DataType::Time64(TimeUnit::Nanosecond)],
        _ => &[],
    };
    let mut says_other = BooleanArray::from(vec![false; texts.len()]);
    for finer in finer {
        let (said, read) = (cast(texts, finer)?, cast(values, finer)?);
        // A value outside the range of the finer type is NULL in that type. NULL does not count as
        // different.
        let differs = neq(&said, &read)?;
        let differs = differs.iter().map(|differs| Some(differs == Some(true)));
        says_other = or(&says_other, &differs.collect())?;
    }
    Ok(says_other)
}

/// Returns, for each text, true if the text is a whole number and differs both from the float that
/// was parsed from it and from the text of that float. The text of the float is accepted too
/// because, for example, the float 1e23 is not exactly the number that its text 1e23 states.
fn rounds_whole(texts: &StringArray, values: &ArrayRef) -> Result<BooleanArray> {
    let (floats, written) = (cast(values, &DataType::Float64)?, self::texts(values)?);
    let both = texts
        .iter()
        .zip(written.iter())
        .zip(floats.as_primitive::<Float64Type>());
    let rounds = |((text, written), float): ((Option<&str>, Option<&str>), Option<f64>)| {
        let whole = Number::parse(text?)?.exact_at(0)?;
        let is_written = Number::parse(written?).and_then(|n| n.exact_at(0)) == Some(whole);
        Some(float? as i128 != whole && !is_written)
    };
    Ok(both.map(|pair| Some(rounds(pair).unwrap_or(false))).collect())
}

/// Parses the texts that are whole multiples of 10^-`scale` (units), with at most `precision`
/// digits in units. The result is null for other texts.
fn whole<T>(texts: &StringArray, scale: i32, precision: u32) -> PrimitiveArray<T>
where
    T: ArrowPrimitiveType,
    T::Native: TryFrom<i128>,
{
    let limit = 10u128.checked_pow(precision);
    texts
        .iter()
        .map(|text| {
            let units = Number::parse(text?)?.exact_at(scale)?;
            let fits = limit.is_none_or(|limit| units.unsigned_abs() < limit);
            T::Native::try_from(units).ok().filter(|_| fits)
        })
        .collect()
}

/// Returns, for each value in `values`, its index in `listed`; null if it is not listed. Both
/// arrays have the same type. NULL matches nothing.
///
/// Fails if two listed values are equal under this type, as `1` and `1.0` are equal as numbers. The
/// error states the number of such values. `places` names the lines or rows of two equal values.
pub(super) fn positions(
    listed: &ArrayRef,
    values: &ArrayRef,
    places: impl Fn((usize, usize)) -> String,
) -> Result<UInt32Array> {
    let converter = RowConverter::new(vec![SortField::new(listed.data_type().clone())])?;
    let known = converter.convert_columns(&[positive_zero(listed)?])?;
    let mut index = HashMap::with_capacity(listed.len());
    let mut repeated = (0, None);
    for (row, position) in known.iter().zip(0u32..) {
        if listed.is_null(position as usize) {
            continue;
        }
        if let Some(other) = index.insert(row, position) {
            repeated = (repeated.0 + 1, repeated.1.or(Some((other as usize, position as usize))));
        }
    }
    if let (repeated, Some(rows)) = repeated {
        return Err(Error::usage(format!(
            "{repeated} listed ground values are equal to another listed value as values of type {}: {} have the same \
             value",
            listed.data_type(),
            places(rows)
        )));
    }
    let sought = converter.convert_columns(&[positive_zero(&plain(values)?)?])?;
    Ok((0..values.len())
        .map(|i| index.get(&sought.row(i)).filter(|_| values.is_valid(i)).copied())
        .collect())
}

/// Returns the values with every floating-point -0 replaced by 0. The two zeros are equal but sort
/// and hash differently.
pub(super) fn positive_zero(values: &ArrayRef) -> Result<ArrayRef> {
    Ok(match values.data_type() {
        DataType::Float64 => Arc::new(
            values
                .as_primitive::<Float64Type>()
                .unary::<_, Float64Type>(|x| x + 0.0),
        ),
        DataType::Float32 => Arc::new(
            values
                .as_primitive::<Float32Type>()
                .unary::<_, Float32Type>(|x| x + 0.0),
        ),
        DataType::Float16 => {
            let wide = cast(values, &DataType::Float32)?;
            cast(&positive_zero(&wide)?, &DataType::Float16)?
        }
        _ => Arc::clone(values),
    })
}

/// Returns a predicate over the indices of `values`. It is false for NaN and infinity, and true for
/// every other value and for NULL.
pub(super) fn finite(values: &ArrayRef) -> Result<impl Fn(usize) -> bool + use<>> {
    let plain = plain(values)?;
    let floats = match plain.data_type().is_floating() {
        true => Some(cast(&plain, &DataType::Float64)?),
        false => None,
    };
    Ok(move |i: usize| {
        floats
            .as_ref()
            .is_none_or(|floats| floats.is_null(i) || floats.as_primitive::<Float64Type>().value(i).is_finite())
    })
}

/// Converts plain numbers, dates or timestamps to floating-point numbers; `None` for any other
/// type.
pub(super) fn numbers(values: &ArrayRef) -> Result<Option<Vec<Option<f64>>>> {
    let integers = match values.data_type() {
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => cast(values, &DataType::Int64)?,
        t if t.is_numeric() => Arc::clone(values),
        _ => return Ok(None),
    };
    let floats = cast(&integers, &DataType::Float64)?;
    Ok(Some(floats.as_primitive::<Float64Type>().iter().collect()))
}
