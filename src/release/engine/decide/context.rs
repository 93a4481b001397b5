//! The budget and the context of a search or of local recoding.

use crate::base::error::Result;
use crate::method::search::{Context, Progress, SearchBudget, Stop};
use crate::release::job::Goal;
use crate::release::observe::Observer;
use std::sync::Arc;
use std::time::Instant;

/// Returns the budget of a job that begins now.
pub(super) fn budget(goal: &Goal, observer: &dyn Observer) -> SearchBudget {
    SearchBudget {
        deadline: goal.time_limit.map(|limit| Instant::now() + limit),
        max_nodes: goal.node_limit,
        interrupt: observer.interrupt(),
    }
}

/// Returns the reason, in words, why a search ended early. Returns the error if the search failed.
pub(super) fn reason(stop: Stop) -> Result<&'static str> {
    match stop {
        Stop::Failed(e) => Err(e),
        Stop::TimeLimit => Ok("time limit"),
        Stop::NodeLimit => Ok("node limit"),
        Stop::Interrupted => Ok("interrupted"),
    }
}

/// Returns the context of a new run within a budget.
pub(super) fn context(goal: &Goal, budget: SearchBudget, observer: &Arc<dyn Observer>) -> Context {
    let (told, higher_is_better) = (Arc::clone(observer), goal.metric.higher_is_better());
    let value = move |cost: f64| if higher_is_better { -cost } else { cost };
    Context::new(goal.seed, budget).on_progress(move |p| {
        told.searched(Progress {
            best: p.best.map(value),
            bound: p.bound.map(value),
            ..p
        })
    })
}
