//! Common setup for the tests of single stages.

pub(super) use crate::release::job::testing::{PEOPLE, batch, constraint, job, source, target};

use super::decide::{Decision, Evaluator, decide};
use super::scan::{Scanned, detail_requests, scan};
use crate::release::job::Job;
use crate::release::observe::{Observer, Silent};
use std::sync::Arc;

/// Returns the result of the first stage for a job.
pub(super) async fn scanned(job: &Job) -> Scanned {
    scan(job, &detail_requests(job, &job.goal.metrics()), &Silent)
        .await
        .unwrap()
}

/// Returns an observer that ignores all progress.
pub(super) fn silent() -> Arc<dyn Observer> {
    Arc::new(Silent)
}

/// Returns the decision for a job, from a new scan.
pub(super) async fn decided(job: &Arc<Job>) -> Decision {
    let evaluator = Evaluator::new(job, scanned(job).await, &job.goal.metrics()).unwrap();
    decide(job, &Arc::new(evaluator), &silent()).await.unwrap()
}
