//! Counts the rows with each number of a column. Sorting the numbers takes less time and memory
//! than looking each of them up.

use super::number_ranks::coded;
use super::number_sort::{bytes_to_sort, sort_numbers};
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

/// The counts of several groups of rows. Counts are merged only with about as many other counts, so
/// that each of them is copied only a few times.
#[derive(Debug, Default)]
pub(super) struct CountRuns {
    /// The counts of some rows each, which ascend by their codes. Each run is at least twice as
    /// long as the next one.
    runs: Vec<Vec<(u64, u64)>>,
    /// The number of rows with NULL.
    nulls: u64,
}

impl CountRuns {
    /// Adds the counts of other rows.
    pub(super) fn add(&mut self, other: NumberCounts) {
        self.nulls += other.nulls;
        let mut last = other.rows_of_codes;
        if last.is_empty() {
            return;
        }
        while let Some(run) = self.runs.pop_if(|run| run.len() < 2 * last.len()) {
            last = merged(run, last);
        }
        self.runs.push(last);
    }

    /// Returns the counts of all rows.
    pub(super) fn whole(mut self) -> NumberCounts {
        let mut whole = self.runs.pop().unwrap_or_default();
        while let Some(run) = self.runs.pop() {
            whole = merged(run, whole);
        }
        NumberCounts {
            rows_of_codes: whole,
            nulls: self.nulls,
        }
    }

    /// Returns the number of counts for which the runs have memory.
    fn capacity(&self) -> usize {
        self.runs.iter().map(Vec::capacity).sum()
    }

    /// Returns the maximum number of counts in a run that is the result of adding `more` counts.
    fn most_merged(&self, more: usize) -> usize {
        let grown = |last: usize, run: &Vec<(u64, u64)>| match run.len() < 2 * last {
            true => last + run.len(),
            false => last,
        };
        self.runs.iter().rev().fold(more, grown)
    }
}

/// Merges the counts of different rows. Both ascend by their codes and have each code at most once,
/// and so do the merged counts. The longer counts grow in place, because a copy would need their
/// memory twice, and time for it.
fn merged(one: Vec<(u64, u64)>, other: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    let (mut merged, other) = match one.len() < other.len() {
        true => (other, one),
        false => (one, other),
    };
    let (mut i, mut j) = (merged.len(), other.len());
    // The merged counts are written from the end, to places whose counts were read before.
    let mut free = i + j;
    merged.reserve_exact(j);
    merged.resize(free, (0, 0));
    while i > 0 && j > 0 {
        // The greatest code is in one of the two or in both. Sums in place of branches for these
        // cases take the same time whatever the codes.
        let (a, b) = (merged[i - 1], other[j - 1]);
        let (is_a, is_b) = (a.0 >= b.0, b.0 >= a.0);
        free -= 1;
        merged[free] = (a.0.max(b.0), a.1 * u64::from(is_a) + b.1 * u64::from(is_b));
        i -= usize::from(is_a);
        j -= usize::from(is_b);
    }
    merged[free - j..free].copy_from_slice(&other[..j]);
    // The first `i` counts are in their places. Each code in both leaves one place after them.
    merged.drain(i..free - j);
    merged.shrink_to_fit();
    merged
}

/// Counts the numbers of a column, batch by batch.
pub(super) struct NumberCounter {
    /// The codes of the last rows.
    codes: Vec<u64>,
    /// The numbers of all other rows.
    counted: CountRuns,
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
            counted: CountRuns::default(),
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
            self.reserve(needed, self.counted.capacity())?;
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
        let sorted = bytes_to_sort(self.codes.len()) / 8;
        self.reserve(self.codes.capacity() + sorted, self.counted.capacity())?;
        sort_numbers(&mut self.codes);
        let runs = || self.codes.chunk_by(|one, other| one == other);
        let (codes, found) = (self.codes.capacity(), runs().count());
        // During a merge, the counts before it and after it are in memory.
        let merged = self.counted.most_merged(found);
        self.reserve(codes, self.counted.capacity() + found + merged)?;
        let mut rows_of_codes = Vec::with_capacity(found);
        rows_of_codes.extend(runs().map(|run| (run[0], run.len() as u64)));
        self.codes.clear();
        self.counted.add(NumberCounts {
            rows_of_codes,
            nulls: 0,
        });
        self.reserve(codes, self.counted.capacity())
    }

    /// Returns the counts, and removes them from the counter. Returns `None` if the code of a
    /// number needs more than 64 bits.
    pub(super) fn finish(&mut self) -> Result<Option<NumberCounts>> {
        self.count()?;
        self.codes = vec![];
        // The runs are merged next, and then the counts of all counters. Both may need the counts
        // twice.
        self.reserve(0, 2 * self.counted.capacity())?;
        let counted = take(&mut self.counted).whole();
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
            let mut found = CountRuns::default();
            let mut expected = BTreeMap::<Option<u64>, u64>::new();
            for part in parts.chunks(2) {
                let mut own = counter(full);
                for rows in part {
                    own.add(&(Arc::new(rows.iter().copied().collect::<UInt64Array>()) as ArrayRef)).unwrap();
                    rows.iter().for_each(|row| *expected.entry(*row).or_default() += 1);
                }
                found.add(own.finish().unwrap().unwrap());
            }
            let found = found.whole();
            prop_assert_eq!(found.nulls, expected.remove(&None).unwrap_or(0));
            let expected: Vec<(u64, u64)> = expected.into_iter().filter_map(|(code, rows)| Some((code?, rows))).collect();
            prop_assert_eq!(found.rows_of_codes, expected);
        }
    }

    proptest! {
        /// Runs of any lengths, also with equal codes, have the counts of a map. Each run remains
        /// at least twice as long as the next one, and none is longer than was foreseen.
        #[test]
        fn merged_runs_have_the_counts_of_a_map(
            added in prop::collection::vec(prop::collection::btree_map(0u64..90, 1u64..5, 0..50), 0..12),
            nulls in 0u64..3,
        ) {
            let (mut runs, mut expected) = (CountRuns::default(), BTreeMap::<u64, u64>::new());
            for rows in &added {
                rows.iter().for_each(|(code, rows)| *expected.entry(*code).or_default() += rows);
                let foreseen = runs.most_merged(rows.len());
                let rows_of_codes = rows.iter().map(|(code, rows)| (*code, *rows)).collect();
                runs.add(NumberCounts { rows_of_codes, nulls });
                let lengths: Vec<usize> = runs.runs.iter().map(Vec::len).collect();
                prop_assert!(lengths.windows(2).all(|pair| pair[0] >= 2 * pair[1]));
                prop_assert!(rows.is_empty() || lengths.last().is_some_and(|last| *last <= foreseen));
            }
            let found = runs.whole();
            prop_assert_eq!(found.nulls, nulls * added.len() as u64);
            prop_assert_eq!(found.rows_of_codes, expected.into_iter().collect::<Vec<_>>());
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
