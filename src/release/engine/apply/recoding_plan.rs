//! The recoding plan of a decision: which rows are suppressed, and the labels of all other rows.

use crate::base::error::{Error, Result};
use crate::data::recode::{Grouped, KeptClasses, QuasiIdentifierRule, RecodingParts, RecodingPlan, Released};
use crate::release::engine::decide::Decision;
use crate::release::job::{Job, QuasiIdentifier, Roles};
use std::sync::Arc;

/// Returns the recoding plan of `columns` with the kept classes of the decision. The job decides
/// whether suppressed rows are written.
pub(super) fn recoding_of(job: &Job, decision: &Decision, columns: Vec<Released>) -> Result<RecodingPlan> {
    recoding_among(
        &job.roles,
        decision,
        &decision.verdict.kept,
        job.guarantees.starred,
        columns,
    )
}

/// Returns the recoding plan of `columns`. Rows in the classes for which `kept` is true get labels.
/// The other rows are written if `starred` is true, and are left out otherwise.
pub(in crate::release::engine) fn recoding_among(
    roles: &Roles,
    decision: &Decision,
    kept: &[bool],
    starred: bool,
    columns: Vec<Released>,
) -> Result<RecodingPlan> {
    let rule = |q: &QuasiIdentifier| QuasiIdentifierRule {
        column: q.column.clone(),
        on_unmapped: q.hierarchy.on_unmapped(),
        form: q.labels,
    };
    let base = decision.evaluator.sets().base();
    let is_of_class = roles.quasi_identifiers.iter().any(|q| q.labels.is_of_class());
    let ground = match is_of_class {
        true => Some(base.held()?.as_ref()),
        false => None,
    };
    let parts = RecodingParts {
        key_schema: Arc::clone(&base.key_schema),
        quasi_identifiers: roles.quasi_identifiers.iter().map(rule).collect(),
        starred,
        columns,
    };
    match (&decision.verdict.partition, &decision.combinations) {
        (None, None) => {
            let of = KeptClasses {
                classes: &decision.classes,
                kept,
            };
            RecodingPlan::new(parts, of, ground)
        }
        (Some(partition), Some(combinations)) => {
            let grouped = Grouped {
                bottom: base.bottom().clone(),
                combinations: Arc::clone(&combinations.index),
                partition: Arc::clone(partition),
                kept: kept.to_vec(),
            };
            RecodingPlan::partitioned(parts, grouped, ground)
        }
        _ => Err(Error::internal("a partition without its index")),
    }
}
