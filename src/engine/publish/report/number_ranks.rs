//! The ranks of the numbers of a column among the values of the source. All threads share one table
//! of ranks, which does not change once it is made.

use crate::canonical::plain;
use crate::error::Result;
use crate::recode::numbers;
use arrow::array::{Array, ArrayRef};
use arrow::compute::cast;
use hashbrown::HashMap;

/// The rank of each number.
pub(super) struct NumberRanks {
    /// The ranks by the codes that [`numbers`] returns.
    ranks: HashMap<u64, u32>,
    null: Option<u32>,
}

impl NumberRanks {
    /// Creates the table for the values of a column, in ascending order with NULL last. Returns
    /// `None` if the values are not numbers with codes of at most 64 bits, or if they are
    /// floating-point numbers, whose two zeros have different codes.
    pub(super) fn of(values: &ArrayRef) -> Option<Self> {
        let codes = numbers(values).filter(|_| !values.data_type().is_floating())?;
        let mut ranks = HashMap::with_capacity(codes.len());
        let mut null = None;
        for (rank, code) in (0u32..).zip(codes) {
            match values.is_null(rank as usize) {
                true => null = Some(rank),
                false => _ = ranks.insert(code, rank),
            }
        }
        Some(Self { ranks, null })
    }

    /// Returns the memory of the table in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.ranks.allocation_size()
    }

    /// Returns the rank of the value of each row. Returns `None` if one of the values is not in the
    /// table.
    pub(super) fn of_rows(&self, array: &ArrayRef) -> Result<Option<Vec<u32>>> {
        let array = cast(array, &plain(array.data_type()))?;
        let Some(codes) = numbers(&array) else {
            return Ok(None);
        };
        let rank = |(row, code): (usize, &u64)| match array.is_null(row) {
            true => self.null,
            false => self.ranks.get(code).copied(),
        };
        Ok(codes.iter().enumerate().map(rank).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Decimal128Array, Float64Array, StringArray};
    use std::sync::Arc;

    fn amounts(amounts: Vec<Option<i128>>) -> ArrayRef {
        Arc::new(Decimal128Array::from(amounts).with_precision_and_scale(10, 2).unwrap())
    }

    #[test]
    fn ranks_are_positions_also_of_null() {
        let table = NumberRanks::of(&amounts(vec![Some(-5), Some(0), Some(70), None])).unwrap();
        let ranks = |rows| table.of_rows(&amounts(rows)).unwrap();
        assert_eq!(ranks(vec![Some(70), None, Some(-5)]), Some(vec![2, 3, 0]));
        assert_eq!(ranks(vec![Some(70), Some(1)]), None);
        let without_null = NumberRanks::of(&amounts(vec![Some(1)])).unwrap();
        assert_eq!(without_null.of_rows(&amounts(vec![None])).unwrap(), None);
    }

    #[test]
    fn zeros_and_texts_have_no_table() {
        assert!(NumberRanks::of(&(Arc::new(Float64Array::from(vec![-0.0, 0.0])) as ArrayRef)).is_none());
        assert!(NumberRanks::of(&(Arc::new(StringArray::from(vec!["1"])) as ArrayRef)).is_none());
    }
}
