//! The treatments of the columns of a release, and the recoding plan with these treatments.

use super::recoding_plan::recoding_of;
use super::surveyed::Surveyed;
use crate::base::error::Result;
use crate::data::recode::{ColumnTreatment, RecodingPlan, Released};
use crate::release::engine::decide::Decision;
use crate::release::job::Job;
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
                is_protected: job.roles.protects(name),
            }
        } else if job.roles.protects(name) {
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
