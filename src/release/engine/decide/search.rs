//! The search for a node of the lattice.

use super::context::{budget, context, reason};
use super::decision::{Alternatives, Decision, Proof};
use super::evaluator::Evaluator;
use super::infeasible::{found_nothing, infeasible};
use crate::base::catalogue::Call;
use crate::base::error::Result;
use crate::data::metric::Metric;
use crate::method::lattice::Node;
use crate::method::search::{Assessment, Context, Finding, Oracle, Search, front::knee};
use crate::release::job::{Goal, Job};
use crate::release::observe::{Observer, Phase};
use std::cmp::Ordering;
use std::sync::Arc;

/// Runs a search that chooses the node. Fails with `ErrorKind::Infeasible` if no node satisfies the
/// models.
pub(super) fn searched(
    job: &Job,
    evaluator: &Arc<Evaluator>,
    (call, search): (&Call, &dyn Search),
    observer: &Arc<dyn Observer>,
) -> Result<Decision> {
    observer.begin(Phase::Search);
    let mut context = context(&job.goal, budget(&job.goal, observer.as_ref()), observer);
    let weighs = job.output.report.is_some() && !job.goal.terms.is_empty();
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
    // The bound at the bottom of the lattice is known even if that node was not assessed. This
    // bound holds for every node, whatever the search proves.
    let bound = finding.bound.max(evaluator.bound(evaluator.lattice().bottom(), 0));
    let proof = if cost <= bound {
        Proof::Optimal
    } else if bound.is_finite() {
        Proof::Bound(if job.goal.metric.higher_is_better() {
            -bound
        } else {
            bound
        })
    } else {
        Proof::None
    };
    Ok(Decision {
        search: Some(call.to_string()),
        nodes: context.assessed(),
        stopped,
        alternatives: weighs.then(|| alternatives(&job.goal, &context)).flatten(),
        ..Decision::chosen(evaluator, evaluator.judge(&node)?, proof)
    })
}

/// Returns the front that the search kept. The weighted sum itself is left out, because it adds
/// nothing to its terms.
fn alternatives(goal: &Goal, context: &Context) -> Option<Alternatives> {
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
            .map(|(node, found)| (node, found.costs.into_iter().zip(&goal.terms).map(value).collect()))
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

/// Returns the best node found, with its cost. If the search was stopped before it found a node,
/// tries the most general node. Returns `None` if no anonymous node was found.
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

/// Runs a search until it ends or its budget is used up. Returns the finding of the search, and the
/// reason if the search ended early.
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
