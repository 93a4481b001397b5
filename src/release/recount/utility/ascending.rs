//! Joins and unites distinct values that are in ascending order. The values are compared as values
//! of their type, so no value is written as text.
//!
//! The results are the same as if texts were compared: two values are equal if and only if their
//! texts are equal. For arrays for which this is not certain, the functions return `None`.

use crate::base::error::Result;
use crate::data::recode::numbers;
use arrow::array::{Array, ArrayRef, AsArray, make_comparator};
use arrow::compute::{SortOptions, cast, interleave};
use arrow::datatypes::{DataType, Float64Type};
use std::cmp::Ordering;
use std::sync::Arc;

/// Ascending order with NULL last.
const ASCENDING: SortOptions = SortOptions {
    descending: false,
    nulls_first: false,
};

/// Returns the index of each of `values` among `known`. The index of a value that is not among
/// `known` is `None`. Returns `None` if the arrays cannot be compared without texts.
pub(super) fn positions(values: &ArrayRef, known: &ArrayRef) -> Result<Option<Vec<Option<u32>>>> {
    if !are_comparable(values, known)? {
        return Ok(None);
    }
    let order = make_comparator(values.as_ref(), known.as_ref(), ASCENDING)?;
    let mut next = 0;
    let position = |value: usize| {
        while next < known.len() && order(value, next) == Ordering::Greater {
            next += 1;
        }
        (next < known.len() && order(value, next) == Ordering::Equal).then_some(next as u32)
    };
    Ok(Some((0..values.len()).map(position).collect()))
}

/// Returns the distinct values of both arrays in ascending order with NULL last. Returns `None` if
/// the arrays cannot be compared without texts.
pub(super) fn merged(one: &ArrayRef, other: &ArrayRef) -> Result<Option<ArrayRef>> {
    if !are_comparable(one, other)? {
        return Ok(None);
    }
    let order = make_comparator(one.as_ref(), other.as_ref(), ASCENDING)?;
    let mut places: Vec<(usize, usize)> = Vec::with_capacity(one.len().max(other.len()));
    let (mut first, mut second) = (0, 0);
    while first < one.len() || second < other.len() {
        let next = match (first < one.len(), second < other.len()) {
            (true, true) => order(first, second),
            (true, false) => Ordering::Less,
            _ => Ordering::Greater,
        };
        places.push(match next {
            Ordering::Greater => (1, second),
            _ => (0, first),
        });
        first += usize::from(next != Ordering::Greater);
        second += usize::from(next != Ordering::Less);
    }
    // If one of the arrays already contains all values, it is the result.
    for whole in [one, other] {
        if places.len() == whole.len() {
            return Ok(Some(Arc::clone(whole)));
        }
    }
    Ok(Some(interleave(&[one.as_ref(), other.as_ref()], &places)?))
}

/// Returns true if both arrays have the same type, and contain distinct values in ascending order
/// that are equal if and only if their texts are equal.
fn are_comparable(one: &ArrayRef, other: &ArrayRef) -> Result<bool> {
    if one.data_type() != other.data_type() || !is_comparable(one.data_type()) {
        return Ok(false);
    }
    for values in [one, other] {
        if !has_one_bit_pattern(values)? || !is_ascending(values)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns true for types whose values are equal if and only if their texts are equal, apart from
/// NaN. Times with a time zone and dictionaries are not among these types.
fn is_comparable(data_type: &DataType) -> bool {
    match data_type {
        DataType::Boolean | DataType::Date32 | DataType::Timestamp(_, None) => true,
        other => other.is_numeric() || other.is_string(),
    }
}

/// Returns true if no number is NaN or negative zero. There are many NaNs with the same text, and
/// two zeros.
fn has_one_bit_pattern(values: &ArrayRef) -> Result<bool> {
    if !values.data_type().is_floating() {
        return Ok(true);
    }
    let wide = cast(values, &DataType::Float64)?;
    let mut numbers = wide.as_primitive::<Float64Type>().iter().flatten();
    Ok(numbers.all(|x| !x.is_nan() && (x != 0.0 || x.is_sign_positive())))
}

/// Returns true if each value is less than the next value. NULL is greater than every other value.
fn is_ascending(values: &ArrayRef) -> Result<bool> {
    // The codes of numbers are compared in a fraction of the time. NULL has no code.
    let can_code = values.null_count() == 0 && !values.data_type().is_floating();
    if let Some(codes) = can_code.then(|| numbers(values)).flatten() {
        return Ok(codes.is_sorted_by(|one, next| one < next));
    }
    let order = make_comparator(values.as_ref(), values.as_ref(), ASCENDING)?;
    Ok((1..values.len()).all(|next| order(next - 1, next) == Ordering::Less))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::frequency::{Interner, ranked};
    use crate::method::hierarchy::texts as written;
    use crate::release::recount::utility::tables::positions_of_texts;
    use arrow::array::{Float64Array, Int64Array, TimestampSecondArray};
    use arrow::datatypes::TimeUnit;
    use proptest::prelude::*;

    /// Returns the types that are tested.
    fn types() -> Vec<DataType> {
        vec![
            DataType::Int8,
            DataType::Int64,
            DataType::UInt64,
            DataType::Float32,
            DataType::Float64,
            DataType::Decimal128(10, 2),
            DataType::Decimal256(40, 3),
            DataType::Boolean,
            DataType::Utf8,
            DataType::LargeUtf8,
            DataType::Utf8View,
            DataType::Date32,
            DataType::Timestamp(TimeUnit::Millisecond, None),
        ]
    }

    /// Returns these numbers as values of a type. For booleans, only the sign counts.
    fn array(numbers: &[Option<i8>], data_type: &DataType) -> ArrayRef {
        let whole = |number: &Option<i8>| number.map(i64::from);
        let whole: ArrayRef = Arc::new(numbers.iter().map(whole).collect::<Int64Array>());
        let narrow: ArrayRef = match data_type {
            DataType::Date32 => cast(&whole, &DataType::Int32).unwrap(),
            DataType::UInt64 => {
                let positive = numbers.iter().map(|n| n.map(|n| i64::from(n) + 100));
                Arc::new(positive.collect::<Int64Array>())
            }
            DataType::Boolean => {
                let is_positive = numbers.iter().map(|n| n.map(|n| i64::from(n > 0)));
                Arc::new(is_positive.collect::<Int64Array>())
            }
            t if t.is_floating() || t.is_decimal() => {
                let quarters = numbers.iter().map(|n| n.map(|n| f64::from(n) / 4.0));
                Arc::new(quarters.collect::<Float64Array>())
            }
            _ => whole,
        };
        cast(&narrow, data_type).unwrap()
    }

    /// Returns the distinct values of an array in ascending order with NULL last.
    fn ordered(values: &[&ArrayRef]) -> ArrayRef {
        let mut interner = Interner::new(values[0].data_type()).unwrap();
        values.iter().for_each(|values| drop(interner.intern(values).unwrap()));
        ranked(&[interner.into_values().unwrap()]).unwrap().0.remove(0)
    }

    fn texts_and_values_agree(one: &ArrayRef, other: &ArrayRef) {
        let name = one.data_type();
        let by_text = positions_of_texts(&written(one).unwrap(), &written(other).unwrap());
        assert_eq!(positions(one, other).unwrap(), Some(by_text), "{name}");
        let both = merged(one, other).unwrap().unwrap();
        assert_eq!(&both, &ordered(&[one, other]), "{name}");
        let all = (0..both.len() as u32).map(Some).collect::<Vec<_>>();
        assert_eq!(positions(&both, &both).unwrap(), Some(all), "{name}");
    }

    proptest! {
        #[test]
        fn values_are_joined_as_their_texts_are(
            one in prop::collection::vec(prop::option::of(-20i8..20), 0..30),
            other in prop::collection::vec(prop::option::of(-20i8..20), 0..30),
        ) {
            for data_type in types() {
                let (one, other) = (array(&one, &data_type), array(&other, &data_type));
                texts_and_values_agree(&ordered(&[&one]), &ordered(&[&other]));
            }
        }
    }

    #[test]
    fn infinite_numbers_are_joined() {
        let floats = |floats: &[f64]| Arc::new(Float64Array::from(floats.to_vec())) as ArrayRef;
        let one = floats(&[f64::NEG_INFINITY, 0.0, 1e-300, f64::INFINITY]);
        texts_and_values_agree(&one, &floats(&[-1.5, 0.0, f64::INFINITY]));
    }

    #[test]
    fn other_arrays_are_joined_by_their_texts() {
        let floats = |floats: &[f64]| Arc::new(Float64Array::from(floats.to_vec())) as ArrayRef;
        let whole = |numbers: Vec<Option<i64>>| Arc::new(Int64Array::from(numbers)) as ArrayRef;
        let times = TimestampSecondArray::from(vec![0, 1]);
        let zoned: ArrayRef = Arc::new(times.with_timezone("Europe/Berlin"));
        let ascending = floats(&[1.0, 2.0]);
        for (one, other) in [
            (floats(&[1.0, f64::NAN]), ascending.clone()),
            (ascending.clone(), floats(&[-0.0, 1.0])),
            (ascending.clone(), cast(&ascending, &DataType::Float32).unwrap()),
            (ascending.clone(), whole(vec![Some(1), Some(2)])),
            (whole(vec![Some(2), Some(1)]), whole(vec![Some(1)])),
            (whole(vec![Some(1)]), whole(vec![Some(1), Some(1)])),
            (whole(vec![None, Some(1)]), whole(vec![Some(1)])),
            (whole(vec![None, None]), whole(vec![None])),
            (zoned.clone(), zoned),
        ] {
            assert_eq!(positions(&one, &other).unwrap(), None, "{one:?} {other:?}");
            assert!(merged(&one, &other).unwrap().is_none(), "{one:?} {other:?}");
        }
    }
}
