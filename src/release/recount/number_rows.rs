//! The rows of a column of numbers. Sorting the numbers takes less time and memory than looking
//! each of them up.

use super::number_counter::NumberCounts;
use super::number_ranks::{NumberRanks, coded};
use super::number_sort::sort_numbers;
use arrow::array::{Array, ArrayRef};
use datafusion::error::Result;
use datafusion::execution::memory_pool::MemoryReservation;
use std::mem::take;

/// The numbers of some rows, as the codes that [`coded`] returns.
#[derive(Debug, Default)]
pub(super) struct RowCodes {
    /// The code of each row. The code of a row with NULL has no meaning.
    codes: Vec<u64>,
    /// The indices of the rows with NULL, in ascending order.
    nulls: Vec<usize>,
}

impl RowCodes {
    /// Returns the number of rows.
    pub(super) fn len(&self) -> usize {
        self.codes.len()
    }

    /// Appends the codes of the rows that are not NULL to `codes`.
    fn extend(&self, codes: &mut Vec<u64>) {
        let mut from = 0;
        for null in &self.nulls {
            codes.extend_from_slice(&self.codes[from..*null]);
            from = null + 1;
        }
        codes.extend_from_slice(&self.codes[from..]);
    }

    /// Appends the rank of each row to `rows`. `null` is the rank of NULL.
    pub(super) fn rank(&self, ranks: &NumberRanks, null: u32, rows: &mut Vec<u32>) {
        let first = rows.len();
        // A row without a rank has NULL.
        ranks.each(&self.codes, |rank| rows.push(rank.unwrap_or(null)));
        self.nulls.iter().for_each(|row| rows[first + row] = null);
    }
}

impl NumberCounts {
    /// Counts the rows of all `parts`.
    pub(super) fn of_rows(parts: &[RowCodes]) -> Self {
        let nulls: usize = parts.iter().map(|part| part.nulls.len()).sum();
        let rows: usize = parts.iter().map(RowCodes::len).sum();
        let mut codes = Vec::with_capacity(rows - nulls);
        parts.iter().for_each(|part| part.extend(&mut codes));
        sort_numbers(&mut codes);
        let runs = codes.chunk_by(|one, other| one == other);
        Self {
            rows_of_codes: runs.map(|run| (run[0], run.len() as u64)).collect(),
            nulls: nulls as u64,
        }
    }
}

/// Collects the rows of a column of numbers, batch by batch.
pub(super) struct NumberCollector {
    rows: RowCodes,
    /// Whether the code of a number needs more than 64 bits.
    is_too_wide: bool,
    held: MemoryReservation,
}

impl NumberCollector {
    /// Creates a collector that reserves its memory in `held`.
    pub(super) fn new(held: MemoryReservation) -> Self {
        Self {
            rows: RowCodes::default(),
            is_too_wide: false,
            held,
        }
    }

    /// Adds the rows of a batch.
    pub(super) fn add(&mut self, column: &ArrayRef) -> Result<()> {
        let Some((column, codes)) = coded(column)? else {
            self.is_too_wide = true;
            return Ok(());
        };
        let nulls = column.nulls().filter(|nulls| nulls.null_count() > 0);
        self.make_room(column.len(), nulls.map_or(0, |nulls| nulls.null_count()))?;
        let RowCodes {
            codes: all,
            nulls: empty,
        } = &mut self.rows;
        if let Some(nulls) = nulls {
            let is_null = |row: &usize| nulls.is_null(*row);
            empty.extend((0..column.len()).filter(is_null).map(|row| all.len() + row));
        }
        all.extend(codes);
        Ok(())
    }

    /// Reserves and allocates memory for this many further rows and NULLs.
    fn make_room(&mut self, rows: usize, nulls: usize) -> Result<()> {
        let RowCodes {
            codes: all,
            nulls: empty,
        } = &mut self.rows;
        let grown = |held: usize, needed: usize| match needed > held {
            true => needed.max(2 * held),
            false => held,
        };
        let codes = grown(all.capacity(), all.len() + rows);
        let nulls = grown(empty.capacity(), empty.len() + nulls);
        self.held.try_resize(8 * (codes + nulls))?;
        all.reserve_exact(codes - all.len());
        empty.reserve_exact(nulls - empty.len());
        Ok(())
    }

    /// Returns the rows, and removes them from the collector. Returns `None` if the code of a
    /// number needs more than 64 bits.
    pub(super) fn finish(&mut self) -> Option<RowCodes> {
        let rows = take(&mut self.rows);
        Some(rows).filter(|_| !self.is_too_wide)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::spill::SpillSpace;
    use crate::data::recode::numbers;
    use arrow::array::{Decimal128Array, Int64Array};
    use std::sync::Arc;

    fn collector() -> NumberCollector {
        NumberCollector::new(SpillSpace::unlimited().reservation("test"))
    }

    #[test]
    fn rows_have_the_ranks_of_their_numbers_and_null_the_last() {
        let array = |rows: Vec<Option<i64>>| -> ArrayRef { Arc::new(Int64Array::from(rows)) };
        let (mut one, mut other) = (collector(), collector());
        one.add(&array(vec![None, Some(7), Some(-3)])).unwrap();
        one.add(&array(vec![Some(7), None])).unwrap();
        other.add(&array(vec![Some(40)])).unwrap();
        let parts = [one.finish().unwrap(), other.finish().unwrap()];
        let counts = NumberCounts::of_rows(&parts);
        let (codes, rows): (Vec<u64>, Vec<u64>) = counts.rows_of_codes.into_iter().unzip();
        assert_eq!((rows, counts.nulls), (vec![1, 2, 1], 2));
        assert_eq!(codes, numbers(&array(vec![Some(-3), Some(7), Some(40)])).unwrap());
        let (ranks, mut found) = (NumberRanks::new(&codes, true), vec![]);
        parts.iter().for_each(|part| part.rank(&ranks, 3, &mut found));
        assert_eq!(found, [3, 1, 0, 1, 3, 2]);
    }

    #[test]
    fn a_number_that_is_too_wide_has_no_code() {
        let mut collector = collector();
        let wide: ArrayRef = Arc::new(Decimal128Array::from(vec![i128::MAX]));
        collector.add(&wide).unwrap();
        assert!(collector.finish().is_none());
    }
}
