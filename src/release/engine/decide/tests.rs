use super::decision::Proof;
use super::{Decision, Evaluator, decide};
use crate::base::catalogue::Call;
use crate::base::error::Result;
use crate::method::search::{self, Oracle};
use crate::release::engine::testing::{job, scanned, silent};
use crate::release::job::{Choice, Job, SuppressionLimit};
use std::sync::Arc;

async fn decided(job: Job) -> Result<Decision> {
    let scanned = scanned(&job).await;
    let evaluator = Arc::new(Evaluator::new(&job, scanned, &job.goal.metrics())?);
    decide(&Arc::new(job), &evaluator, &silent()).await
}

async fn refused(job: Job) -> String {
    decided(job).await.err().unwrap().to_string()
}

fn searched(name: &str, mut job: Job) -> Job {
    let call = Call::bare(name);
    job.goal.choice = Choice::Search {
        search: search::build(&call).unwrap(),
        call,
    };
    job
}

#[tokio::test]
async fn a_given_node_is_judged_and_measured() {
    let decision = decided(job()).await.unwrap();
    let verdict = &decision.verdict;
    assert_eq!((verdict.classes, verdict.released, verdict.suppressed), (2, 6, 0));
    // Four rows have a label for 4 of 6 ages, and two rows have a label for 2 of 6 ages. The label
    // of every row stands for both zip codes.
    let ages = (4.0 * 3.0 + 2.0 * 1.0) / (5.0 * 6.0);
    assert!(
        (decision.value - (ages + 1.0) / 2.0).abs() < 1e-12,
        "{}",
        decision.value
    );
    assert_eq!((decision.proof, decision.nodes), (Proof::Given, 1));
}

#[tokio::test]
async fn a_given_node_that_fails_says_how_far() {
    let mut job = job();
    job.goal.choice = Choice::Node(vec![0, 1]);
    let error = refused(job).await;
    assert!(
        error.contains("the node age 0, zip 1 does not satisfy the models"),
        "{error}"
    );
}

#[tokio::test]
async fn what_is_suppressed_is_within_the_limit() {
    let mut job = job();
    job.goal.choice = Choice::Node(vec![1, 0]);
    // By decade and zip code, each of the two people in their fifties is alone.
    job.guarantees.suppression = SuppressionLimit::Rows(2);
    let decision = decided(job).await.unwrap();
    assert_eq!((decision.verdict.classes, decision.verdict.suppressed), (2, 2));
}

#[tokio::test]
async fn searches_find_the_best_of_all_nodes() {
    let scanned = scanned(&job()).await;
    let nodes: Vec<_> = scanned.lattice.iter().collect();
    let evaluator = Evaluator::new(&job(), scanned, &job().goal.metrics()).unwrap();
    let found = evaluator.assess(&nodes).unwrap();
    let best = found.iter().filter(|a| a.anonymous).map(|a| a.costs[0]);
    let best = best.reduce(f64::min).unwrap();
    for name in ["exhaustive", "auto", "flash", "ola"] {
        let decision = decided(searched(name, job())).await.unwrap();
        assert!(
            (decision.value - best).abs() < 1e-12,
            "{name}: {} for {best}",
            decision.value
        );
    }
}

#[tokio::test]
async fn no_node_is_an_error_with_the_nearest_miss() {
    let mut job = searched("auto", job());
    job.roles.quasi_identifiers[0].levels = Some((0, 0));
    let error = refused(job).await;
    let miss = "would suppress 6 rows; LEVELS keeps age below its top: at level ";
    assert!(error.contains(miss), "{error}");
}
