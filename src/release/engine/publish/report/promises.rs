//! The promises of a release, each with its recounted value.

use super::facts::ReleaseFacts;
use crate::data::folder::Check;
use crate::data::model::{Comparison, Relation};
use crate::release::job::{Constraint, Scope};
use crate::release::report;

impl ReleaseFacts<'_> {
    /// Returns each promise with its recount.
    pub(super) fn kept_promises(&self) -> Vec<report::PromiseSummary> {
        let job = self.job;
        let columns = |subset: &[usize]| -> Vec<String> {
            let column = |i: &usize| job.roles.quasi_identifiers[*i].column.clone();
            subset.iter().map(column).collect()
        };
        let one = |(c, check): (&Constraint, &Check)| report::PromiseSummary {
            model: c.describe(&job.roles.quasi_identifiers),
            meaning: match &c.scope {
                Scope::All => c.meaning.into(),
                Scope::Columns(subset) => format!("by {} alone, {}", columns(subset).join(", "), c.meaning),
                Scope::Any(size) => format!("by any {size} of the quasi-identifiers alone, {}", c.meaning),
            },
            attribute: c.attribute.clone(),
            quasi_identifiers: match &c.scope {
                Scope::Columns(subset) => Some(columns(subset)),
                Scope::All | Scope::Any(_) => None,
            },
            comparison: match c.model.audit(&Relation::default()).comparison {
                Comparison::AtLeast => report::RequiredComparison::AtLeast,
                Comparison::AtMost => report::RequiredComparison::AtMost,
                Comparison::Below => report::RequiredComparison::Below,
            },
            required: check.required,
            reached: check.reached,
            holds: check.ok,
        };
        job.guarantees
            .constraints
            .iter()
            .zip(&self.release.checks)
            .map(one)
            .collect()
    }
}
