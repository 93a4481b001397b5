//! A uniform random permutation of a column within each group. Every value stays in its group.

use super::codes::CodeVector;
use super::contingency::{ContingencyTable, Spread};
use super::sequence::RandomSource;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::spill::SpillSpace;
use datafusion::execution::memory_pool::MemoryReservation;
use std::sync::Arc;

/// The codes of every group in random order, one group after another.
#[derive(Debug)]
pub struct Grouped {
    codes: CodeVector,
    /// The index at which each group starts.
    starts: Vec<usize>,
    _held: MemoryReservation,
}

impl Grouped {
    /// Permutes the values of `table` within each group. Group `i` becomes `group_ranks[i]`, and
    /// code `i` becomes `ranks[i]`. The permutation depends only on the new groups and codes. Also
    /// returns the spread of the counts of (group, code) pairs. Fails with
    /// [`ErrorKind::Resources`] if the rows do not fit in memory.
    pub fn draw(
        table: ContingencyTable,
        group_ranks: &[u32],
        ranks: &[u32],
        source: RandomSource,
        spill_space: &SpillSpace,
    ) -> Result<(Self, Spread)> {
        let mut sizes = vec![0u64; group_ranks.len()];
        for (group, rows) in table.groups().iter().enumerate() {
            sizes[group_ranks[group] as usize] = *rows;
        }
        let mut starts = Vec::with_capacity(sizes.len() + 1);
        let mut at = 0usize;
        for size in &sizes {
            starts.push(at);
            at += *size as usize;
        }
        starts.push(at);
        let width = CodeVector::for_values(ranks.len());
        let held = spill_space.reservation("anonsql permutation");
        held.try_grow(at * width.width() + starts.len() * 8)
            .map_err(|_| too_many(at))?;
        let mut codes = width.zeros(at);
        let mut next = starts.clone();
        let mut spread = Spread::default();
        table.pairs(|group, code, count| {
            spread.add(count);
            let place = &mut next[group_ranks[group as usize] as usize];
            for _ in 0..count {
                codes.set(*place, ranks[code as usize]);
                *place += 1;
            }
        })?;
        let mut rng = source.rng(u32::MAX);
        for (start, size) in starts.iter().zip(&sizes) {
            codes.sort(*start, *size as usize);
            codes.shuffle(*start, *size as usize, &mut rng);
        }
        let grouped = Self {
            codes,
            starts,
            _held: held,
        };
        Ok((grouped, spread))
    }
}

fn too_many(rows: usize) -> Error {
    Error::new(
        ErrorKind::Resources,
        format!(
            "the memory limit is reached with {rows} rows to permute within groups; raise --memory-limit, or permute over \
             the whole table (RANDOMIZED alone), which can use temporary files"
        ),
    )
}

/// A reader for a [`Grouped`], with the current position in each group.
#[derive(Debug)]
pub(super) struct Reader {
    grouped: Arc<Grouped>,
    next: Vec<usize>,
}

impl Reader {
    pub(super) fn new(grouped: Arc<Grouped>) -> Self {
        Self {
            next: grouped.starts.clone(),
            grouped,
        }
    }

    /// Returns, for each row, the next code of the row's group. Fails if a group has no further
    /// code.
    pub(super) fn next(&mut self, groups: &[u32]) -> Result<Vec<u32>> {
        let mut out = Vec::with_capacity(groups.len());
        for group in groups.iter().map(|g| *g as usize) {
            let end = self
                .grouped
                .starts
                .get(group + 1)
                .ok_or_else(super::sequence::changed)?;
            let at = &mut self.next[group];
            if *at >= *end {
                return Err(super::sequence::changed());
            }
            out.push(self.grouped.codes.get(*at));
            *at += 1;
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn drawn(rows: &[(u32, u32)], seed: u64) -> Vec<(u32, u32)> {
        let spill_space = SpillSpace::unlimited();
        let (groups, codes): (Vec<u32>, Vec<u32>) = rows.iter().copied().unzip();
        let mut table = ContingencyTable::new(&spill_space);
        table.add(&groups, &codes).unwrap();
        let ranks: Vec<u32> = (0..100).collect();
        let source = RandomSource { seed, column: 0 };
        let (grouped, _) = Grouped::draw(table, &ranks[..10], &ranks, source, &spill_space).unwrap();
        let mut reader = Reader::new(Arc::new(grouped));
        let codes = reader.next(&groups).unwrap();
        assert!(
            reader.next(&groups[..1]).is_err(),
            "a group has no more values than rows"
        );
        groups.into_iter().zip(codes).collect()
    }

    #[test]
    fn the_values_of_a_group_stay_in_it() {
        let rows: Vec<(u32, u32)> = (0..500).map(|i| (i * i % 10, i * 7 % 13)).collect();
        let mut moved = drawn(&rows, 3);
        assert_ne!(moved, rows);
        let mut sorted = rows.clone();
        sorted.sort_unstable();
        moved.sort_unstable();
        assert_eq!(moved, sorted);
    }

    #[test]
    fn all_orders_in_a_group_are_equally_likely() {
        let rows = [(1, 0), (0, 9), (1, 1), (1, 2), (1, 3)];
        let mut seen: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
        let draws = 24 * 500;
        for seed in 0..draws {
            let moved = drawn(&rows, seed);
            assert_eq!(moved[1], (0, 9));
            *seen
                .entry(moved.iter().filter(|r| r.0 == 1).map(|r| r.1).collect())
                .or_default() += 1.0;
        }
        assert_eq!(seen.len(), 24);
        // For uniform permutations, chi-squared (with 23 degrees of freedom) exceeds 49.73 in one
        // of 1,000 cases.
        let expected = draws as f64 / 24.0;
        let chi_squared: f64 = seen.values().map(|n| (n - expected).powi(2) / expected).sum();
        assert!(chi_squared < 49.73, "{chi_squared}");
    }
}
