//! The figures of a release, from its decision, its written files and its recount.

use super::few;
use crate::base::error::{Error, Result};
use crate::data::folder::{ItemSetSummary, PersonalSummary, RandomizedColumn};
use crate::data::recode::randomize::Permutation;
use crate::method::search::Oracle;
use crate::release::engine::decide::Decision;
use crate::release::engine::examine::Findings;
use crate::release::engine::verify::Recounted;
use crate::release::engine::write::Written;
use crate::release::job::{Goal, Guarantees, Job, Roles};
use crate::release::observe::Release;
use std::sync::Arc;

impl Release {
    /// Collects the figures of a recounted release.
    pub(in crate::release::engine) fn new(
        job: &Job,
        (decision, findings): (&Decision, Findings),
        written: &Written,
        recounted: &Recounted,
    ) -> Result<Self> {
        let verdict = &written.settled.verdict;
        // For a sample, figures about rows that were not drawn are omitted.
        let is_told = job.guarantees.sampling().is_none();
        Ok(Self {
            rows_in: is_told.then(|| decision.evaluator.rows()),
            rows_out: recounted.rows,
            rows_suppressed: is_told.then_some(verdict.suppressed),
            classes: verdict.released_classes(),
            reached_k: recounted.reached_k,
            search: decision.search.clone(),
            tried: decision.tried.clone(),
            node: decision.describe(&job.roles),
            metric: job.goal.metric_name.clone(),
            value: is_told.then(|| value(&job.goal, decision, written)).transpose()?,
            proof: decision.proof(&job.goal),
            nodes: decision.nodes,
            checks: few::told(job, &recounted.checks, verdict.suppressed),
            randomized: randomized(&job.roles, written),
            personal: personal(&job.guarantees, written),
            items: items(decision),
            warnings: findings.warnings,
            advice: findings.advice,
            budget: findings.budget,
            replay: decision.replay.clone(),
            growth: None,
        })
    }

    /// Returns the figures that follow from a decision alone. Figures that are known only once rows
    /// are written are missing: checks, randomized columns, and rows suppressed because of personal
    /// limits.
    pub(in crate::release::engine) fn foreseen(job: &Job, (decision, findings): (&Decision, Findings)) -> Self {
        let verdict = &decision.verdict;
        Self {
            rows_in: Some(decision.evaluator.rows()),
            rows_out: verdict.released + decision.starred_rows(&job.guarantees),
            rows_suppressed: Some(verdict.suppressed),
            classes: verdict.classes,
            reached_k: decision.evaluator.smallest_class(&decision.classes, verdict),
            search: decision.search.clone(),
            tried: decision.tried.clone(),
            node: decision.describe(&job.roles),
            metric: job.goal.metric_name.clone(),
            value: Some(decision.value),
            proof: decision.proof(&job.goal),
            nodes: decision.nodes,
            checks: vec![],
            randomized: vec![],
            personal: None,
            items: items(decision),
            warnings: findings.warnings,
            advice: findings.advice,
            budget: findings.budget,
            replay: decision.replay.clone(),
            growth: None,
        }
    }
}

/// Returns the value of the job's metric on the released rows. Fails if the value is unknown
/// because personal limits suppressed rows.
fn value(goal: &Goal, decision: &Decision, written: &Written) -> Result<f64> {
    let values = written.settled.measure(decision, &[goal.metric.as_ref()]);
    values.into_iter().next().flatten().ok_or_else(|| {
        Error::usage(format!(
            "{} cannot be measured after rows were suppressed for their own limits; write MINIMIZING glm",
            goal.metric_name
        ))
    })
}

/// Returns the manifest's summary of the randomized columns, which are measured if there is a
/// target.
fn randomized(roles: &Roles, written: &Written) -> Vec<RandomizedColumn> {
    let one = |(permutation, after): (&Arc<Permutation>, &f64)| RandomizedColumn {
        column: permutation.column.clone(),
        within: roles
            .randomization(&permutation.column)
            .map(ToString::to_string)
            .unwrap_or_default(),
        values: permutation.counts.len() as u64,
        information_before: permutation.before.unwrap_or_default(),
        information_after: *after,
    };
    written.permutations.iter().zip(&written.measured).map(one).collect()
}

/// Returns the manifest's summary of the columns of sets of items.
fn items(decision: &Decision) -> Vec<ItemSetSummary> {
    decision.items.iter().map(|i| i.summary.clone()).collect()
}

/// Returns the manifest's summary of the attribute that was generalized to meet personal limits.
/// Returns `None` if there is no such attribute.
fn personal(guarantees: &Guarantees, written: &Written) -> Option<PersonalSummary> {
    let column = guarantees.generalized_attribute()?;
    let outcome = written.outcome.clone().unwrap_or_default();
    Some(PersonalSummary {
        column: column.to_string(),
        rows_by_level: outcome.levels,
        limits_not_met: outcome.unmet,
        rows_suppressed: outcome.suppressed,
    })
}
