//! Errors for requests that cannot be met. The errors give the known reasons.

use super::decision::describe;
use super::evaluator::Evaluator;
use crate::base::error::{Error, ErrorKind, Result};
use crate::method::lattice::Node;
use crate::method::search::Oracle;
use crate::release::job::{Job, Roles};
use std::collections::BTreeMap;

/// How far an infeasible request is from a possible release, in names and counts. It is the
/// [`detail`](Error::detail) of an error of kind `Infeasible`.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> anonsql::error::Result<()> {
/// use anonsql::NearestMiss;
/// let anon = anonsql::AnonContext::new(Default::default());
/// let people = "SELECT 31 AS age UNION ALL SELECT 45";
/// let rest = "QUASI IDENTIFIERS (age LEVELS 0 TO 0) SATISFYING k_anonymity(2)";
/// let error = anon.sql(&format!("ANONYMIZE ({people}) {rest}")).await.unwrap_err();
/// let nearest: &NearestMiss = error.detail().expect("a search found no node");
/// assert_eq!((nearest.rows, nearest.suppressed, nearest.allowed), (2, 2, 0));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NearestMiss {
    /// The level of each quasi-identifier; empty for local recoding, which has no node.
    pub node: BTreeMap<String, u8>,
    /// The number of rows of the source.
    pub rows: u64,
    /// The number of rows that would have to be suppressed.
    pub suppressed: u64,
    /// The number of rows that may be suppressed.
    pub allowed: u64,
    /// The quasi-identifier for which lifting the cap of LEVELS helps most, with its top and the
    /// number of rows that would have to be suppressed at that top; `None` if LEVELS keeps no
    /// quasi-identifier below its top.
    pub lifted: Option<(String, u8, u64)>,
}

impl NearestMiss {
    /// Returns the miss of a node, or of a partition if `node` is `None`.
    pub(super) fn new(roles: &Roles, evaluator: &Evaluator, node: Option<&Node>, suppressed: u64) -> Self {
        let levels = node.iter().flat_map(|node| node.levels());
        let levels = roles.quasi_identifiers.iter().zip(levels);
        Self {
            node: levels.map(|(q, level)| (q.column.clone(), *level)).collect(),
            rows: evaluator.rows(),
            suppressed,
            allowed: evaluator.suppression_limit(),
            lifted: None,
        }
    }
}

/// Returns the requested models as the statement writes them.
pub(super) fn models(job: &Job) -> String {
    let models = job
        .guarantees
        .constraints
        .iter()
        .map(|c| c.describe(&job.roles.quasi_identifiers));
    models.collect::<Vec<String>>().join(" AND ")
}

/// Returns the error for a search that was stopped before it found a node.
pub(super) fn found_nothing(reason: &str) -> Error {
    Error::new(
        if reason == "interrupted" {
            ErrorKind::Interrupted
        } else {
            ErrorKind::Infeasible
        },
        format!("the search ended ({reason}) before it found a node that satisfies the models"),
    )
}

/// Returns the error for an infeasible job. The error names the nearest miss: the minimum number of
/// rows that would have to be suppressed, and the quasi-identifier for which lifting the cap of
/// LEVELS helps most.
pub(super) fn infeasible(job: &Job, evaluator: &Evaluator) -> Result<Error> {
    let rows = evaluator.rows();
    let top = evaluator.lattice().top();
    let (_, at_top) = evaluator.judge(top)?;
    let mut text = format!(
        "no node satisfies {} with at most {} of {rows} rows suppressed; the nearest miss, {}, would suppress {} rows",
        models(job),
        evaluator.suppression_limit(),
        describe(&job.roles, top),
        at_top.suppressed
    );
    // If LEVELS caps a column below the top of its hierarchy, lifting the cap may help. The error
    // names the column that helps most.
    let mut best: Option<(u64, usize)> = None;
    for (i, lookup) in evaluator.sets().base().key_schema.lookups().iter().enumerate() {
        if top.level(i) < lookup.top() {
            let (_, lifted) = evaluator.judge(&top.with_level(i, lookup.top()))?;
            if best.is_none_or(|(least, _)| lifted.suppressed < least) {
                best = Some((lifted.suppressed, i));
            }
        }
    }
    let mut nearest = NearestMiss::new(&job.roles, evaluator, Some(top), at_top.suppressed);
    match best {
        Some((suppressed, i)) => {
            let top = evaluator.sets().base().key_schema.lookups()[i].top();
            nearest.lifted = Some((job.roles.quasi_identifiers[i].column.clone(), top, suppressed));
            text += &format!(
                "; LEVELS keeps {} below its top: at level {top}, {suppressed} rows would be suppressed",
                job.roles.quasi_identifiers[i].column
            );
        }
        None if job
            .guarantees
            .constraints
            .iter()
            .any(|c| c.model.min_class_size() > rows) =>
        {
            text += &format!("; the table has only {rows} rows");
        }
        None => text += "; every quasi-identifier is at its top already, so the models are too strict for this table",
    }
    Ok(Error::infeasible(text).with_detail(nearest))
}
