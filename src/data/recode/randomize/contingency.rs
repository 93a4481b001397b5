//! Counts pairs of a group and a value. The counts determine the values of each group, and the
//! mutual information of group and value.

use crate::base::error::Result;
use crate::base::spill::{Overflow, SpillSpace};
use datafusion::execution::memory_pool::MemoryReservation;
use std::collections::BTreeMap;

/// The maximum number of counters in the dense table.
const DENSE: usize = 1 << 21;
/// The number of parts into which pairs are divided. Spilled pairs are read part by part.
const PARTS: usize = 64;
/// The number of pairs for which memory is reserved at once.
const STEP: usize = 1 << 17;

/// The number of occurrences of each pair of a group and a code.
#[derive(Debug)]
pub struct ContingencyTable {
    cells: Cells,
    groups: Vec<u64>,
    spill_space: SpillSpace,
    reservation: MemoryReservation,
}

#[derive(Debug)]
enum Cells {
    /// A dense table: the counter of code c in group g is at index g * stride + c.
    Dense { stride: usize, counts: Vec<u64> },
    /// Lists with one entry for each occurrence of a pair. All pairs of a group are in the same
    /// part.
    Pairs {
        parts: Vec<Vec<u64>>,
        held: usize,
        spilled: Vec<Option<Overflow>>,
    },
}

impl ContingencyTable {
    /// Creates an empty table.
    pub fn new(spill_space: &SpillSpace) -> Self {
        Self {
            cells: Cells::Dense {
                stride: 16,
                counts: vec![],
            },
            groups: vec![],
            spill_space: spill_space.clone(),
            reservation: spill_space.reservation("anonsql permutation"),
        }
    }

    /// Adds one pair of a group and a code per row.
    pub fn add(&mut self, groups: &[u32], codes: &[u32]) -> Result<()> {
        let most = groups.iter().max().map_or(0, |g| *g as usize + 1);
        if most > self.groups.len() {
            self.groups.resize(most, 0);
        }
        groups.iter().for_each(|g| self.groups[*g as usize] += 1);
        let widest = codes.iter().max().map_or(0, |c| *c as usize + 1);
        self.make_room(widest)?;
        match &mut self.cells {
            Cells::Dense { stride, counts } => {
                for (group, code) in groups.iter().zip(codes) {
                    counts[*group as usize * *stride + *code as usize] += 1;
                }
                Ok(())
            }
            Cells::Pairs { .. } => {
                for (groups, codes) in groups.chunks(STEP).zip(codes.chunks(STEP)) {
                    self.reserve(groups.len())?;
                    if let Cells::Pairs { parts, .. } = &mut self.cells {
                        for (group, code) in groups.iter().zip(codes) {
                            parts[*group as usize % PARTS].push(u64::from(*group) << 32 | u64::from(*code));
                        }
                    }
                }
                Ok(())
            }
        }
    }

    /// Makes the dense table wide enough for `widest` codes. Switches to lists of pairs if the
    /// table would be too large or if memory is not available.
    fn make_room(&mut self, widest: usize) -> Result<()> {
        let Cells::Dense { stride, counts } = &mut self.cells else {
            return Ok(());
        };
        let needed = (*stride).max(widest.next_power_of_two());
        let size = needed.saturating_mul(self.groups.len());
        if size <= counts.len() && needed == *stride {
            return Ok(());
        }
        let old = std::mem::take(counts);
        let old_stride = *stride;
        if size <= DENSE && self.reservation.try_resize(size * 8).is_ok() {
            let mut wider = vec![0; size];
            for (group, row) in old.chunks(old_stride).enumerate() {
                wider[group * needed..][..row.len()].copy_from_slice(row);
            }
            (*stride, *counts) = (needed, wider);
            return Ok(());
        }
        self.reservation.free();
        self.cells = Cells::Pairs {
            parts: vec![vec![]; PARTS],
            held: 0,
            spilled: (0..PARTS).map(|_| None).collect(),
        };
        for (at, count) in old.iter().enumerate().filter(|(_, n)| **n > 0) {
            let (group, code) = ((at / old_stride) as u64, (at % old_stride) as u64);
            let mut left = *count as usize;
            while left > 0 {
                let run = left.min(STEP);
                self.reserve(run)?;
                if let Cells::Pairs { parts, .. } = &mut self.cells {
                    parts[group as usize % PARTS].extend(std::iter::repeat_n(group << 32 | code, run));
                }
                left -= run;
            }
        }
        Ok(())
    }

    /// Reserves memory for `more` further pairs. If the memory is not available, first writes all
    /// pairs to spill files.
    fn reserve(&mut self, more: usize) -> Result<()> {
        let Cells::Pairs { parts, held, spilled } = &mut self.cells else {
            return Ok(());
        };
        *held += more;
        // Vectors grow by doubling, so at most half of their capacity is unused.
        if self.reservation.try_resize(*held * 12).is_ok() {
            return Ok(());
        }
        for (part, file) in parts.iter_mut().zip(spilled) {
            let bytes: Vec<u8> = std::mem::take(part).into_iter().flat_map(u64::to_le_bytes).collect();
            match file {
                Some(file) => file.append(&bytes)?,
                None => {
                    let fresh = self.spill_space.overflow("putting values into random order")?;
                    fresh.append(&bytes)?;
                    *file = Some(fresh);
                }
            }
        }
        *held = more;
        self.reservation.free();
        // Reserves the memory of one step again. If this fails, the step still uses little memory
        // compared to the memory that was just freed.
        let _ = self.reservation.try_resize(more * 12);
        Ok(())
    }

    /// Returns the row count of each group.
    pub fn groups(&self) -> &[u64] {
        &self.groups
    }

    /// Calls `each` with the group, the code and the count of every pair that occurs. The pairs of
    /// a group are consecutive.
    pub fn pairs(mut self, mut each: impl FnMut(u32, u32, u64)) -> Result<()> {
        match &mut self.cells {
            Cells::Dense { stride, counts } => {
                for (at, count) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
                    each((at / *stride) as u32, (at % *stride) as u32, *count);
                }
            }
            Cells::Pairs { parts, spilled, .. } => {
                for (part, file) in parts.iter_mut().zip(spilled) {
                    let mut pairs = std::mem::take(part);
                    if let Some(file) = file {
                        let bytes = file.read()?;
                        pairs.extend(bytes.as_chunks().0.iter().map(|b| u64::from_le_bytes(*b)));
                    }
                    pairs.sort_unstable();
                    for run in pairs.chunk_by(|a, b| a == b) {
                        each((run[0] >> 32) as u32, run[0] as u32, run.len() as u64);
                    }
                }
            }
        }
        Ok(())
    }
}

/// The sum of n log2(n) over counts n. The terms are added in a fixed order, so that rounding does
/// not depend on the order in which the counts were added.
#[derive(Debug, Default)]
pub struct Spread(BTreeMap<u64, u64>);

impl Spread {
    /// Adds a count.
    pub fn add(&mut self, count: u64) {
        *self.0.entry(count).or_default() += 1;
    }

    /// Creates the sum over these counts. Zeros are left out.
    pub fn of(counts: &[u64]) -> Self {
        let mut spread = Self::default();
        counts.iter().filter(|n| **n > 0).for_each(|n| spread.add(*n));
        spread
    }

    fn sum(&self) -> f64 {
        self.0
            .iter()
            .map(|(n, times)| *times as f64 * *n as f64 * (*n as f64).log2())
            .sum()
    }

    fn total(&self) -> u64 {
        self.0.iter().map(|(n, times)| n * times).sum()
    }
}

/// Returns the mutual information of two attributes in bits: the sum over pairs of n(a, b) / N *
/// log2(N n(a, b) / (n(a) n(b))). `one` and `other` contain the counts of the attributes, and
/// `pairs` the counts of their pairs.
pub fn mutual_information(one: &Spread, other: &Spread, pairs: &Spread) -> f64 {
    let rows = pairs.total();
    if rows == 0 {
        return 0.0;
    }
    let rows = rows as f64;
    (rows.log2() + (pairs.sum() - one.sum() - other.sum()) / rows).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// Computes the mutual information from its definition: p(a, b) log2(p(a, b) / (p(a) p(b))).
    fn by_definition(rows: &[(u32, u32)]) -> f64 {
        let share = |is: &dyn Fn(&(u32, u32)) -> bool| rows.iter().filter(|r| is(r)).count() as f64 / rows.len() as f64;
        let pairs: HashMap<(u32, u32), ()> = rows.iter().map(|r| (*r, ())).collect();
        let term = |(g, c): &(u32, u32)| {
            let both = share(&|r| r == &(*g, *c));
            both * (both / (share(&|r| r.0 == *g) * share(&|r| r.1 == *c))).log2()
        };
        pairs.keys().map(term).sum()
    }

    proptest! {
        #[test]
        fn pairs_are_counted_like_a_map(
            rows in prop::collection::vec((0u32..200, 0u32..40_000), 1..400),
            small in any::<bool>(),
            limited in any::<bool>(),
        ) {
            let rows: Vec<(u32, u32)> = rows.into_iter().map(|(g, c)| if small { (g % 7, c % 5) } else { (g, c) }).collect();
            let spill_space = if limited { SpillSpace::limited(0) } else { SpillSpace::unlimited() };
            let mut table = ContingencyTable::new(&spill_space);
            for rows in rows.chunks(50) {
                let (groups, codes): (Vec<u32>, Vec<u32>) = rows.iter().copied().unzip();
                table.add(&groups, &codes).unwrap();
            }
            let mut expected: HashMap<(u32, u32), u64> = HashMap::new();
            rows.iter().for_each(|r| *expected.entry(*r).or_default() += 1);
            let groups = Spread::of(table.groups());
            let (mut found, mut order, mut spread) = (HashMap::new(), vec![], Spread::default());
            table.pairs(|g, c, n| {
                assert!(found.insert((g, c), n).is_none());
                order.push(g);
                spread.add(n);
            }).unwrap();
            prop_assert_eq!(&found, &expected);
            let mut runs: Vec<u32> = order.chunk_by(|a, b| a == b).map(|run| run[0]).collect();
            let together = runs.len();
            runs.sort_unstable();
            runs.dedup();
            prop_assert_eq!(together, runs.len(), "the pairs of a group come together");
            let mut values: HashMap<u32, u64> = HashMap::new();
            rows.iter().for_each(|(_, c)| *values.entry(*c).or_default() += 1);
            let values = Spread::of(&values.values().copied().collect::<Vec<_>>());
            let information = mutual_information(&groups, &values, &spread);
            prop_assert!((information - by_definition(&rows)).abs() < 1e-9);
        }
    }

    #[test]
    fn independent_attributes_tell_nothing_of_each_other_and_equal_ones_all() {
        let four = Spread::of(&[2, 2]);
        assert_eq!(mutual_information(&four, &four, &Spread::of(&[1, 1, 1, 1])), 0.0);
        assert_eq!(mutual_information(&four, &four, &Spread::of(&[2, 2])), 1.0);
        assert_eq!(
            mutual_information(&Spread::default(), &Spread::default(), &Spread::default()),
            0.0
        );
    }
}
