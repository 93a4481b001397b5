//! The levels of the decided node. A recount needs the levels to interpret the released labels.

use crate::release::engine::decide::Decision;
use crate::release::job::Roles;
use crate::release::recount::Generalized;
use std::sync::Arc;

/// Returns the quasi-identifiers of a job with the levels of the decided node. Returns an empty
/// vector for a partition, which has no levels.
pub(super) fn generalized(roles: &Roles, decision: &Decision) -> Vec<Generalized> {
    if decision.verdict.partition.is_some() {
        return vec![];
    }
    let columns = roles.quasi_identifiers.iter().zip(decision.classes.node().levels());
    let one = columns.map(|(q, level)| Generalized {
        column: q.column.clone(),
        hierarchy: Arc::clone(&q.hierarchy),
        level: *level,
    });
    one.collect()
}
