//! Applies the node of an earlier release again, or reports why it does not satisfy the models.

use super::decision::{Decision, Proof, describe};
use super::evaluator::{Evaluator, Judged, Verdict};
use super::given::of_lattice;
use super::infeasible::models;
use super::search::searched;
use crate::base::error::{ErrorKind, Result};
use crate::data::drift::{Drift, DriftKind, ReplaySummary, refusal};
use crate::data::frequency::FrequencySet;
use crate::method::lattice::Node;
use crate::method::search::Oracle;
use crate::release::job::{Job, Replay, Roles};
use crate::release::observe::Observer;
use std::sync::Arc;

/// Returns the decision for the node of an earlier release if the node satisfies the models. If it
/// does not, a search replaces the node if the statement asks for a search. Otherwise fails with
/// `ErrorKind::Infeasible`: no mode of ON DRIFT permits a release that breaks a promise.
pub(super) fn replayed(
    job: &Job,
    evaluator: &Arc<Evaluator>,
    replay: &Replay,
    observer: &Arc<dyn Observer>,
) -> Result<Decision> {
    let mut drift = replay.drift.clone();
    drift.extend(evaluator.drift().iter().cloned());
    let summary = |applied: bool, drift: Vec<Drift>| ReplaySummary {
        manifest: replay.manifest.clone(),
        on_drift: replay.on_drift,
        applied,
        schema_compared: replay.schema_compared,
        drift,
    };
    if let Some(levels) = &replay.levels {
        let node = of_lattice(&job.roles, evaluator, levels)?;
        let judged = evaluator.judge_if_demanded(&node)?;
        if let Judged::Counted(classes, verdict) = &judged
            && verdict.anonymous
        {
            let fallen = fallen(job, evaluator, &node, (classes, verdict));
            let told = fallen.filter(|_| replay.suppressed_rows == Some(false));
            told.iter().for_each(|drift| observer.drifted(drift, false));
            drift.extend(told);
            return Ok(Decision {
                nodes: 1,
                replay: Some(summary(true, drift)),
                ..Decision::chosen(evaluator, (Arc::clone(classes), verdict.clone()), Proof::Given)
            });
        }
        // Counting ended as soon as the node was known to fail. The reported figures need a
        // complete count.
        let failed = match judged {
            Judged::Counted(classes, verdict) => failures(job, evaluator, &node, (&classes, &verdict)),
            Judged::Exceeds(at_least) => match evaluator.judge(&node) {
                Ok((classes, verdict)) => failures(job, evaluator, &node, (&classes, &verdict)),
                Err(e) if e.kind() == ErrorKind::Resources => vec![uncounted(&job.roles, evaluator, &node, at_least)],
                Err(e) => return Err(e),
            },
        };
        let stops = replay.instead.is_none();
        failed.iter().for_each(|drift| observer.drifted(drift, stops));
        drift.extend(failed);
    }
    match &replay.instead {
        None => Err(refusal(ErrorKind::Infeasible, &drift)),
        Some((call, search)) => Ok(Decision {
            replay: Some(summary(false, drift)),
            ..searched(job, evaluator, (call, search.as_ref()), observer)?
        }),
    }
}

/// Returns the number of classes that fail the models, and the number of their rows, as drift.
/// Returns `None` if every class satisfies the models. Rows with unknown values are in no class.
fn fallen(
    job: &Job,
    evaluator: &Evaluator,
    node: &Node,
    (classes, verdict): (&FrequencySet, &Verdict),
) -> Option<Drift> {
    let rows_of = |i: usize| classes.counts()[i];
    let all = (0..classes.len()).filter(|i| rows_of(*i) > 0).count() as u64;
    let mut ruled_out = (0, 0);
    for i in (0..classes.len()).filter(|i| rows_of(*i) > 0 && !verdict.kept[*i]) {
        ruled_out = (ruled_out.0 + 1, ruled_out.1 + rows_of(i));
    }
    let (fallen, rows) = ruled_out;
    let fate = match verdict.anonymous {
        true => format!(" and are suppressed (limit: {} rows)", evaluator.suppression_limit()),
        false => String::new(),
    };
    let text = format!(
        "{fallen} of {all} classes ({rows} rows) at the node {} do not satisfy {}{fate}",
        describe(&job.roles, node),
        models(job)
    );
    (fallen > 0).then(|| Drift {
        classes: Some(fallen),
        rows: Some(rows),
        ..Drift::new(DriftKind::Classes, vec![], text)
    })
}

/// Returns the reasons why a node does not satisfy the models.
fn failures(
    job: &Job,
    evaluator: &Evaluator,
    node: &Node,
    (classes, verdict): (&FrequencySet, &Verdict),
) -> Vec<Drift> {
    let mut failed: Vec<Drift> = fallen(job, evaluator, node, (classes, verdict)).into_iter().collect();
    let limit = evaluator.suppression_limit();
    let is_over = verdict.suppressed > limit;
    if is_over && (limit > 0 || failed.is_empty()) {
        let text = format!(
            "{} rows would have to be suppressed, more than the limit of {limit}",
            verdict.suppressed
        );
        failed.push(over(text, verdict.suppressed, limit));
    }
    if !is_over {
        let text = format!(
            "at the node {} each class satisfies {}, but not the table as a whole",
            describe(&job.roles, node),
            models(job)
        );
        failed.push(Drift::new(DriftKind::Classes, vec![], text));
    }
    failed
}

/// Returns the reason why a node does not satisfy the models, for a node whose classes do not fit
/// in memory.
fn uncounted(roles: &Roles, evaluator: &Evaluator, node: &Node, at_least: u64) -> Drift {
    let limit = evaluator.suppression_limit();
    let text = format!(
        "at the node {} at least {at_least} rows would have to be suppressed, more than the limit of {limit}",
        describe(roles, node)
    );
    over(text, at_least, limit)
}

fn over(text: String, rows: u64, limit: u64) -> Drift {
    Drift {
        rows: Some(rows),
        allowed: Some(limit),
        ..Drift::new(DriftKind::Suppression, vec![], text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::catalogue::Call;
    use crate::data::drift::OnDrift;
    use crate::method::search;
    use crate::release::engine::decide::decide;
    use crate::release::engine::testing::{job, scanned, silent};
    use crate::release::job::{Choice, SuppressionLimit};

    /// Decides for six people. Generalized to decades, they form two classes, of four and two rows.
    /// By exact age, they form six classes of one row.
    async fn decided(levels: Option<Vec<u8>>, on_drift: OnDrift, limit: u64) -> Result<Decision> {
        let mut job = job();
        job.guarantees.suppression = SuppressionLimit::Rows(limit);
        job.goal.choice = Choice::Replay(Box::new(Replay {
            levels,
            on_drift,
            instead: match on_drift {
                OnDrift::Search => {
                    let call = Call::bare(search::DEFAULT);
                    Some((call.clone(), search::build(&call)?))
                }
                _ => None,
            },
            manifest: String::new(),
            suppressed_rows: Some(false),
            schema_compared: true,
            drift: vec![],
            come: vec![],
            gone: vec![],
        }));
        let evaluator = Arc::new(Evaluator::new(&job, scanned(&job).await, &job.goal.metrics())?);
        decide(&Arc::new(job), &evaluator, &silent()).await
    }

    #[tokio::test]
    async fn a_node_that_holds_is_applied_without_drift() {
        let decision = decided(Some(vec![1, 1]), OnDrift::Error, 0).await.unwrap();
        let replay = decision.replay.unwrap();
        assert!(replay.applied && replay.drift.is_empty());
        assert_eq!((decision.proof, decision.nodes), (Proof::Given, 1));
    }

    #[tokio::test]
    async fn classes_and_rows_are_counted_where_the_node_fails() {
        for on_drift in [OnDrift::Error, OnDrift::Warn] {
            let error = decided(Some(vec![0, 1]), on_drift, 1).await.err().unwrap();
            assert_eq!(error.exit_code(), 3);
            let text = error.to_string();
            assert!(
                text.contains("classes: 6 of 6 classes (6 rows) at the node age 0, zip 1"),
                "{text}"
            );
            assert!(
                text.contains("suppression: 6 rows would have to be suppressed, more than the limit of 1"),
                "{text}"
            );
            assert!(text.contains("ON DRIFT SEARCH"), "{text}");
        }
    }

    #[tokio::test]
    async fn a_search_replaces_a_node_that_fails_or_cannot_be_applied() {
        for levels in [Some(vec![0, 1]), None] {
            let had_levels = levels.is_some();
            let decision = decided(levels, OnDrift::Search, 0).await.unwrap();
            let replay = decision.replay.unwrap();
            assert_eq!((replay.applied, replay.drift.is_empty()), (false, !had_levels));
            assert_eq!(decision.search.as_deref(), Some(search::DEFAULT));
            assert!(decision.verdict.anonymous);
        }
    }

    #[tokio::test]
    async fn classes_that_are_suppressed_within_the_limit_are_told_and_released() {
        // By decade and zip code, each of the two people in their fifties is alone.
        let decision = decided(Some(vec![1, 0]), OnDrift::Error, 2).await.unwrap();
        let drift = decision.replay.unwrap().drift;
        assert_eq!((drift.len(), drift[0].classes, drift[0].rows), (1, Some(2), Some(2)));
        assert_eq!(decision.verdict.suppressed, 2);
    }
}
