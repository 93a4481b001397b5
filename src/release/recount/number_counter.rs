//! Counts the rows with each number of a column. Sorting the numbers takes less time and memory
//! than looking each of them up.

use super::number_ranks::coded;
use arrow::array::{Array, ArrayRef};
use datafusion::error::Result;
use datafusion::execution::memory_pool::MemoryReservation;
use std::mem::take;

/// The number of codes that are collected before they are sorted and counted.
const FULL: usize = 1 << 18;

/// The numbers of a column in some rows, as the codes that [`coded`] returns.
#[derive(Debug, Default)]
pub(super) struct NumberCounts {
    /// Each code with its number of rows, in ascending order of the codes.
    pub(super) rows_of_codes: Vec<(u64, u64)>,
    /// The number of rows with NULL.
    pub(super) nulls: u64,
}

impl NumberCounts {
    /// Adds the numbers of other rows.
    pub(super) fn merge(&mut self, other: Self) {
        self.nulls += other.nulls;
        let (mut one, mut two) = (
            take(&mut self.rows_of_codes).into_iter().peekable(),
            other.rows_of_codes.into_iter().peekable(),
        );
        let mut merged: Vec<(u64, u64)> = Vec::with_capacity(one.len() + two.len());
        while let Some(next) = match (one.peek(), two.peek()) {
            (Some(a), Some(b)) if a.0 > b.0 => two.next(),
            (None, _) => two.next(),
            _ => one.next(),
        } {
            match merged.last_mut() {
                Some(last) if last.0 == next.0 => last.1 += next.1,
                _ => merged.push(next),
            }
        }
        self.rows_of_codes = merged;
    }
}

/// Counts the numbers of a column, batch by batch.
pub(super) struct NumberCounter {
    /// The codes of the last rows.
    codes: Vec<u64>,
    /// The numbers of all other rows.
    counted: NumberCounts,
    /// Whether the code of a number needs more than 64 bits.
    is_too_wide: bool,
    full: usize,
    held: MemoryReservation,
}

impl NumberCounter {
    /// Creates a counter that reserves its memory in `held`.
    pub(super) fn new(held: MemoryReservation) -> Self {
        Self {
            codes: vec![],
            counted: NumberCounts::default(),
            is_too_wide: false,
            full: FULL,
            held,
        }
    }

    /// Adds the rows of a batch.
    pub(super) fn add(&mut self, column: &ArrayRef) -> Result<()> {
        let Some((column, codes)) = coded(column)? else {
            self.is_too_wide = true;
            return Ok(());
        };
        self.make_room(column.len())?;
        match column.nulls().filter(|nulls| nulls.null_count() > 0) {
            None => self.codes.extend(codes),
            Some(nulls) => {
                self.counted.nulls += nulls.null_count() as u64;
                self.codes.extend(nulls.valid_indices().map(|row| codes[row]));
            }
        }
        if self.codes.len() >= self.full {
            self.count()?;
        }
        Ok(())
    }

    /// Reserves and allocates memory for the codes of this many further rows.
    fn make_room(&mut self, rows: usize) -> Result<()> {
        let needed = self.codes.len() + rows;
        if needed > self.codes.capacity() {
            let needed = needed.max(2 * self.codes.capacity());
            self.reserve(needed, self.counted.rows_of_codes.capacity())?;
            self.codes.reserve_exact(needed - self.codes.len());
        }
        Ok(())
    }

    /// Resizes the reservation to the memory of this many codes and counts.
    fn reserve(&self, codes: usize, counts: usize) -> Result<()> {
        self.held.try_resize(8 * codes + 16 * counts)
    }

    /// Counts the collected codes.
    fn count(&mut self) -> Result<()> {
        self.codes.sort_unstable();
        let runs = || self.codes.chunk_by(|one, other| one == other);
        let (codes, found) = (self.codes.capacity(), runs().count());
        let known = &self.counted.rows_of_codes;
        // During the merge, the counts before it and after it are in memory.
        self.reserve(codes, known.capacity() + found + known.len() + found)?;
        let mut rows_of_codes = Vec::with_capacity(found);
        rows_of_codes.extend(runs().map(|run| (run[0], run.len() as u64)));
        self.codes.clear();
        self.counted.merge(NumberCounts {
            rows_of_codes,
            nulls: 0,
        });
        self.reserve(codes, self.counted.rows_of_codes.capacity())
    }

    /// Returns the counts, and removes them from the counter. Returns `None` if the code of a
    /// number needs more than 64 bits.
    pub(super) fn finish(&mut self) -> Result<Option<NumberCounts>> {
        self.count()?;
        self.codes = vec![];
        // The counts of all counters are merged next, which needs the counts twice.
        self.reserve(0, 2 * self.counted.rows_of_codes.capacity())?;
        let counted = take(&mut self.counted);
        Ok(Some(counted).filter(|_| !self.is_too_wide))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::spill::SpillSpace;
    use arrow::array::{Decimal128Array, UInt64Array};
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::sync::Arc;

    fn counter(full: usize) -> NumberCounter {
        let held = SpillSpace::unlimited().reservation("test");
        NumberCounter {
            full,
            ..NumberCounter::new(held)
        }
    }

    proptest! {
        #[test]
        fn counts_are_those_of_a_map(
            parts in prop::collection::vec(prop::collection::vec(prop::option::of(0u64..6), 0..12), 0..6),
            full in 1usize..9,
        ) {
            let mut found = NumberCounts::default();
            let mut expected = BTreeMap::<Option<u64>, u64>::new();
            for part in parts.chunks(2) {
                let mut own = counter(full);
                for rows in part {
                    own.add(&(Arc::new(rows.iter().copied().collect::<UInt64Array>()) as ArrayRef)).unwrap();
                    rows.iter().for_each(|row| *expected.entry(*row).or_default() += 1);
                }
                found.merge(own.finish().unwrap().unwrap());
            }
            prop_assert_eq!(found.nulls, expected.remove(&None).unwrap_or(0));
            let expected: Vec<(u64, u64)> = expected.into_iter().filter_map(|(code, rows)| Some((code?, rows))).collect();
            prop_assert_eq!(found.rows_of_codes, expected);
        }
    }

    #[test]
    fn a_number_that_is_too_wide_has_no_counts() {
        let mut counter = counter(1);
        counter
            .add(&(Arc::new(Decimal128Array::from(vec![i128::MAX])) as ArrayRef))
            .unwrap();
        assert!(counter.finish().unwrap().is_none());
    }
}
