//! Errors that say why a request cannot be met, as far as that is known.

use super::decision::describe;
use super::evaluator::Evaluator;
use crate::error::{Error, ErrorKind, Result};
use crate::job::Job;
use crate::search::Oracle;

/// Returns the requested models in the words of the statement.
pub(super) fn models(job: &Job) -> String {
    let models = job.constraints.iter().map(|c| c.describe(&job.quasi_identifiers));
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

/// Returns the error for an infeasible job. It names the nearest miss: the fewest rows that would
/// have to be suppressed, and the quasi-identifier that blocks.
pub(super) fn infeasible(job: &Job, evaluator: &Evaluator) -> Result<Error> {
    let rows = evaluator.rows();
    let top = evaluator.lattice().top();
    let (_, at_top) = evaluator.judge(top)?;
    let mut text = format!(
        "no node satisfies {} with at most {} of {rows} rows suppressed; the nearest miss, {}, would suppress {} rows",
        models(job),
        evaluator.suppression_limit(),
        describe(job, top),
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
    match best {
        Some((suppressed, i)) => {
            text += &format!(
                "; LEVELS keeps {} below its top: at level {}, {suppressed} rows would be suppressed",
                job.quasi_identifiers[i].column,
                evaluator.sets().base().key_schema.lookups()[i].top()
            );
        }
        None if job.constraints.iter().any(|c| c.model.min_class_size() > rows) => {
            text += &format!("; the table has only {rows} rows");
        }
        None => text += "; every quasi-identifier is at its top already, so the models are too strict for this table",
    }
    Ok(Error::infeasible(text))
}
