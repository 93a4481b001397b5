//! The proof that every label of a partition covers the values it stands for, before any row is labelled.
//!
//! Labels are normally checked against each row's values when they are given to the row ([`crate::recode`]). A
//! release that is written from the classes alone labels no rows, so a partition is checked against the distinct
//! combinations first.

use crate::error::{Error, Result};
use crate::frequency::FrequencySet;
use crate::hierarchy::{Cover, Proven};
use crate::key::KeySchema;
use crate::partition::Partition;
use std::sync::Arc;

/// Checks every label of a partition against the values of every combination that it is for. Fails with an internal
/// error if a label does not cover one of them.
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
