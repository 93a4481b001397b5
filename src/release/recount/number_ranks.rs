//! The ranks of the numbers of a column among the values of the source. All threads share one table
//! of ranks, which does not change once it is made.

use crate::base::error::Result;
use crate::data::recode::numbers;
use crate::method::canonical::plain;
use arrow::array::{Array, ArrayRef, new_empty_array};
use arrow::compute::cast;
use arrow::datatypes::DataType;

/// The rank of each number. A number is found by its code, which [`numbers`] returns.
pub(crate) struct NumberRanks {
    /// The codes in ascending order. The rank of a number is the index of its code.
    codes: Vec<u64>,
    /// The rank of NULL, if NULL is a value.
    null: Option<u32>,
    /// The range of all codes is divided into buckets of `1 << shift` codes. For each bucket, the
    /// index of its first code in `codes`, and finally the number of codes.
    starts: Vec<u32>,
    shift: u32,
}

impl NumberRanks {
    /// Returns true if the values of this type are numbers whose codes are equal if and only if the
    /// numbers are equal. Floating-point numbers have two zeros.
    pub(crate) fn is_possible(data_type: &DataType) -> bool {
        let data_type = plain(data_type);
        !data_type.is_floating() && numbers(&new_empty_array(&data_type)).is_some()
    }

    /// Creates the table of these codes, which ascend. If NULL is a value, it has the last rank.
    pub(super) fn new(codes: Vec<u64>, has_null: bool) -> Self {
        let null = has_null.then_some(codes.len() as u32);
        let width = codes.last().zip(codes.first()).map_or(0, |(last, first)| last - first);
        // There are at most about twice as many buckets as codes.
        let shift = (u64::BITS - width.leading_zeros()).saturating_sub(codes.len().max(1).ilog2() + 1);
        let mut starts = vec![];
        for (index, code) in codes.iter().enumerate() {
            let bucket = ((code - codes[0]) >> shift) as usize;
            while starts.len() <= bucket {
                starts.push(index as u32);
            }
        }
        starts.push(codes.len() as u32);
        Self {
            codes,
            null,
            starts,
            shift,
        }
    }

    /// Returns the memory of the table in bytes.
    pub(crate) fn bytes(&self) -> usize {
        8 * self.codes.capacity() + 4 * self.starts.capacity()
    }

    /// Returns the rank of the value of each row. Returns `None` if the table does not have one of
    /// the values.
    pub(crate) fn of_rows(&self, array: &ArrayRef) -> Result<Option<Vec<u32>>> {
        let array = cast(array, &plain(array.data_type()))?;
        let Some(codes) = numbers(&array) else {
            return Ok(None);
        };
        let rank = |(row, code): (usize, &u64)| match array.is_null(row) {
            true => self.null,
            false => self.rank(*code),
        };
        Ok(codes.iter().enumerate().map(rank).collect())
    }

    /// Returns the rank of a code. Returns `None` if the table does not have the code.
    pub(super) fn rank(&self, code: u64) -> Option<u32> {
        let bucket = (code.checked_sub(*self.codes.first()?)? >> self.shift) as usize;
        let (start, end) = (*self.starts.get(bucket)?, *self.starts.get(bucket + 1)?);
        let codes = &self.codes[start as usize..end as usize];
        codes.binary_search(&code).ok().map(|index| start + index as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Decimal128Array, UInt64Array};
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::sync::Arc;

    #[test]
    fn ranks_are_positions_also_of_null() {
        let amounts = |amounts: Vec<Option<i128>>| -> ArrayRef {
            Arc::new(Decimal128Array::from(amounts).with_precision_and_scale(10, 2).unwrap())
        };
        let codes = numbers(&amounts(vec![Some(-5), Some(0), Some(70)])).unwrap();
        let table = NumberRanks::new(codes.clone(), true);
        let ranks = |rows| table.of_rows(&amounts(rows)).unwrap();
        assert_eq!(ranks(vec![Some(70), None, Some(-5)]), Some(vec![2, 3, 0]));
        assert_eq!(ranks(vec![Some(70), Some(1)]), None);
        let without_null = NumberRanks::new(codes, false);
        assert_eq!(without_null.of_rows(&amounts(vec![None])).unwrap(), None);
    }

    #[test]
    fn zeros_and_texts_have_no_table() {
        assert!(NumberRanks::is_possible(&DataType::Date32));
        assert!(NumberRanks::is_possible(&DataType::Decimal128(10, 2)));
        assert!(!NumberRanks::is_possible(&DataType::Float64));
        assert!(!NumberRanks::is_possible(&DataType::Utf8));
    }

    proptest! {
        /// The rank of a code is its position in the ascending codes, whatever their distribution.
        #[test]
        fn ranks_are_those_of_a_search(
            codes in prop::collection::btree_set(prop_oneof![0u64..40, any::<u64>(), 1u64 << 40..(1 << 40) + 9], 0..30),
            others in prop::collection::vec(prop_oneof![0u64..40, any::<u64>()], 0..10),
        ) {
            let table = NumberRanks::new(codes.iter().copied().collect(), false);
            let asked: BTreeSet<u64> = codes.iter().copied().chain(others).collect();
            for code in asked {
                let rank = codes.iter().position(|known| *known == code).map(|rank| rank as u32);
                prop_assert_eq!(table.rank(code), rank);
            }
            let rows: ArrayRef = Arc::new(codes.iter().rev().copied().collect::<UInt64Array>());
            let expected: Vec<u32> = (0..codes.len() as u32).rev().collect();
            prop_assert_eq!(table.of_rows(&rows).unwrap(), Some(expected));
        }
    }
}
