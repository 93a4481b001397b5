//! The recoding plan of a decision: how each column of the source is treated.

use super::surveyed::Surveyed;
use crate::base::error::{Error, Result};
use crate::data::recode::{
    ColumnTreatment, Grouped, KeptClasses, QuasiIdentifierRule, RecodingParts, RecodingPlan, Released,
};
use crate::release::engine::decide::Decision;
use crate::release::job::{Job, QuasiIdentifier, Roles};
use std::sync::Arc;

/// Returns the recoding plan of every released column except the randomized columns, and of the
/// columns of `extra`, which are only recounted.
pub(super) fn recoding(job: &Job, decision: &Decision, source: &Surveyed, extra: &[String]) -> Result<RecodingPlan> {
    let limit = job.guarantees.limit_column().map(str::to_string);
    let extra: Vec<String> = extra.iter().cloned().chain(limit).collect();
    let mut columns = treatments(job, decision, source, &extra)?;
    columns.retain(|c| job.roles.randomization(&c.name).is_none());
    recoding_of(job, decision, columns)
}

/// Returns the treatment of every released column and of the columns of `extra`. Randomized columns
/// are treated as if they were not permuted.
pub(super) fn treatments(job: &Job, decision: &Decision, source: &Surveyed, extra: &[String]) -> Result<Vec<Released>> {
    let mut columns = vec![];
    for field in job.input.source.rows.schema().fields() {
        let name = field.name();
        let treatment = if let Some(i) = job.roles.quasi_identifier(name) {
            ColumnTreatment::Generalize(i)
        } else if let Some(items) = decision.items.iter().find(|i| i.recoding.column() == name) {
            ColumnTreatment::Items(Arc::clone(&items.recoding))
        } else if let Some(of) = job.roles.mask(name) {
            ColumnTreatment::Mask {
                masking: Arc::new(source.masking(job, of)?),
                is_protected: job.roles.sensitive.iter().any(|s| s.column == *name),
            }
        } else if job.roles.sensitive.iter().any(|s| s.column == *name) {
            ColumnTreatment::Protect
        } else if job.roles.releases(name) || extra.contains(name) {
            ColumnTreatment::Keep
        } else {
            continue;
        };
        columns.push(Released {
            name: name.clone(),
            treatment,
        });
    }
    Ok(columns)
}

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
