//! The path from a job to its release: one line per stage.

use super::apply::rewrite;
use super::decide::{Decision, Evaluator, decide};
use super::examine::{Findings, examine};
use super::items::with_items;
use super::observe::{Observer, Phase};
use super::publish::{Inputs, Published, ReleasedRows, publish, publish_rows};
use super::recount::recount;
use super::release::Release;
use super::scan::{Scanned, detail_requests, scan};
use super::write::{Stage, keep_rows, or_removed, write_files};
use crate::error::{Error, Result};
use crate::job::Job;
use crate::metric::Metric;
use crate::pool::blocking;
use std::sync::Arc;

/// Anonymizes to the target of a checked job ([`Job::check`]). Returns `None` if the target exists and the statement
/// keeps it.
pub async fn release_to(job: &Arc<Job>, observer: &Arc<dyn Observer>) -> Result<Option<Published>> {
    let Some(target) = &job.target else {
        return Err(Error::internal("a release without a target"));
    };
    let own = target.clone();
    let open = move || (!own.is_kept()).then(|| Stage::open(&own.path)).transpose();
    let Some(stage) = blocking("staging the release", open).await? else {
        return Ok(None);
    };
    let inputs = Inputs::of(job);
    let staged = async {
        let scanned = scan(job, &detail_requests(job, &job.metrics()), observer.as_ref()).await?;
        let decision = decided(job, &evaluator(job, scanned, observer).await?, observer).await?;
        let findings = examine(job, &decision, observer).await?;
        let rewrite = rewrite(job, &decision, observer).await?;
        let written = write_files(job, &decision, rewrite, (target, &stage), observer).await?;
        let recounted = recount(job, &decision, &written, Some(&stage), observer).await?;
        Ok((decision, findings, written, recounted.require()?))
    };
    let staged = staged.await;
    let (stage, (decision, findings, written, recounted)) = or_removed(stage, staged).await?;
    let published = publish(
        (job, target),
        (&decision, findings),
        &written,
        &recounted,
        (stage, inputs),
        observer,
    )
    .await?;
    Ok(Some(published))
}

/// Anonymizes a checked job to rows: the same recounted release, as a table to query.
pub async fn release_rows(job: &Arc<Job>, observer: &Arc<dyn Observer>) -> Result<ReleasedRows> {
    let decision = decide_job(job, observer).await?;
    let findings = examine(job, &decision, observer).await?;
    let rewrite = rewrite(job, &decision, observer).await?;
    let written = keep_rows(job, &decision, rewrite, observer).await?;
    let recounted = recount(job, &decision, &written, None, observer).await?.require()?;
    publish_rows(job, (&decision, findings), &written, &recounted, observer).await
}

/// Returns the figures that the release of a job would have, without writing anything. Nothing is recounted, so there are
/// no checks. Returns `None` if the target exists and the statement keeps it.
pub async fn foresee(job: &Arc<Job>, observer: &Arc<dyn Observer>) -> Result<Option<Release>> {
    let target = job.target.clone();
    let kept = move || Ok(target.is_some_and(|t| t.is_kept()));
    if blocking("looking at the target", kept).await? {
        return Ok(None);
    }
    let decision = decide_job(job, observer).await?;
    let findings = examine(job, &decision, observer).await?;
    let release = Release::foreseen(job, (&decision, findings));
    observer.released(&release, job.target.as_ref().map(|t| t.path.as_path()));
    Ok(Some(release))
}

/// Reads the source, searches the lattice and decides.
pub async fn decide_job(job: &Arc<Job>, observer: &Arc<dyn Observer>) -> Result<Decision> {
    let scanned = scan(job, &detail_requests(job, &job.metrics()), observer.as_ref()).await?;
    decided(job, &evaluator(job, scanned, observer).await?, observer).await
}

/// Decides about the classes, and then about the items of the rows that are released.
async fn decided(job: &Arc<Job>, evaluator: &Arc<Evaluator>, observer: &Arc<dyn Observer>) -> Result<Decision> {
    with_items(job, decide(job, evaluator, observer).await?, observer).await
}

/// Creates the evaluator of nodes on a blocking thread.
async fn evaluator(job: &Arc<Job>, scanned: Scanned, observer: &Arc<dyn Observer>) -> Result<Arc<Evaluator>> {
    observer.begin(Phase::Search);
    let own = Arc::clone(job);
    let evaluator = move || Evaluator::new(&own, scanned, &own.metrics());
    Ok(Arc::new(blocking("preparing the search", evaluator).await?))
}

/// Returns the recounted figures of what a job would release, and the values of `metrics` there, which are the
/// metrics of the evaluator. A value is `None` if rows were suppressed for their own limits after the classes were
/// counted, because it is then unknown.
pub async fn measure(
    job: &Arc<Job>,
    evaluator: &Arc<Evaluator>,
    metrics: &[&dyn Metric],
    observer: &Arc<dyn Observer>,
) -> Result<(Release, Vec<Option<f64>>)> {
    let decision = decided(job, evaluator, observer).await?;
    let rewrite = rewrite(job, &decision, observer).await?;
    let written = keep_rows(job, &decision, rewrite, observer).await?;
    let recounted = recount(job, &decision, &written, None, observer).await?.require()?;
    let release = Release::new(job, (&decision, Findings::default()), &written, &recounted)?;
    Ok((release, written.settled.measure(&decision, metrics)))
}
