//! The proof that a partition says nothing false, before any row is labelled by it.
//!
//! Each row's labels are held against its values when they are given to it ([`crate::recode`]). A release that comes
//! from the classes alone gives no row anything, so a partition is held against the distinct combinations before.

use crate::error::{Error, Result};
use crate::frequency::{FrequencySet, KeySchema};
use crate::hierarchy::{Cover, Proven};
use crate::partition::Partition;
use std::sync::Arc;

/// Holds every label of a partition against the values of every combination that it is for.
pub(super) fn check_partition(
    key_schema: &KeySchema,
    combinations: &FrequencySet,
    partition: &Partition,
) -> Result<()> {
    let layout = key_schema.layout();
    for (column, lookup) in key_schema.lookups().iter().enumerate() {
        let labels = partition.texts(column).as_ref().clone();
        let mut proven = Proven::new(Arc::new(Cover::new(Arc::clone(lookup), labels)?));
        let cells = partition.cells(column);
        for (combination, group) in partition.groups().iter().enumerate() {
            let code = layout.code(combinations.key(combination), column);
            if !proven.covers(code, cells[*group as usize]) {
                return Err(Error::internal(
                    "a group of the partition has a label that does not cover one of its combinations",
                ));
            }
        }
    }
    Ok(())
}
