//! What a job promises, as it is recounted.

use super::released::Promise;
use crate::hierarchy::Hierarchy;
use crate::job::{Constraint, Job};
use std::sync::Arc;

/// The hierarchy of a constraint's attribute, where its model reads one.
fn attribute_hierarchy(job: &Job, constraint: &Constraint) -> Option<Arc<Hierarchy>> {
    let named = constraint
        .attribute
        .as_deref()
        .filter(|_| constraint.model.reads().hierarchy)?;
    job.sensitive.iter().find(|s| s.column == named)?.hierarchy.clone()
}

/// The promises of a job that are recounted on the rows.
pub(super) fn promises(job: &Job) -> Vec<Promise<'_>> {
    // A promise to each row is recounted while rows are handed out: the files hold neither limits nor own values.
    let constraints = job.constraints.iter().filter(|c| c.model.limit_column().is_none());
    constraints
        .map(|c| Promise::of(c, &job.quasi_identifiers, attribute_hierarchy(job, c)))
        .collect()
}
