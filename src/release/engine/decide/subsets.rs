//! Judges groups by a subset of the quasi-identifiers: `ON (a, b)` and `ON ANY m`.

use super::evaluator::{Evaluator, PreparedModel};
use crate::base::error::Result;
use crate::base::pool::check_cancelled;
use crate::data::frequency::FrequencySet;
use crate::method::lattice::Node;
use crate::method::partition::Partition;
use std::collections::HashMap;

impl Evaluator {
    /// Applies the rules about groups of a subset of the quasi-identifiers. All classes of a
    /// failing group are removed. The removal may make a group of another subset fail, so the rules
    /// are applied until nothing changes. Returns true if the remaining groups, taken together,
    /// then satisfy the rules.
    pub(super) fn apply_subsets(
        &self,
        classes: (&FrequencySet, Option<&Partition>),
        kept: &mut [bool],
    ) -> Result<bool> {
        let subsets: Vec<(&PreparedModel, &Vec<bool>)> = self
            .rules
            .iter()
            .flat_map(|r| r.subsets.iter().map(move |subset| (r, subset)))
            .collect();
        loop {
            let (mut changed, mut hold) = (false, true);
            for (rule, columns) in &subsets {
                check_cancelled()?;
                let (entries, groups, group_of) = self.groups_of(classes, columns, kept);
                let mut holds: Vec<bool> = groups.counts().iter().map(|n| *n > 0).collect();
                self.apply(rule, &groups, &mut holds);
                for (entry, group) in entries.into_iter().zip(group_of) {
                    if kept[entry] && !holds[group as usize] {
                        kept[entry] = false;
                        changed = true;
                    }
                }
                hold &= rule.predicate.holds_overall(&self.overall(&groups, &holds).1);
            }
            if !changed {
                return Ok(hold);
            }
        }
    }

    /// Returns the indices of the kept classes, their groups by a subset of the columns, and the
    /// index of the group of each kept class.
    fn groups_of(
        &self,
        (set, partition): (&FrequencySet, Option<&Partition>),
        columns: &[bool],
        kept: &[bool],
    ) -> (Vec<usize>, FrequencySet, Vec<u32>) {
        let (entries, released) = set.filter(kept);
        let Some(partition) = partition else {
            let key_schema = &self.sets.base().key_schema;
            let levels = set.node().levels().iter().zip(key_schema.lookups()).zip(columns);
            let levels = levels.map(|((level, lookup), is_in)| if *is_in { *level } else { lookup.top() });
            let (groups, group_of) = released.roll_up(key_schema, &Node::new(levels.collect()));
            return (entries, groups, group_of);
        };
        // The cells of a partition may have labels of several levels, so they are grouped directly
        // and not by a roll-up to a node.
        let columns: Vec<&[u32]> = (0..columns.len())
            .filter(|i| columns[*i])
            .map(|i| partition.cells(i))
            .collect();
        let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
        let group = |entry: &usize| {
            let labels: Vec<u32> = columns.iter().map(|cells| cells[*entry]).collect();
            let next = numbers.len() as u32;
            *numbers.entry(labels).or_insert(next)
        };
        let group_of: Vec<u32> = entries.iter().map(group).collect();
        let groups = released.group(&group_of, numbers.len());
        (entries, groups, group_of)
    }
}
