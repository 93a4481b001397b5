//! The places of values among the distinct values of a column.

use crate::base::error::{Error, Result};
use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, UInt32Array, make_comparator};
use arrow::compute::{SortOptions, cast, take};
use arrow::datatypes::{
    DataType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use std::sync::Arc;

/// The distinct values of a column, prepared for the search of values among them.
#[derive(Debug)]
pub(super) struct ValuePlaces {
    values: ArrayRef,
    /// The keys of the values; `None` for a type whose values are compared by arrow's comparator.
    keys: Option<SortedKeys>,
}

impl ValuePlaces {
    /// Prepares the search among `values`, which are in ascending order, without NULL.
    pub(super) fn new(values: &ArrayRef) -> Result<Self> {
        let keys = keys(values)?.filter(|keys| match values.data_type() {
            // The ends are also the keys of all numbers that do not fit into 64 bits.
            DataType::Decimal128(..) => keys.first() != Some(&0) && keys.last() != Some(&u64::MAX),
            _ => true,
        });
        Ok(Self {
            values: Arc::clone(values),
            keys: keys.map(SortedKeys::new),
        })
    }

    /// Returns the index of each of `rows` among the values. The index of NULL is NULL. Fails with
    /// `ErrorKind::Data` if any other value is missing.
    pub(super) fn of(&self, rows: &ArrayRef) -> Result<UInt32Array> {
        // A dictionary may have values that no row has.
        let found = match rows.as_any_dictionary_opt() {
            Some(coded) if coded.values().len() <= rows.len() => {
                let found = take(&self.found(coded.values())?, coded.keys(), None)?;
                found.as_primitive::<UInt32Type>().clone()
            }
            _ => self.found(rows)?,
        };
        match found.null_count() == rows.logical_null_count() {
            true => Ok(found),
            false => Err(Error::data("the source changed during the run")),
        }
    }

    /// Returns the index of each of `rows` among the values; NULL if it is not there.
    fn found(&self, rows: &ArrayRef) -> Result<UInt32Array> {
        let rows = cast(rows, self.values.data_type())?;
        if let Some(known) = &self.keys
            && let Some(keys) = keys(&rows)?
        {
            let nulls = rows.logical_nulls();
            let place = |(row, key): (usize, &u64)| match nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                true => None,
                false => known.place(*key),
            };
            return Ok(keys.iter().enumerate().map(place).collect());
        }
        compared(&self.values, &rows)
    }
}

/// Returns the index of each of `rows` among `values`, found by arrow's comparator; NULL if it is
/// not there.
fn compared(values: &ArrayRef, rows: &ArrayRef) -> Result<UInt32Array> {
    let nulls = rows.logical_nulls();
    let order = make_comparator(values.as_ref(), rows.as_ref(), SortOptions::default())?;
    let place = |row: usize| {
        if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return None;
        }
        let (mut low, mut high) = (0, values.len());
        while low < high {
            let middle = low.midpoint(high);
            match order(middle, row).is_lt() {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        (low < values.len() && order(low, row).is_eq()).then_some(low as u32)
    };
    Ok((0..rows.len()).map(place).collect())
}

/// Returns a number for each value, such that the numbers have the order that arrow's comparator
/// defines for the values. The number of NULL has no meaning. A decimal number that does not fit
/// into 64 bits has the least or the greatest number. Returns `None` for another type.
fn keys(values: &ArrayRef) -> Result<Option<Vec<u64>>> {
    Ok(Some(match values.data_type() {
        DataType::UInt8 => each::<UInt8Type>(values, u64::from),
        DataType::UInt16 => each::<UInt16Type>(values, u64::from),
        DataType::UInt32 => each::<UInt32Type>(values, u64::from),
        DataType::UInt64 => each::<UInt64Type>(values, |number| number),
        DataType::Int8 => each::<Int8Type>(values, |number| signed(number.into())),
        DataType::Int16 => each::<Int16Type>(values, |number| signed(number.into())),
        DataType::Int32 => each::<Int32Type>(values, |number| signed(number.into())),
        DataType::Int64 => each::<Int64Type>(values, signed),
        DataType::Decimal128(..) => each::<Decimal128Type>(values, |number| {
            signed(number.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
        }),
        // As in `total_cmp` of the standard library: the lower bits of negative numbers are
        // inverted.
        DataType::Float32 => each::<Float32Type>(values, |number| {
            let bits = number.to_bits() as i32;
            signed((bits ^ (((bits >> 31) as u32) >> 1) as i32).into())
        }),
        DataType::Float64 => each::<Float64Type>(values, |number| {
            let bits = number.to_bits() as i64;
            signed(bits ^ (((bits >> 63) as u64) >> 1) as i64)
        }),
        DataType::Date32 | DataType::Date64 | DataType::Time32(_) | DataType::Time64(_) | DataType::Timestamp(..) => {
            each::<Int64Type>(&cast(values, &DataType::Int64)?, signed)
        }
        _ => return Ok(None),
    }))
}

/// Returns the key of each value of an array of this type.
fn each<T: ArrowPrimitiveType>(values: &ArrayRef, key: impl Fn(T::Native) -> u64) -> Vec<u64> {
    values
        .as_primitive::<T>()
        .values()
        .iter()
        .map(|value| key(*value))
        .collect()
}

/// Returns the key of a whole number.
fn signed(number: i64) -> u64 {
    number.cast_unsigned() ^ (1 << 63)
}

/// Different keys in ascending order. They are divided into buckets of equally long ranges of keys,
/// so that only the keys of one bucket are searched.
#[derive(Debug)]
struct SortedKeys {
    keys: Vec<u64>,
    /// The number of lower bits in which the keys of a bucket differ, counted from the first key.
    shift: u32,
    /// For each bucket, the index of its first key. One more entry is the number of keys.
    starts: Vec<u32>,
}

impl SortedKeys {
    fn new(keys: Vec<u64>) -> Self {
        let (first, last) = (
            keys.first().copied().unwrap_or_default(),
            keys.last().copied().unwrap_or_default(),
        );
        // There are at most as many buckets as keys.
        let span = last.saturating_sub(first);
        let shift = (u64::BITS - span.leading_zeros()).saturating_sub(keys.len().max(1).ilog2());
        let bucket = |key: u64| (key.saturating_sub(first).min(span) >> shift) as usize;
        let mut starts = vec![0_u32; bucket(last) + 2];
        keys.iter().for_each(|key| starts[bucket(*key) + 1] += 1);
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        Self { keys, shift, starts }
    }

    /// Returns the index of a key; `None` if it is not there.
    fn place(&self, key: u64) -> Option<u32> {
        let bucket = usize::try_from(key.checked_sub(*self.keys.first()?)? >> self.shift).ok()?;
        let (start, end) = (*self.starts.get(bucket)?, *self.starts.get(bucket + 1)?);
        let found = self.keys[start as usize..end as usize].binary_search(&key).ok()?;
        Some(start + found as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{
        Date32Array, Date64Array, Decimal128Array, DictionaryArray, Float32Array, Float64Array, Int8Array, Int16Array,
        Int32Array, Int64Array, StringArray, Time32SecondArray, Time64NanosecondArray, TimestampMicrosecondArray,
        UInt8Array, UInt16Array, UInt64Array,
    };
    use arrow::compute::{concat, sort};
    use proptest::prelude::*;

    /// Returns these numbers in each type of array that has keys. The bits of the floating-point
    /// numbers are those of the whole numbers.
    fn arrays(numbers: &[Option<i64>]) -> Vec<ArrayRef> {
        let of = numbers.iter();
        let day = |number: i64| (number % 1_000) * 86_400_000;
        vec![
            Arc::new(of.clone().map(|n| n.map(|n| n as i8)).collect::<Int8Array>()),
            Arc::new(of.clone().map(|n| n.map(|n| n as i16)).collect::<Int16Array>()),
            Arc::new(of.clone().map(|n| n.map(|n| n as i32)).collect::<Int32Array>()),
            Arc::new(of.clone().copied().collect::<Int64Array>()),
            Arc::new(of.clone().map(|n| n.map(|n| n as u8)).collect::<UInt8Array>()),
            Arc::new(of.clone().map(|n| n.map(|n| n as u16)).collect::<UInt16Array>()),
            Arc::new(of.clone().map(|n| n.map(|n| n as u32)).collect::<UInt32Array>()),
            Arc::new(of.clone().map(|n| n.map(|n| n as u64)).collect::<UInt64Array>()),
            Arc::new(
                of.clone()
                    .map(|n| n.map(|n| f32::from_bits(n as u32)))
                    .collect::<Float32Array>(),
            ),
            Arc::new(
                of.clone()
                    .map(|n| n.map(|n| f64::from_bits(n as u64)))
                    .collect::<Float64Array>(),
            ),
            Arc::new(of.clone().map(|n| n.map(|n| n as i32)).collect::<Date32Array>()),
            Arc::new(of.clone().map(|n| n.map(day)).collect::<Date64Array>()),
            Arc::new(
                of.clone()
                    .map(|n| n.map(|n| n as i32 % 86_400))
                    .collect::<Time32SecondArray>(),
            ),
            Arc::new(of.clone().copied().collect::<Time64NanosecondArray>()),
            Arc::new(
                of.clone()
                    .copied()
                    .collect::<TimestampMicrosecondArray>()
                    .with_timezone("UTC"),
            ),
            Arc::new(
                of.clone()
                    .map(|n| n.map(|n| i128::from(n / 2)))
                    .collect::<Decimal128Array>(),
            ),
        ]
    }

    /// Returns about half of the distinct values of an array in ascending order, without NULL.
    fn some_of(array: &ArrayRef) -> ArrayRef {
        let sorted = sort(array, None).unwrap();
        let sorted = sorted.slice(sorted.null_count(), sorted.len() - sorted.null_count());
        let order = make_comparator(sorted.as_ref(), sorted.as_ref(), SortOptions::default()).unwrap();
        let is_first = |row: &u32| *row == 0 || order(*row as usize - 1, *row as usize).is_lt();
        let distinct = (0..sorted.len() as u32).filter(is_first);
        take(&sorted, &distinct.step_by(2).collect::<UInt32Array>(), None).unwrap()
    }

    /// Numbers near 0 and near the ends of several types, and any others.
    fn number() -> impl Strategy<Value = i64> {
        let near = prop::sample::select(vec![0, i64::MAX, i64::MIN, 1 << 31, -1 << 31, 1 << 23, 0x7ff8 << 48]);
        prop_oneof![
            -20_i64..20,
            (near, -2_i64..2).prop_map(|(near, by)| near.wrapping_add(by)),
            any::<i64>()
        ]
    }

    proptest! {
        /// The search by keys finds the same places as the search by arrow's comparator.
        #[test]
        fn keys_find_what_the_comparator_finds(numbers in prop::collection::vec(prop::option::of(number()), 0..60)) {
            for rows in arrays(&numbers) {
                let values = some_of(&rows);
                let places = ValuePlaces::new(&values).unwrap();
                prop_assert!(places.keys.is_some(), "{}", rows.data_type());
                let wanted = compared(&values, &rows).unwrap();
                prop_assert_eq!(places.found(&rows).unwrap(), wanted.clone(), "{}", rows.data_type());
                prop_assert_eq!(places.of(&rows).is_ok(), wanted.null_count() == rows.null_count());
                let own = places.of(&values).unwrap();
                prop_assert!(own.values().iter().copied().eq(0..values.len() as u32));
            }
        }

        /// Decimal numbers of any size are found, and never in the place of another one.
        #[test]
        fn decimal_numbers_that_need_more_bits_are_found(
            numbers in prop::collection::vec(prop::option::of((number(), prop::bool::ANY)), 0..40),
        ) {
            let wide = |(number, is_wide): (i64, bool)| i128::from(number) * if is_wide { 1_000_000 } else { 1 };
            let rows: ArrayRef = Arc::new(numbers.iter().map(|n| n.map(wide)).collect::<Decimal128Array>());
            let values = some_of(&rows);
            let found = ValuePlaces::new(&values).unwrap().found(&rows).unwrap();
            prop_assert_eq!(found, compared(&values, &rows).unwrap());
        }
    }

    #[test]
    fn texts_and_dictionaries_are_found() {
        let texts = |texts: Vec<Option<&str>>| -> ArrayRef { Arc::new(StringArray::from(texts)) };
        let places = ValuePlaces::new(&texts(vec![Some("a"), Some("c")])).unwrap();
        assert!(places.keys.is_none());
        let rows = texts(vec![Some("c"), None, Some("a")]);
        let wanted = UInt32Array::from(vec![Some(1), None, Some(0)]);
        assert_eq!(places.of(&rows).unwrap(), wanted);
        // No row has the value b of the dictionary.
        let entries = texts(vec![Some("b"), Some("c"), Some("a")]);
        let keys = Int8Array::from(vec![Some(1), None, Some(2)]);
        let coded: ArrayRef = Arc::new(DictionaryArray::<Int8Type>::try_new(keys, entries).unwrap());
        assert_eq!(places.of(&coded).unwrap(), wanted);
        let halves = cast(&Float32Array::from(vec![0.5, 0.5]), &DataType::Float16).unwrap();
        let one = ValuePlaces::new(&halves.slice(0, 1)).unwrap();
        assert_eq!(one.of(&halves).unwrap(), UInt32Array::from(vec![0, 0]));
    }

    #[test]
    fn a_value_that_is_not_known_is_refused() {
        let values: ArrayRef = Arc::new(Int64Array::from(vec![1, 3]));
        let none = values.slice(0, 0);
        let null: ArrayRef = Arc::new(Int64Array::from(vec![None::<i64>]));
        for number in [0, 2, 4, i64::MIN, i64::MAX] {
            let row: ArrayRef = Arc::new(Int64Array::from(vec![number]));
            let rows = concat(&[&row, &null]).unwrap();
            for known in [&values, &none] {
                let refused = ValuePlaces::new(known).unwrap().of(&rows).unwrap_err().to_string();
                assert!(refused.contains("the source changed"), "{refused}");
            }
        }
        assert_eq!(ValuePlaces::new(&none).unwrap().of(&null).unwrap().null_count(), 1);
    }
}
