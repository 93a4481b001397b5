//! The promises of a job, in the form in which they are recounted.

use super::released::Promise;
use crate::base::error::Result;
use crate::method::hierarchy::Hierarchy;
use crate::release::job::{Constraint, Job, Roles};
use std::sync::Arc;

/// Returns the hierarchy of a constraint's attribute, or `None` if the model does not depend on a
/// hierarchy.
fn attribute_hierarchy(roles: &Roles, constraint: &Constraint) -> Option<Arc<Hierarchy>> {
    let named = constraint
        .attribute
        .as_deref()
        .filter(|_| constraint.model.reads().hierarchy)?;
    roles.sensitive.iter().find(|s| s.column == named)?.hierarchy.clone()
}

/// Returns the promises of a job that are recounted on the released rows.
pub(crate) fn promises(job: &Job) -> Result<Vec<Promise<'_>>> {
    // Personal limits are checked while rows are written, because the files contain neither the
    // limits nor the original values.
    let constraints = job.guarantees.constraints.iter().filter(|c| !c.is_of_rows());
    constraints
        .map(|c| Promise::of(c, &job.roles.quasi_identifiers, attribute_hierarchy(&job.roles, c)))
        .collect()
}
