//! Advice to use another search that loses far less: local recoding, or local recoding of more
//! combinations of quasi-identifier values.

use super::decision::describe;
use super::evaluator::Evaluator;
use super::groups::{Groups, reserve};
use crate::base::catalogue::Call;
use crate::base::error::{ErrorKind, Result};
use crate::data::frequency::BaseSet;
use crate::method::hierarchy::{Lookup, OnUnmapped};
use crate::method::partition;
use crate::method::search::{Context, SearchBudget};
use crate::release::job::{Choice, Job, QuasiIdentifier, Roles, may_divide};
use std::sync::Arc;

/// The partitioning algorithm that this module tries. It is the fastest of the algorithms that
/// RECODING LOCAL runs, and RECODING LOCAL loses no more than this algorithm does.
const TRIED: &str = "mondrian";
/// The maximum number of combinations of quasi-identifier values that are divided for advice.
const MOST: usize = 65_536;
/// The maximum number of cells that are divided for advice: combinations times quasi-identifiers.
const CELLS: usize = 16 * MOST;
/// The minimum number of rows per combination for a trial on a table above either limit. With that
/// many rows, dividing the combinations takes a small part of the time for reading and writing the
/// rows.
const ROWS_EACH: u64 = 8;
/// The minimum loss at which local recoding is advised.
const LOSS: f64 = 0.1;
/// Local recoding counts as losing far less if its loss is below this share of the other loss.
const FAR_LESS: f64 = 0.5;

/// Returns advice on a search that could lose far less than the search that was run, whose loss by
/// the job's metric is `value`.
pub fn advice(job: &Job, evaluator: &Arc<Evaluator>, value: f64) -> Result<Option<String>> {
    match job.goal.choice {
        Choice::Partition(_) => Ok(coarser(&job.roles, evaluator)),
        _ => local(job, evaluator, value),
    }
}

/// Returns the advice to divide more combinations if the levels were raised because there are too
/// many combinations.
fn coarser(roles: &Roles, evaluator: &Evaluator) -> Option<String> {
    let bottom = evaluator.lattice.bottom();
    let lookups = evaluator.sets().base().key_schema.lookups();
    // If ON UNMAPPED TOP changes any value to `*`, the lowest level of the column is 1.
    let named = |q: &QuasiIdentifier, lookup: &Lookup| {
        let is_raised = q.hierarchy.on_unmapped() == OnUnmapped::Top && lookup.unmapped_values() > 0;
        q.levels.map_or(0, |(low, _)| low).max(u8::from(is_raised))
    };
    let is_raised = roles
        .quasi_identifiers
        .iter()
        .zip(lookups)
        .zip(bottom.levels())
        .any(|((q, lookup), level)| *level > named(q, lookup));
    is_raised.then(|| {
        format!(
            "the table has too many combinations of quasi-identifier values to divide, so the combinations of the \
             levels {} were divided; SET anonsql.divided_combinations to a larger number to lose less, which takes more memory",
            describe(roles, bottom)
        )
    })
}

/// Tries local recoding of the table, and returns advice if local recoding loses far less than
/// `value`. Returns `None` if local recoding cannot meet the request, or if the trial could take
/// too much time. The number of combinations, and not a clock, decides this, so the same request
/// always gets the same advice.
fn local(job: &Job, evaluator: &Arc<Evaluator>, value: f64) -> Result<Option<String>> {
    let BaseSet::Held(set) = &evaluator.sets().base().set else {
        return Ok(None);
    };
    let is_searched = matches!(job.goal.choice, Choice::Search { .. });
    let cells = set.len().saturating_mul(job.roles.quasi_identifiers.len());
    let small = set.len() <= MOST && cells <= CELLS;
    let small = small || set.len() as u64 * ROWS_EACH <= evaluator.sets().base().rows;
    if !is_searched
        || !small
        || job.goal.metric.higher_is_better()
        || value < LOSS
        || job.guarantees.of_rows().is_some()
    {
        return Ok(None);
    }
    let call = Call::bare(TRIED);
    let partitioner = partition::build(&call)?;
    if !may_divide(job, TRIED, partitioner.as_ref()) {
        return Ok(None);
    }
    let _memory = match reserve(job, evaluator, partitioner.as_ref()) {
        Err(e) if e.kind() == ErrorKind::Resources => return Ok(None),
        reserved => reserved?,
    };
    let mut context = Context::new(job.goal.seed, SearchBudget::default());
    let table = Groups::new(job, evaluator, partitioner.as_ref())?;
    let found = partition::divided(partitioner.as_ref(), &table, &mut context)?;
    let partition = partition::widened(found.partition, &table)?;
    let (classes, verdict) = evaluator.judge_partition(Arc::new(partition))?;
    let local = evaluator.measure(&classes, &verdict)[0];
    if !verdict.anonymous || local >= FAR_LESS * value {
        return Ok(None);
    }
    let metric = &job.goal.metric_name;
    Ok(Some(format!(
        "local recoding loses at most {} by {metric}, and this result loses {}: write RECODING LOCAL",
        rounded(local),
        rounded(value)
    )))
}

/// Returns a loss with two significant digits.
fn rounded(loss: f64) -> String {
    let digits = if loss > 0.0 { 1 - loss.log10().floor() as i32 } else { 0 };
    format!("{loss:.0$}", digits.clamp(0, 9) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::search;
    use crate::release::engine::testing::{job, scanned};

    fn searched(job: &mut Job) {
        let call = Call::bare("flash");
        job.goal.choice = Choice::Search {
            search: search::build(&call).unwrap(),
            call,
        };
    }

    #[tokio::test]
    async fn only_a_search_that_loses_much_is_advised() {
        let mut job = job();
        let evaluator = Evaluator::new(&job, scanned(&job).await, &job.goal.metrics()).unwrap();
        let evaluator = Arc::new(evaluator);
        assert_eq!(advice(&job, &evaluator, 10.0).unwrap(), None, "the node was given");
        searched(&mut job);
        let advised = advice(&job, &evaluator, 10.0).unwrap().unwrap();
        assert!(
            advised.contains("and this result loses 10: write RECODING LOCAL"),
            "{advised}"
        );
        assert_eq!(advice(&job, &evaluator, 0.09).unwrap(), None, "a small loss");
        job.goal.node_limit = Some(7);
        assert_eq!(
            advice(&job, &evaluator, 10.0).unwrap(),
            None,
            "mondrian takes no node limit"
        );
    }

    #[test]
    fn losses_have_two_digits() {
        assert_eq!(
            [0.4, 0.1134, 0.00567, 1234.5, 0.0].map(rounded),
            ["0.40", "0.11", "0.0057", "1234", "0"]
        );
    }
}
