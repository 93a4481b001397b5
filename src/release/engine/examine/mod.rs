//! Between stages 2 and 3: examines the source for risks that the models do not measure, before any
//! row is written.
//!
//! One scan ([`columns`]) counts the values of the columns that are released unchanged, and of
//! identifiers that may be codes of people. If kept columns could single out many released rows, a
//! second scan ([`links`]) counts these rows. Both scans keep a sample that does not depend on the
//! order of the rows ([`sketch`]), so the same source has the same warnings for any number of
//! threads.

mod budget;
mod columns;
mod links;
mod sketch;
mod standards;

pub use columns::named_warnings;

use super::decide::{Decision, advice};
use super::scan::position;
use crate::base::error::{Error, Result};
use crate::base::pool::blocking;
use crate::data::folder::Budget;
use crate::data::frequency::{Attribute, Base, DetailRequest};
use crate::method::warning::{self, Evidence, Warning};
use crate::release::job::Job;
use crate::release::observe::{Observer, Phase};
use arrow::array::Array;
use std::sync::Arc;

/// The findings about a decision before it is applied.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// The warnings about the roles of the request.
    pub warnings: Vec<Warning>,
    /// The advice to use another search that would lose far less, or a note on the budget that the
    /// replaced releases have spent.
    pub advice: Option<String>,
    /// The budget of a differentially private release.
    pub budget: Option<Budget>,
}

/// Examines the source of a job, and informs the observer of the findings. Fails with
/// `ErrorKind::Usage` if the job is strict and a warning is open.
pub(super) async fn examine(job: &Arc<Job>, decision: &Decision, observer: &Arc<dyn Observer>) -> Result<Findings> {
    let findings = findings(job, decision, observer).await?;
    if decision.evaluator.sets().base().rows == 0 {
        let own = Arc::clone(job);
        blocking("looking at the target", move || check_replaced(&own)).await?;
    }
    if let Some(refusal) = warning::refusal(&findings.warnings).filter(|_| job.guarantees.strict) {
        return Err(refusal);
    }
    warning::open(&findings.warnings).for_each(|w| observer.warned(w));
    job.notes().iter().for_each(|note| observer.advised(note));
    findings.advice.iter().for_each(|advice| observer.advised(advice));
    Ok(findings)
}

/// Fails with `ErrorKind::Data` if the source has no rows (or a sample has no class with enough
/// drawn rows) and the release would replace a release with rows. The usual reason is a failed
/// delivery of the source. In this case, the last release is better than an empty release.
fn check_replaced(job: &Job) -> Result<()> {
    let Some(target) = job.output.target.as_ref().filter(|target| target.replaces()) else {
        return Ok(());
    };
    // A target that is not a release is rejected later, when the release would replace it.
    match target.manifest()? {
        Some(last) if last.rows_out > 0 => Err(Error::data(format!(
            "{}, and OVERWRITE would replace the {} rows in {} with none; check the delivery of the \
             source, or write to another folder to release no rows",
            match job.guarantees.sampling() {
                Some(_) => "no class has enough drawn rows",
                None => "the source has no rows",
            },
            last.rows_out,
            target.path.display()
        ))),
        _ => Ok(()),
    }
}

/// Returns the entity and the number of rows that have no entity, if there are such rows.
fn without_entity(base: &Base, entity: &str) -> Option<(String, u64)> {
    let counted = position(base, &DetailRequest::Distinct(entity.into()))?;
    let Attribute { values, counts, .. } = &base.attributes[counted];
    let null = (0..values.len()).find(|code| values.is_null(*code))?;
    Some((entity.to_string(), counts[null])).filter(|(_, rows)| *rows > 0)
}

/// Returns the findings about the source of a job. Reads no row of the source if the release is
/// drawn from a sample.
pub async fn findings(job: &Arc<Job>, decision: &Decision, observer: &Arc<dyn Observer>) -> Result<Findings> {
    let progress = observer.begin(Phase::Measure);
    if let Some(sampling) = job.guarantees.sampling().cloned() {
        // The source is not read again, so no warning reveals anything about its rows.
        let own = Arc::clone(job);
        let budget = move || budget::budget(&own.output, &sampling);
        let (budget, advice) = blocking("looking at the target", budget).await?;
        return Ok(Findings {
            advice,
            budget: Some(budget),
            ..Findings::default()
        });
    }
    let base = decision.evaluator.sets().base();
    let mut evidence = Evidence {
        rows: base.rows,
        columns: columns::examined(job, &progress).await?,
        has_entity: job.input.entity.is_some(),
        without_entity: job
            .input
            .entity
            .as_deref()
            .and_then(|entity| without_entity(base, entity)),
        ..Evidence::default()
    };
    standards::check(job, decision, &evidence.columns)?;
    for (q, lookup) in job.roles.quasi_identifiers.iter().zip(base.key_schema.lookups()) {
        if lookup.values().len() == 1 {
            evidence.constant.push(q.column.clone());
        }
        if columns::is_padded(lookup.values())? {
            evidence.padded.push(q.column.clone());
        }
    }
    let (classes, released) = (decision.verdict.classes, decision.verdict.released);
    let linked = warning::may_link(&evidence, classes, released);
    if !linked.is_empty() {
        evidence.links = Some(links::links(job, decision, linked, &progress).await?);
    }
    let (own, evaluator, value) = (Arc::clone(job), Arc::clone(&decision.evaluator), decision.value);
    let advice = blocking("trying local recoding", move || advice(&own, &evaluator, value)).await?;
    Ok(Findings {
        warnings: warning::warnings(&evidence, &job.guarantees.accepted),
        advice,
        budget: None,
    })
}
