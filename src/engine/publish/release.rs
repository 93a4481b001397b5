//! The figures of a release.

use crate::engine::decide::Decision;
use crate::engine::examine::Findings;
use crate::engine::recount::Recounted;
use crate::engine::write::Written;
use crate::error::{Error, Result};
use crate::folder::{Check, PersonalSummary, RandomizedColumn};
use crate::job::Job;
use crate::recode::randomize::Permutation;
use crate::search::Oracle;
use crate::warning::Warning;
use std::sync::Arc;

/// The figures of a recounted release.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> anonsql::error::Result<()> {
/// # let anon = anonsql::AnonContext::new(Default::default());
/// # anon.sql("CREATE TABLE people AS VALUES (31), (33), (36), (38); CREATE HIERARCHY age AS INTERVALS (5, 10)").await?;
/// let request = "ANONYMIZE people QUASI IDENTIFIERS (column1 USING age) SATISFYING k_anonymity(2)";
/// let anonymized = anon.anonymize(request).await?;
/// let release = anonymized.release().expect("nothing was there to keep");
/// assert_eq!((release.reached_k, release.classes, release.rows_suppressed), (Some(2), 2, 0));
/// assert!(release.checks.iter().all(|check| check.ok));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Release {
    /// The number of rows read.
    pub rows_in: u64,
    /// The number of rows released.
    pub rows_out: u64,
    /// The number of rows suppressed.
    pub rows_suppressed: u64,
    /// The number of equivalence classes released.
    pub classes: u64,
    /// The size of the smallest class, recounted on the released rows; in entities if the request names them.
    pub reached_k: Option<u64>,
    /// The chosen node by column, or the number of labels by column for a partition.
    pub node: String,
    /// The name of the metric that was minimised.
    pub metric: String,
    /// The value of the metric.
    pub value: f64,
    /// The optimality proof of the search, in words.
    pub proof: String,
    /// The number of distinct nodes assessed.
    pub nodes: u64,
    /// The recounted check of each promise.
    pub checks: Vec<Check>,
    /// The summary of each randomized column.
    pub randomized: Vec<RandomizedColumn>,
    /// The summary of the personal limits, if the rows have them.
    pub personal: Option<PersonalSummary>,
    /// The warnings about the roles of the request, including those that it accepts.
    pub warnings: Vec<Warning>,
    /// The advice of another search, if that would lose far less.
    pub advice: Option<String>,
}

impl Release {
    /// Collects the figures of a recounted release.
    pub(in crate::engine) fn new(
        job: &Job,
        (decision, findings): (&Decision, Findings),
        written: &Written,
        recounted: &Recounted,
    ) -> Result<Self> {
        let verdict = &written.settled.verdict;
        Ok(Self {
            rows_in: decision.evaluator.rows(),
            rows_out: recounted.rows,
            rows_suppressed: verdict.suppressed,
            classes: verdict.classes,
            reached_k: recounted.reached_k,
            node: decision.describe(job),
            metric: job.metric_name.clone(),
            value: value(job, decision, written)?,
            proof: decision.proof(job),
            nodes: decision.nodes,
            checks: recounted.checks.clone(),
            randomized: randomized(job, written),
            personal: personal(job, written),
            warnings: findings.warnings,
            advice: findings.advice,
        })
    }
}

/// Returns the value of the job's metric on the released rows. Fails if it is unknown because rows were suppressed
/// for their own limits.
fn value(job: &Job, decision: &Decision, written: &Written) -> Result<f64> {
    let values = written.settled.measure(decision, &[job.metric.as_ref()]);
    values.into_iter().next().flatten().ok_or_else(|| {
        Error::usage(format!(
            "{} is not known of what is left after rows were suppressed for their own limits; MINIMIZING glm is",
            job.metric_name
        ))
    })
}

/// Returns the manifest's summary of the randomized columns, which are measured if there is a target.
fn randomized(job: &Job, written: &Written) -> Vec<RandomizedColumn> {
    let one = |(permutation, after): (&Arc<Permutation>, &f64)| RandomizedColumn {
        column: permutation.column.clone(),
        within: job
            .randomization(&permutation.column)
            .map(ToString::to_string)
            .unwrap_or_default(),
        values: permutation.counts.len() as u64,
        information_before: permutation.before.unwrap_or_default(),
        information_after: *after,
    };
    written.permutations.iter().zip(&written.measured).map(one).collect()
}

/// Returns the manifest's summary of the personal limits, if the rows have them.
fn personal(job: &Job, written: &Written) -> Option<PersonalSummary> {
    let (constraint, _) = job.personal()?;
    let outcome = written.outcome.clone().unwrap_or_default();
    Some(PersonalSummary {
        column: constraint.attribute.clone()?,
        rows_by_level: outcome.levels,
        limits_not_met: outcome.unmet,
        rows_suppressed: outcome.suppressed,
    })
}
