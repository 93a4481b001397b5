//! Local recoding: runs algorithms that divide the base set, which is the set of distinct
//! combinations of quasi-identifier values, and chooses the partition with the minimum loss.

use super::context::{budget, context, reason};
use super::cover::check_partition;
use super::decision::{Decision, Proof};
use super::evaluator::{Evaluator, Verdict};
use super::groups::{Combinations, Groups, reserve};
use super::infeasible::{NearestMiss, models};
use crate::base::catalogue::Call;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::pool::check_cancelled;
use crate::base::settings::Settings;
use crate::data::folder::Tried;
use crate::data::frequency::FrequencySet;
use crate::data::metric;
use crate::method::lattice::Lattice;
use crate::method::partition::{self, Column, Partitioner, Table, widened};
use crate::method::search::{Context, Oracle};
use crate::release::job::{Candidate, Choice, Job};
use crate::release::observe::{Observer, Phase};
use datafusion::execution::memory_pool::MemoryReservation;
use std::sync::Arc;

/// A partition that may be released, with the algorithm that made it.
struct Division<'a> {
    candidate: &'a Candidate,
    classes: Arc<FrequencySet>,
    verdict: Verdict,
    /// The value of the metric, negated if higher is better.
    cost: f64,
    memory: MemoryReservation,
}

/// RECODING LOCAL tries some algorithms in two forms, with different arguments. This is the maximum
/// number of combinations for which the second form of an algorithm is run. For a larger table, the
/// second form would gain little for the time it takes.
const SECOND_FORM: usize = 1 << 18;

/// Runs every algorithm that can meet the request, one after the other within one budget, each as
/// if it were the only algorithm. Chooses the partition with the minimum loss by the job's metric.
/// If several partitions have the same loss, the default metric decides, and then the order of the
/// algorithms. An algorithm is skipped if it exceeds the memory limit, if it would suppress too
/// many rows, or if a partition is already found and the budget is used up. The second form of an
/// algorithm is skipped if it would divide the table as the first form does, or if the table is
/// large.
pub(super) fn divided(job: &Job, evaluator: &Arc<Evaluator>, observer: &Arc<dyn Observer>) -> Result<Decision> {
    // This is one function because each candidate uses the results of the candidates before it.
    observer.begin(Phase::Search);
    let budget = budget(&job.goal, observer.as_ref());
    let coarser = coarser(job, evaluator)?;
    let evaluator = coarser.as_ref().unwrap_or(evaluator);
    let is_large = evaluator.sets().base().combinations() as usize > SECOND_FORM;
    let (mut best, mut tried, mut refused, mut stopped) = (None::<Division>, vec![], None, None);
    let mut divided_by: Vec<(&Candidate, f64)> = vec![];
    for candidate in job.candidates() {
        let mut told = Tried {
            search: candidate.call.to_string(),
            value: None,
            skipped: None,
        };
        let mut forms = divided_by.iter();
        if let Some((form, value)) = forms.find(|(form, _)| form.call.name == candidate.call.name) {
            let is_same = is_same(job, evaluator, form, candidate)?;
            told.value = Some(*value).filter(|_| is_same);
            told.skipped = Some("large table".into()).filter(|_| is_large && !is_same);
            if is_same || is_large {
                tried.push(told);
                continue;
            }
        }
        let run = context(&job.goal, budget.clone(), observer);
        match divide(job, evaluator, candidate, run, best.is_some()) {
            Ok((found, reason)) => {
                stopped = stopped.or(reason);
                told.skipped = found.is_none().then(|| reason.unwrap_or_default().into());
                if let Some(found) = found {
                    let sign = if job.goal.metric.higher_is_better() { -1.0 } else { 1.0 };
                    divided_by.push((candidate, sign * found.cost));
                    told.value = Some(sign * found.cost);
                    best = Some(match best {
                        Some(best) if !beats(job, evaluator, &found, &best)? => best,
                        _ => found,
                    });
                }
            }
            Err(e) => {
                let Some(why) = passed_over(&e) else { return Err(e) };
                told.skipped = Some(why.into());
                refused.get_or_insert(e);
            }
        }
        tried.push(told);
    }
    let Some(best) = best else {
        return Err(refused.unwrap_or_else(|| Error::internal("no algorithm divides the table")));
    };
    let Some(partition) = &best.verdict.partition else {
        return Err(Error::internal("a division without a partition"));
    };
    let base = evaluator.sets().base();
    check_partition(&base.key_schema, base.held()?, partition)?;
    let is_choice = matches!(&job.goal.choice, Choice::Partition(all) if all.len() > 1);
    Ok(Decision {
        search: Some(best.candidate.call.to_string()),
        tried: if is_choice { tried } else { vec![] },
        stopped,
        combinations: Some(Combinations::new(best.memory, evaluator, partition)?),
        ..Decision::chosen(evaluator, (best.classes, best.verdict), Proof::None)
    })
}

/// Returns the reason, in words, why another algorithm is tried after this error. Returns `None` if
/// the error ends the search.
fn passed_over(error: &Error) -> Option<&'static str> {
    match error.kind() {
        ErrorKind::Resources => Some("memory limit"),
        ErrorKind::Infeasible => Some("too many rows suppressed"),
        _ => None,
    }
}

/// Returns true if two forms of an algorithm divide the table in the same way: the forms differ
/// only in how they label columns with ranges, and no column has ranges.
fn is_same(job: &Job, evaluator: &Evaluator, form: &Candidate, other: &Candidate) -> Result<bool> {
    let forms = [form.partitioner.as_ref(), other.partitioner.as_ref()];
    if forms.iter().any(|form| form.reads_class_label()) {
        return Ok(false);
    }
    let has_ranges = |form: &&dyn Partitioner| -> Result<bool> {
        let table = Groups::new(job, evaluator, *form)?;
        Ok(form.makes_ranges() && table.columns().iter().any(Column::has_ranges))
    };
    Ok(!has_ranges(&forms[0])? && !has_ranges(&forms[1])?)
}

/// Returns the evaluator over coarser levels if the table has more combinations than may be
/// divided, unless the job needs all values. Personal limits, and labels that are computed from the
/// values of a class, need all values.
fn coarser(job: &Job, evaluator: &Evaluator) -> Result<Option<Arc<Evaluator>>> {
    if job.guarantees.of_rows().is_some() || job.roles.quasi_identifiers.iter().any(|q| q.labels.is_of_class()) {
        return Ok(None);
    }
    let (state, _) = job.input.source.rows.clone().into_parts();
    let most = Settings::of(state.config_options()).divided_combinations;
    let weights: Vec<f64> = job.roles.quasi_identifiers.iter().map(|q| q.weight).collect();
    let top = evaluator.lattice().top();
    let sets = evaluator.sets().coarsened(top, &weights, most)?;
    Ok(sets.map(|sets| {
        let lattice = Lattice::new(sets.base().bottom().clone(), top.clone());
        Arc::new(evaluator.over(sets, lattice))
    }))
}

/// Returns true if a division loses less than another by the job's metric, or loses the same by the
/// job's metric and less by the default metric.
fn beats(job: &Job, evaluator: &Evaluator, found: &Division, best: &Division) -> Result<bool> {
    if found.cost != best.cost {
        return Ok(found.cost < best.cost);
    }
    let metric = metric::build(&Call::bare(metric::DEFAULT))?;
    let value = |d: &Division| evaluator.measure_other(job, metric.as_ref(), &d.classes, &d.verdict);
    Ok(value(found)? < value(best)?)
}

/// Runs an algorithm that divides the base set within the budget of `context`, and judges the
/// groups as they would be released. Also returns the reason if the budget ended the algorithm
/// early. If `dispensable` is true, the algorithm is not run once the budget is used up.
fn divide<'a>(
    job: &Job,
    evaluator: &Arc<Evaluator>,
    candidate: &'a Candidate,
    mut context: Context,
    dispensable: bool,
) -> Result<(Option<Division<'a>>, Option<&'static str>)> {
    let partitioner = candidate.partitioner.as_ref();
    if let (true, Err(stop)) = (dispensable, context.check(0)) {
        check_cancelled()?;
        return Ok((None, Some(reason(stop)?)));
    }
    let memory = reserve(job, evaluator, partitioner)?;
    context.tell(None);
    let table = Groups::new(job, evaluator, partitioner)?;
    let found = partition::divided(partitioner, &table, &mut context)?;
    let stopped = found.stopped.map(reason).transpose()?;
    check_cancelled()?;
    let partition = Arc::new(widened(found.partition, &table)?);
    let (classes, verdict) = evaluator.judge_partition(Arc::clone(&partition))?;
    if !verdict.anonymous {
        let is_bound = |(_, column): &(usize, &Column)| column.top < column.lookup.top();
        let bound = table.columns().iter().enumerate().filter(is_bound);
        let bound: Vec<&str> = bound
            .map(|(i, _)| job.roles.quasi_identifiers[i].column.as_str())
            .collect();
        let error = Error::infeasible(format!(
            "no partition satisfies {}: {} rows would have to be suppressed, more than the limit of {}; the models \
             are too strict for this table{}",
            models(job),
            verdict.suppressed,
            evaluator.suppression_limit(),
            match bound.is_empty() {
                true => String::new(),
                false => format!(", whose rows LEVELS keeps apart by {}", bound.join(", ")),
            }
        ));
        return Err(error.with_detail(NearestMiss::new(&job.roles, evaluator, None, verdict.suppressed)));
    }
    // From here on, other algorithms can use the working memory of this algorithm.
    memory.resize(partition.bytes() + classes.bytes());
    let value = evaluator.measure(&classes, &verdict)[0];
    let division = Division {
        candidate,
        classes,
        verdict,
        cost: if job.goal.metric.higher_is_better() {
            -value
        } else {
            value
        },
        memory,
    };
    Ok((Some(division), stopped))
}
