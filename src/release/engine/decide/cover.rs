//! The check that every label of a partition covers the values it stands for, before any row is
//! labelled.
//!
//! Normally, a label is checked against the values of each row that gets the label
//! ([`crate::data::recode`]). A release that is written from the classes alone labels no rows, so a
//! partition is checked against the distinct combinations first.

use crate::base::error::{Error, Result};
use crate::data::frequency::FrequencySet;
use crate::method::hierarchy::{Cover, Lookup, Proven};
use crate::method::key::KeySchema;
use crate::method::partition::Partition;
use std::sync::Arc;

/// Checks each label of a partition against the values of every combination that has the label. If
/// the combinations are above level 0, the label must cover every value under the labels of a
/// combination. Fails with an internal error if a label does not cover one of the values.
pub(super) fn check_partition(
    key_schema: &KeySchema,
    combinations: &FrequencySet,
    partition: &Partition,
) -> Result<()> {
    let layout = key_schema.layout();
    for (column, lookup) in key_schema.lookups().iter().enumerate() {
        let labels = partition.texts(column).as_ref().clone();
        let mut proven = Proven::new(Arc::new(Cover::new(Arc::clone(lookup), labels)?));
        let (cells, under) = (
            partition.cells(column),
            under(lookup, combinations.node().level(column)),
        );
        for (combination, group) in partition.groups().iter().enumerate() {
            let code = layout.code(combinations.key(combination), column);
            let label = cells[*group as usize];
            if !under[code as usize].iter().all(|code| proven.covers(*code, label)) {
                return Err(Error::internal(
                    "a group of the partition has a label that does not cover one of its combinations",
                ));
            }
        }
    }
    Ok(())
}

/// Returns, for each ground code that represents a label at the level, all codes with that label.
fn under(lookup: &Lookup, level: u8) -> Vec<Vec<u32>> {
    let representatives = &lookup.level(level).representatives;
    let mut under = vec![vec![]; representatives.len()];
    for (code, representative) in (0..).zip(representatives) {
        under[*representative as usize].push(code);
    }
    under
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::hierarchy::{Hierarchy, Label, OnNull, OnUnmapped, values};
    use crate::method::lattice::Node;
    use arrow::array::Int64Array;

    /// Tests two combinations: one for the values 1 and 2, which 1 represents, and one for the
    /// value 5.
    #[test]
    fn a_label_covers_all_values_under_a_combination() {
        let rows = [["1", "low", "*"], ["2", "low", "*"], ["5", "high", "*"]];
        let rows = rows.map(|row| row.map(|text| Some(text.to_string())).to_vec());
        let rule = values::listed(&rows).unwrap();
        let hierarchy = Hierarchy::new("h", Arc::new(rule), OnUnmapped::Error, OnNull::Value).unwrap();
        let lookup = Arc::new(hierarchy.bind(Arc::new(Int64Array::from(vec![1, 2, 5]))).unwrap());
        let key_schema = KeySchema::new(vec![Arc::clone(&lookup)]);
        let ground = FrequencySet::new(Node::new(vec![0]), 1, vec![0u64, 1, 2], vec![1u64, 1, 1]);
        let coarse = ground.roll_up(&key_schema, &Node::new(vec![1])).0;
        assert_eq!(coarse.keys().as_ref(), [0, 2]);
        let checked = |label| {
            let cells = vec![vec![label, Label::at(&lookup, 0, 2)]];
            let partition = Partition::new([lookup.as_ref()], vec![0, 1], cells).unwrap();
            // The partition numbers its groups by the texts of their labels. The numbers may
            // therefore change, but each combination keeps its labels.
            check_partition(&key_schema, &coarse, &partition).is_ok()
        };
        assert!(checked(Label::at(&lookup, 1, 0)));
        assert!(checked(Label::Range { low: 0, high: 1 }));
        assert!(!checked(Label::at(&lookup, 0, 0)), "2 is not 1");
        assert!(!checked(Label::Range { low: 1, high: 2 }), "1 is not in [2, 5]");
    }
}
