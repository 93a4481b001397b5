//! Runs the search, has the table divided, or checks the node that the statement gives.

use super::context::{budget, context, reason};
use super::decision::{Alternatives, Decision, Proof, describe};
use super::divide::divided;
use super::evaluator::Evaluator;
use super::infeasible::{found_nothing, infeasible};
use crate::engine::observe::{Observer, Phase};
use crate::error::{Error, Result};
use crate::job::{Choice, Job};
use crate::lattice::Node;
use crate::metric::Metric;
use crate::pool::blocking;
use crate::search::{Assessment, Context, Finding, Oracle, Search, front::knee};
use std::cmp::Ordering;
use std::sync::Arc;

/// Searches the lattice, divides the table, or checks the given node, and returns the decision. Fails if the result
/// does not satisfy the models.
pub async fn decide(job: &Arc<Job>, evaluator: &Arc<Evaluator>, observer: &Arc<dyn Observer>) -> Result<Decision> {
    let (job, evaluator, observer) = (Arc::clone(job), Arc::clone(evaluator), Arc::clone(observer));
    // A search computes for long. It gets a blocking thread, so that the workers of the runtime stay free.
    let search = move || {
        let decision = match &job.choice {
            Choice::Node(levels) => given(&job, &evaluator, levels),
            Choice::Search { search, .. } => searched(&job, &evaluator, search.as_ref(), &observer),
            Choice::Partition(_) => divided(&job, &evaluator, &observer),
        }?;
        // The rewriting scan needs the memory that the search worked with.
        evaluator.sets().clear();
        Ok(decision)
    };
    blocking("the search", search).await
}

fn given(job: &Job, evaluator: &Arc<Evaluator>, levels: &[u8]) -> Result<Decision> {
    let node = Node::new(levels.to_vec());
    if !evaluator.lattice().contains(&node) {
        return Err(Error::usage(format!(
            "the node {} is not in the lattice from {} to {}",
            describe(job, &node),
            describe(job, evaluator.lattice().bottom()),
            describe(job, evaluator.lattice().top())
        )));
    }
    let Some((classes, verdict)) = evaluator.judge_if_demanded(&node)?.ok() else {
        return Err(Error::infeasible(format!(
            "the node {} does not satisfy the models: more than {} rows would have to be suppressed, which is what may be",
            describe(job, &node),
            evaluator.suppression_limit()
        )));
    };
    if !verdict.anonymous {
        let node = describe(job, &node);
        let (suppressed, limit) = (verdict.suppressed, evaluator.suppression_limit());
        return Err(Error::infeasible(match suppressed > limit {
            true => format!(
                "the node {node} does not satisfy the models: {suppressed} rows would have to be suppressed, and {limit} \
                 may be"
            ),
            false => {
                format!("the node {node} does not satisfy the models: each class does, but not the table as a whole")
            }
        }));
    }
    Ok(Decision {
        nodes: 1,
        ..Decision::chosen(evaluator, (classes, verdict), Proof::Given)
    })
}

fn searched(
    job: &Job,
    evaluator: &Arc<Evaluator>,
    search: &dyn Search,
    observer: &Arc<dyn Observer>,
) -> Result<Decision> {
    observer.begin(Phase::Search);
    let mut context = context(job, budget(job, observer.as_ref()), observer);
    let weighs = job.report.is_some() && !job.terms.is_empty();
    if weighs {
        context = context.with_front(vec![]);
    }
    let (finding, stopped) = run(search, evaluator.as_ref(), &mut context)?;
    let Some((node, cost)) = answer(evaluator, &context, stopped)? else {
        return Err(match stopped {
            Some(reason) => found_nothing(reason),
            None => infeasible(job, evaluator)?,
        });
    };
    // The bound of the lattice's bottom is known without assessing it, and bounds every node, whatever the search
    // proves.
    let bound = finding.bound.max(evaluator.bound(evaluator.lattice().bottom(), 0));
    let proof = if cost <= bound {
        Proof::Optimal
    } else if bound.is_finite() {
        Proof::Bound(if job.metric.higher_is_better() { -bound } else { bound })
    } else {
        Proof::None
    };
    Ok(Decision {
        search: job.choice.name(),
        nodes: context.assessed(),
        stopped,
        alternatives: weighs.then(|| alternatives(job, &context)).flatten(),
        ..Decision::chosen(evaluator, evaluator.judge(&node)?, proof)
    })
}

/// Returns the front that the search kept. The weighted sum itself is left out, because its terms say all that it
/// does.
fn alternatives(job: &Job, context: &Context) -> Option<Alternatives> {
    let mut members = context.archive().to_vec();
    for (_, found) in &mut members {
        found.costs.remove(0);
    }
    members.sort_by(by_costs);
    let value = |(cost, (_, term)): (f64, &(String, Box<dyn Metric>))| match term.higher_is_better() {
        true => -cost,
        false => cost,
    };
    Some(Alternatives {
        knee: knee(&members)?,
        nodes: members
            .into_iter()
            .map(|(node, found)| (node, found.costs.into_iter().zip(&job.terms).map(value).collect()))
            .collect(),
    })
}

/// Compares the members of a front by their costs in the order of the objectives, then by node.
pub(super) fn by_costs((node, a): &(Node, Assessment), (other, b): &(Node, Assessment)) -> Ordering {
    let costs = a.costs.iter().zip(&b.costs).map(|(a, b)| a.total_cmp(b));
    costs
        .fold(Ordering::Equal, Ordering::then)
        .then_with(|| node.cmp(other))
}

/// Returns the best node found, with its cost. If the search was stopped before it found one, tries the most general
/// node.
fn answer(evaluator: &Evaluator, context: &Context, stopped: Option<&str>) -> Result<Option<(Node, f64)>> {
    if let Some((node, found)) = context.incumbent() {
        return Ok(Some((node.clone(), found.cost())));
    }
    if stopped.is_none() {
        return Ok(None);
    }
    let top = evaluator.lattice().top().clone();
    let found = evaluator.assess(std::slice::from_ref(&top))?.swap_remove(0);
    Ok(found.anonymous.then(|| (top, found.cost())))
}

/// Runs a search to its end or to the end of its budget. Returns what it proved, and why it ended early.
pub(super) fn run(
    search: &dyn Search,
    oracle: &dyn Oracle,
    context: &mut Context,
) -> Result<(Finding, Option<&'static str>)> {
    context.tell(Some(oracle));
    let stopped = match search.run(oracle, context) {
        Ok(finding) => return Ok((finding, None)),
        Err(stop) => reason(stop)?,
    };
    let bound = context.proven();
    Ok((Finding { bound }, Some(stopped)))
}
