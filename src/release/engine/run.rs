//! The path from a job to its release: one line per stage.

use super::apply::{foresee_rewrite, rewrite};
use super::checked::{CheckedRelease, ReleaseToCheck};
use super::decide::{Decision, Evaluator, decide, join};
use super::examine::{Findings, examine};
use super::items::with_items;
use super::publish::{
    Inputs, Placed, ReleasedRows, RowsToPublish, SourceReading, ToPublish, publish, publish_rows, refuse_repeated,
};
use super::scan::{Scanned, detail_requests, scan};
use super::verify::recount;
use super::waiting::put_all;
use super::write::{StagedTarget, Staging, Written, keep_rows, write_files};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::pool::blocking;
use crate::data::metric::Metric;
use crate::release::job::{Input, Job, Output, Target};
use crate::release::observe::Release;
use crate::release::observe::{Observer, Phase};
use crate::release::staging::{or_removed, removed};
use std::sync::Arc;
use std::time::Duration;

/// The maximum time that a run waits on exit until its lease is deleted from an object store. A
/// failed run also waits until its files are deleted.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs a checked job ([`Job::check`]), and publishes the release at the job's target.
pub async fn release_to(job: &Arc<Job>, observer: &Arc<dyn Observer>) -> Result<Placed> {
    let Some(target) = &job.output.target else {
        return Err(Error::internal("a release without a target"));
    };
    let Some(stage) = Staging::open(job, target).await? else {
        return Ok(Placed::Kept);
    };
    let keeper = stage.keeper();
    let placed = placed(job, (target, stage), observer).await;
    keeper.cleaned_up(PATIENCE).await;
    placed
}

/// The results of all stages before the publication of a release.
struct StagedRelease {
    decision: Decision,
    findings: Findings,
    written: Written,
    checked: CheckedRelease,
}

/// A batch of rows after the decision about it.
enum Batch {
    Staged(Box<StagedRelease>),
    /// No row can be added to the existing release, and this number of rows is held back for a
    /// later batch.
    Waits(u64),
}

/// Scans the source, and writes, recounts and publishes the release in `stage`.
async fn placed(job: &Arc<Job>, (target, stage): (&Target, Staging), observer: &Arc<dyn Observer>) -> Result<Placed> {
    let inputs = Inputs::of(job);
    observer.releasing(&target.path, &sources(&job.input));
    let to = StagedTarget {
        target,
        staging: &stage,
    };
    let staged = staged(job, to, observer).await.map_err(|e| waiting(&job.output, e));
    let (stage, staged) = or_removed(stage, staged).await?;
    let staged = match staged {
        Batch::Staged(staged) => *staged,
        Batch::Waits(rows) => {
            removed(stage).await?;
            if let (Some(standing), Some(_)) = (job.output.grows(), &target.waiting) {
                let input = inputs.all().await?;
                refuse_repeated(standing, (job.output.statement_sha256.as_str(), &input), target)?;
                put_all(job, (target, standing), input).await?;
            }
            return Ok(Placed::Waiting(rows));
        }
    };
    let published = publish(
        ToPublish {
            job,
            target,
            decision: &staged.decision,
            findings: staged.findings,
            written: &staged.written,
            recounted: &staged.checked.recounted,
            union: staged.checked.union.as_ref(),
            inputs,
            early: staged.checked.early,
            observer,
        },
        stage,
    )
    .await?;
    Ok(Placed::Published(Box::new(published)))
}

/// Scans the source, decides, and writes and recounts the release.
async fn staged(job: &Arc<Job>, to: StagedTarget<'_>, observer: &Arc<dyn Observer>) -> Result<Batch> {
    let scanned = scan(job, &detail_requests(job, &job.goal.metrics()), observer.as_ref()).await?;
    let rows = scanned.sets.base().rows;
    let Some(decision) = added(job, scanned, observer).await? else {
        return Ok(Batch::Waits(rows));
    };
    let findings = examine(job, &decision, observer).await?;
    let mut rewrite = rewrite(job, &decision, observer).await?;
    let source = SourceReading::begin(job, &decision, &mut rewrite)?;
    let written = write_files(job, &decision, rewrite, to, observer).await?;
    let to_check = ReleaseToCheck {
        job,
        decision: &decision,
        written: &written,
        to: Some(to),
        observer,
    };
    let checked = to_check.checked(source).await?;
    Ok(Batch::Staged(Box::new(StagedRelease {
        decision,
        findings,
        written,
        checked,
    })))
}

/// Returns the decision about the classes. Returns `None` if the rows are to be added to a release,
/// but none of the rows can be added and all of them may be held back.
async fn added(job: &Arc<Job>, scanned: Scanned, observer: &Arc<dyn Observer>) -> Result<Option<Decision>> {
    let rows = scanned.sets.base().rows;
    let may_wait = job.output.grows().is_some() && job.guarantees.suppression.rows(rows) >= rows;
    let evaluator = match evaluator(job, scanned, observer).await {
        // Not even a class with all rows would satisfy the models.
        Err(e) if e.kind() == ErrorKind::Infeasible && may_wait => return Ok(None),
        evaluator => evaluator?,
    };
    let decision = decided(job, &evaluator, observer).await?;
    let adds = job.output.grows().is_none() || decision.verdict.classes > 0;
    Ok(adds.then_some(decision))
}

/// Extends the error of a batch that cannot be added: the text then also says that all rows of the
/// batch are held back for a later batch.
fn waiting(output: &Output, error: Error) -> Error {
    match output.grows() {
        Some(_) if error.kind() == ErrorKind::Infeasible => Error::infeasible(format!(
            "{}; nothing was added, and all rows of the batch wait. Waiting rows count as suppressed: allow more \
             with SUPPRESSING AT MOST",
            error.message()
        )),
        _ => error,
    }
}

/// Returns the known paths and URLs of the tables and files that a job reads. The files of a table
/// are left out.
fn sources(input: &Input) -> Vec<String> {
    let pins = &input.source.pins;
    let tables: Vec<String> = pins.versions().map(|version| version.name()).collect();
    let files = input.source.files.iter().map(|path| path.display().to_string());
    let files = files.chain(pins.objects().map(|(name, _)| name.to_string()));
    let files: Vec<String> = files
        .filter(|file| !pins.versions().any(|version| version.has_file(file)))
        .collect();
    [tables, files].concat()
}

/// Runs a checked job, and returns the recounted release as a table to query.
pub async fn release_rows(job: &Arc<Job>, observer: &Arc<dyn Observer>) -> Result<ReleasedRows> {
    let decision = decide_job(job, observer).await?;
    let findings = examine(job, &decision, observer).await?;
    let mut rewrite = rewrite(job, &decision, observer).await?;
    let source = SourceReading::begin(job, &decision, &mut rewrite)?;
    let written = keep_rows(job, &decision, rewrite, observer).await?;
    let to_check = ReleaseToCheck {
        job,
        decision: &decision,
        written: &written,
        to: None,
        observer,
    };
    let checked = to_check.checked(source).await?;
    publish_rows(RowsToPublish {
        job,
        decision: &decision,
        findings,
        written: &written,
        recounted: &checked.recounted,
        early: checked.early,
        observer,
    })
    .await
}

/// Returns the figures that the release of a job would have, without writing anything. Nothing is
/// recounted, so there are no checks. Returns `None` if the target exists and the statement keeps
/// it.
pub async fn foresee(job: &Arc<Job>, observer: &Arc<dyn Observer>) -> Result<Option<Release>> {
    let own = Arc::clone(job);
    if blocking("looking at the target", move || own.keeps_target()).await? {
        return Ok(None);
    }
    if let (Some(standing), Some(target)) = (job.output.grows(), &job.output.target) {
        let input = Inputs::of(job).all().await?;
        refuse_repeated(standing, (job.output.statement_sha256.as_str(), &input), target)?;
    }
    let decision = decide_job(job, observer).await?;
    let findings = examine(job, &decision, observer).await?;
    foresee_rewrite(job, &decision).await?;
    let release = Release::foreseen(job, (&decision, findings));
    observer.released(&release, job.output.target.as_ref().map(|t| t.path.as_path()));
    Ok(Some(release))
}

/// Reads the source, searches the lattice and decides.
pub async fn decide_job(job: &Arc<Job>, observer: &Arc<dyn Observer>) -> Result<Decision> {
    let scanned = scan(job, &detail_requests(job, &job.goal.metrics()), observer.as_ref()).await?;
    decided(job, &evaluator(job, scanned, observer).await?, observer).await
}

/// Decides about the classes, and then about the items of the rows that are released.
async fn decided(job: &Arc<Job>, evaluator: &Arc<Evaluator>, observer: &Arc<dyn Observer>) -> Result<Decision> {
    let decision = join(job, decide(job, evaluator, observer).await?).await?;
    with_items(job, decision, observer).await
}

/// Creates the evaluator of nodes on a blocking thread.
async fn evaluator(job: &Arc<Job>, scanned: Scanned, observer: &Arc<dyn Observer>) -> Result<Arc<Evaluator>> {
    observer.begin(Phase::Search);
    let own = Arc::clone(job);
    let evaluator = move || Evaluator::new(&own, scanned, &own.goal.metrics());
    Ok(Arc::new(blocking("preparing the search", evaluator).await?))
}

/// Returns the recounted figures of the rows that a job would release, and the values of `metrics`
/// on these rows. `metrics` must be the metrics of the evaluator. A value is `None` if it is
/// unknown because personal limits suppressed rows after the classes were counted.
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
