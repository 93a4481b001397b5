//! Chooses the node or partition to release: by a search, by local recoding, or as the statement
//! specifies it.

use super::decision::Decision;
use super::divide::divided;
use super::evaluator::Evaluator;
use super::given::given;
use super::replay::replayed;
use super::search::searched;
use super::stay::stayed;
use crate::base::error::Result;
use crate::base::pool::blocking;
use crate::release::job::{Choice, Job};
use crate::release::observe::Observer;
use std::sync::Arc;

/// Searches the lattice, divides the table, or checks the given node, and returns the decision.
/// Fails if the result does not satisfy the models.
pub async fn decide(job: &Arc<Job>, evaluator: &Arc<Evaluator>, observer: &Arc<dyn Observer>) -> Result<Decision> {
    let (job, evaluator, observer) = (Arc::clone(job), Arc::clone(evaluator), Arc::clone(observer));
    // A search can take a long time. It runs on a blocking thread, so that the workers of the
    // runtime stay free.
    let search = move || {
        let decision = match &job.goal.choice {
            Choice::Node(levels) => given(&job.roles, &evaluator, levels),
            Choice::Replay(replay) => replayed(&job, &evaluator, replay, &observer),
            Choice::Search { call, search } => match stayed(&job.output, &evaluator)? {
                Some(decision) => Ok(decision),
                None => searched(&job, &evaluator, (call, search.as_ref()), &observer),
            },
            Choice::Partition(_) => divided(&job, &evaluator, &observer),
        }?;
        // The rewriting scan needs the memory that the search used.
        evaluator.sets().clear();
        Ok(decision)
    };
    blocking("the search", search).await
}
