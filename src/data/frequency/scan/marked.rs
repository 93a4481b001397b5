//! The combinations of a scan that contain certain values.

use super::run::Scan;
use crate::base::error::Result;
use crate::base::pool::check_cancelled;
use crate::base::spill::SpillSpace;
use std::collections::{BTreeMap, HashMap};

/// The number of combinations for which memory is reserved at first.
const FIRST: usize = 1 << 10;

impl Scan {
    /// Returns the sizes in rows of the combinations that contain a marked value: for each size,
    /// the number of these combinations. `marked` tells, for each quasi-identifier and in the order
    /// of [`Scan::values`], which values are marked. Returns `None` if combinations were written to
    /// files, or if the marked combinations do not fit in memory.
    pub(crate) fn marked_sizes(
        &self,
        marked: &[Vec<bool>],
        spill_space: &SpillSpace,
    ) -> Result<Option<BTreeMap<u64, u64>>> {
        if self.is_spilled() {
            return Ok(None);
        }
        let by_code: Vec<Vec<bool>> = (self.dictionaries.iter().zip(marked))
            .map(|(dictionary, marked)| dictionary.ranks.iter().map(|rank| marked[*rank as usize]).collect())
            .collect();
        let memory = spill_space.reservation("anonsql marked combinations");
        // The partitions of a scan share their codes, but not the layout of their keys.
        let mut sizes: HashMap<Box<[u32]>, u64> = HashMap::new();
        let entry = 2 * (size_of::<(Box<[u32]>, u64)>() + 4 * by_code.len());
        let mut fits = true;
        for tally in &self.tallies {
            tally.for_each(|layout, keys, counts| {
                check_cancelled()?;
                for (i, key) in keys.chunks_exact(layout.words()).enumerate() {
                    let mut columns = by_code.iter().enumerate();
                    if !columns.any(|(column, marked)| marked[layout.code(key, column) as usize]) {
                        continue;
                    }
                    if sizes.len() == sizes.capacity() {
                        let more = sizes.len().max(FIRST);
                        fits &= memory.try_grow(more * entry).is_ok();
                        sizes.reserve(if fits { more } else { 0 });
                    }
                    if fits {
                        let codes = (0..by_code.len()).map(|column| layout.code(key, column)).collect();
                        *sizes.entry(codes).or_default() += counts.map_or(1, |counts| counts[i]);
                    }
                }
                Ok(())
            })?;
        }
        let mut histogram = BTreeMap::new();
        sizes
            .into_values()
            .for_each(|size| *histogram.entry(size).or_default() += 1);
        Ok(fits.then_some(histogram))
    }
}

#[cfg(test)]
mod tests {
    use crate::base::spill::SpillSpace;
    use crate::data::frequency::testing::table;
    use arrow::array::Array;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// The sizes of the combinations with a 0 or NULL in the first column equal those of a
        /// simple loop over the rows.
        #[test]
        fn marked_combinations_are_those_of_a_loop(table in table()) {
            let spill_space = SpillSpace::unlimited();
            let scan = table.bare_scan(&spill_space, usize::MAX);
            let is_marked = |value: Option<i64>| value.is_none_or(|value| value == 0);
            let ranks = |column: usize| {
                let values = scan.values(column);
                let texts = crate::method::hierarchy::texts(values).unwrap();
                let marked = (0..values.len()).map(|rank| column == 0 && (values.is_null(rank) || texts.value(rank) == "0"));
                marked.collect::<Vec<bool>>()
            };
            let marked: Vec<Vec<bool>> = (0..table.groups.len()).map(ranks).collect();
            let found = scan.marked_sizes(&marked, &spill_space).unwrap().unwrap();
            let mut expected = BTreeMap::<_, u64>::new();
            for row in table.rows.iter().filter(|row| is_marked(row.quasi_identifiers[0])) {
                *expected.entry(&row.quasi_identifiers).or_default() += 1;
            }
            let mut sizes = BTreeMap::<u64, u64>::new();
            expected.into_values().for_each(|size| *sizes.entry(size).or_default() += 1);
            prop_assert_eq!(found, sizes);
            let none = SpillSpace::limited(1);
            let is_any = table.rows.iter().any(|row| is_marked(row.quasi_identifiers[0]));
            prop_assert_eq!(scan.marked_sizes(&marked, &none).unwrap().is_none(), is_any);
        }
    }
}
