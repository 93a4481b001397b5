//! Strata: the parts of a table between which LEVELS allows no common group.
//!
//! If LEVELS limits a column to levels below the top of its hierarchy, all rows of a group have the
//! same label at the highest of these levels. So the combinations that share these labels in every
//! column with LEVELS form a table of their own. Any algorithm respects LEVELS if it divides each
//! of these tables separately. With `region LEVELS 0 TO 0`, each region is divided separately.
//! Columns without LEVELS are labelled as usual.
//!
//! The strata share the rows that may be suppressed. Some strata do not satisfy the models even
//! with all rows together. The rows of these strata are counted first, because they can only be
//! suppressed. The other strata share the rest of the limit in proportion to their rows. A
//! stratum's unused share is available to the following strata.

use super::groups::Partition;
use super::partitioner::{Found, Partitioner};
use super::table::{Column, Table};
use crate::base::error::Result;
use crate::method::search::Context;
use std::collections::BTreeMap;

/// Divides each stratum of a table with an algorithm.
pub fn divided(partitioner: &dyn Partitioner, table: &dyn Table, context: &mut Context) -> Result<Found> {
    let strata = strata(table);
    // A grouping sets a minimum size for groups over some of the columns. Such a group can contain
    // rows of several strata, so the strata cannot be divided separately.
    if strata.len() < 2 || partitioner.keeps_levels() || !table.groupings().is_empty() {
        return partitioner.run(table, context);
    }
    let rows = |members: &[u32]| members.iter().map(|c| table.rows(*c)).sum::<u64>();
    let (mut lost, mut all) = (0, 0u64);
    for stratum in &strata {
        match table.holds(stratum) {
            true => all += rows(stratum),
            false => lost += rows(stratum),
        }
    }
    let spare = table.suppressible().saturating_sub(lost);
    let (mut reached, mut suppressed, mut stopped) = (0u64, 0u64, None);
    let (mut groups, mut cells) = (vec![0u32; table.len()], vec![vec![]; table.columns().len()]);
    for members in &strata {
        let holds = table.holds(members);
        reached += if holds { rows(members) } else { 0 };
        let share = u128::from(spare) * u128::from(reached) / u128::from(all.max(1));
        let part = Part {
            table,
            members,
            suppressible: match holds {
                true => u64::try_from(share).unwrap_or(u64::MAX).saturating_sub(suppressed),
                false => rows(members),
            },
        };
        let found = partitioner.run(&part, context)?;
        stopped = stopped.or(found.stopped);
        let (partition, first) = (found.partition, cells.first().map_or(0, Vec::len) as u32);
        let mut by_group: Vec<Vec<u32>> = vec![vec![]; partition.len()];
        for (member, group) in members.iter().zip(partition.groups()) {
            groups[*member as usize] = first + group;
            by_group[*group as usize].push(*member);
        }
        for (column, cells) in cells.iter_mut().enumerate() {
            let labels = partition.labels(column);
            cells.extend(partition.cells(column).iter().map(|label| labels[*label as usize]));
        }
        if holds {
            suppressed += by_group
                .iter()
                .filter(|group| !table.holds(group))
                .map(|group| rows(group))
                .sum::<u64>();
        }
    }
    let lookups = table.columns().iter().map(|column| column.lookup.as_ref());
    Ok(Found {
        partition: Partition::new(lookups, groups, cells)?,
        stopped,
    })
}

/// Returns the combinations grouped by their labels at the highest level of LEVELS, in the columns
/// in which this level is below the top.
fn strata(table: &dyn Table) -> Vec<Vec<u32>> {
    let is_bound = |(_, column): &(usize, &Column)| column.top < column.lookup.top();
    let bound: Vec<(usize, &Column)> = table.columns().iter().enumerate().filter(is_bound).collect();
    let mut strata: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
    for combination in 0..table.len() as u32 {
        let label = |(i, column): &(usize, &Column)| {
            let labels = &column.lookup.level(column.top).representatives;
            labels[table.code(*i, combination) as usize]
        };
        strata
            .entry(bound.iter().map(label).collect())
            .or_default()
            .push(combination);
    }
    strata.into_values().collect()
}

/// A stratum as a table.
struct Part<'a> {
    table: &'a dyn Table,
    members: &'a [u32],
    suppressible: u64,
}

impl Part<'_> {
    fn of(&self, combination: u32) -> u32 {
        self.members[combination as usize]
    }
}

impl Table for Part<'_> {
    fn columns(&self) -> &[Column] {
        self.table.columns()
    }

    fn len(&self) -> usize {
        self.members.len()
    }

    fn whole(&self) -> usize {
        self.table.whole()
    }

    fn code(&self, column: usize, combination: u32) -> u32 {
        self.table.code(column, self.of(combination))
    }

    fn rows(&self, combination: u32) -> u64 {
        self.table.rows(self.of(combination))
    }

    fn holds(&self, combinations: &[u32]) -> bool {
        let members: Vec<u32> = combinations.iter().map(|c| self.of(*c)).collect();
        self.table.holds(&members)
    }

    fn least_rows(&self) -> u64 {
        self.table.least_rows()
    }

    fn rows_suffice(&self) -> bool {
        self.table.rows_suffice()
    }

    fn rows_have_limits(&self) -> bool {
        self.table.rows_have_limits()
    }

    fn suppressible(&self) -> u64 {
        self.suppressible
    }

    fn class_labels(&self) -> Option<usize> {
        self.table.class_labels()
    }

    fn for_each_class_label(&self, combination: u32, f: &mut dyn FnMut(u32, u64)) {
        self.table.for_each_class_label(self.of(combination), f);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Toy;
    use super::super::{PARTITIONERS, build};
    use super::*;
    use crate::base::catalogue::Call;
    use crate::method::hierarchy::Cover;
    use crate::method::search::SearchBudget;
    use proptest::prelude::*;
    use std::sync::Arc;

    proptest! {
        /// Every algorithm respects LEVELS. If each stratum satisfies the models, no more rows are
        /// suppressed than allowed.
        #[test]
        fn labels_are_of_the_levels_and_strata_hold(
            rows in prop::collection::btree_map((0u32..5, 0u32..4), 1u64..5, 1..20),
            k in 1u64..6,
            asks: bool,
            suppressible in 0u64..6,
            levels in (0u8..3, 0u8..3),
        ) {
            let mut toy = Toy::of_pairs(&rows, k, asks);
            toy.suppressible = suppressible;
            (toy.columns[0].top, toy.columns[1].top) = levels;
            for (i, top) in [levels.0, levels.1].into_iter().enumerate() {
                toy.columns[i].numbers = if top < 2 { super::super::Numbers::Hierarchy } else { toy.columns[i].numbers };
            }
            let strata = strata(&toy);
            let may_hold = strata.iter().all(|stratum| toy.holds(stratum));
            for entry in PARTITIONERS {
                let name = entry.info.name;
                // Texts have no distances.
                if name == "mdav" && levels.1 > 0 {
                    continue;
                }
                let partitioner = build(&Call::bare(name)).unwrap();
                let mut context = Context::new(0, SearchBudget::default());
                let found = divided(partitioner.as_ref(), &toy, &mut context).unwrap().partition;
                let groups = toy.groups(&found);
                prop_assert_eq!(groups.iter().map(|g| g.1).sum::<u64>(), rows.values().sum::<u64>());
                let lost: u64 = groups.iter().filter(|g| g.1 < k).map(|g| g.1).sum();
                prop_assert!(!may_hold || lost <= suppressible || name == "top_down" && asks, "{}: {} of {}", name, lost, suppressible);
                for (i, column) in toy.columns.iter().enumerate() {
                    let cover = Cover::new(Arc::clone(&column.lookup), found.texts(i).as_ref().clone()).unwrap();
                    let highest = &column.lookup.level(column.top).representatives;
                    for (combination, group) in found.groups().iter().enumerate() {
                        let (code, label) = (toy.code(i, combination as u32), found.cells(i)[*group as usize]);
                        prop_assert!(cover.covers(code, label));
                        // A released label covers no value with another label at the highest level.
                        let others = (0..highest.len() as u32).filter(|other| highest[*other as usize] != highest[code as usize]);
                        let is_released = groups[*group as usize].1 >= k;
                        prop_assert!(!is_released || others.into_iter().all(|other| !cover.covers(other, label)), "{}", name);
                    }
                }
            }
        }
    }
}
