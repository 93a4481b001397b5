//! The publication of a release: the manifest and the report are written first, and then the
//! release is moved to its target in one step.

use super::change::change;
use super::grown::grown;
use super::manifest::{ToDescribe, manifest};
use super::repeated;
use super::report::{EarlyMeasures, ReleaseFacts, Staged};
use crate::base::error::{Error, Result};
use crate::base::pool::blocking;
use crate::data::folder::{FileSummary, Manifest, sha256};
use crate::data::formats::Change;
use crate::data::source::forget_files;
use crate::release::engine::decide::Decision;
use crate::release::engine::examine::Findings;
use crate::release::engine::verify::{Recounted, Union};
use crate::release::engine::waiting::put_rest;
use crate::release::engine::write::{ReleaseTable, Staging, Written};
use crate::release::job::{Existing, Format, Job, Target};
use crate::release::observe::{Growth, Release};
use crate::release::observe::{Observer, Phase};
use crate::release::staging::StagedReport;
use crate::release::staging::or_removed;
use futures::FutureExt;
use futures::future::BoxFuture;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The outcome of a run for a target.
#[derive(Debug)]
pub enum Placed {
    /// The release is in its target.
    Published(Box<Published>),
    /// The target exists and the statement keeps it.
    Kept,
    /// No row could be added to the existing release (APPEND). The release is unchanged, and this
    /// number of rows is held back for a later batch.
    Waiting(u64),
}

/// A published release, with the manifest beside it.
#[derive(Debug)]
pub struct Published {
    /// The figures of the release.
    pub release: Release,
    /// The manifest of the release.
    pub manifest: Manifest,
}

/// Released rows, with their figures and report.
#[derive(Debug)]
pub struct ReleasedRows {
    /// The figures of the release.
    pub release: Release,
    /// The released rows.
    pub table: ReleaseTable,
    /// The report, to be published once the rows are in their target.
    pub report: Option<StagedReport>,
}

/// The sizes and checksums of the input files, computed in the background while the files are read.
pub(in crate::release::engine) struct Inputs(BoxFuture<'static, Result<Vec<FileSummary>>>);

impl Inputs {
    /// Waits for the sizes and checksums, and returns them.
    pub(in crate::release::engine) async fn all(self) -> Result<Vec<FileSummary>> {
        self.0.await
    }

    /// Starts to compute the sizes and checksums of the files that a job reads.
    pub(in crate::release::engine) fn of(job: &Job) -> Self {
        // The manifest of a sample names no input files, because the size and checksum of a file
        // depend on every row.
        let source = Some(&job.input.source).filter(|_| job.guarantees.sampling().is_none());
        let files = source.map(|source| source.files.clone()).unwrap_or_default();
        let objects = source.into_iter().flat_map(|source| source.pins.objects());
        let objects = objects.map(|(name, meta)| FileSummary::of_object(name, meta));
        let tables = source.into_iter().flat_map(|source| source.pins.versions());
        let tables: Vec<FileSummary> = tables.map(FileSummary::of_table).collect();
        let objects: Vec<FileSummary> = objects.collect();
        let summed = move || Ok([tables, inputs(&files)?, objects].concat());
        Self(blocking("summing up the input", summed).boxed())
    }
}

/// A release that was written and recounted, with what its publication needs.
pub(in crate::release::engine) struct ToPublish<'a> {
    pub(in crate::release::engine) job: &'a Job,
    pub(in crate::release::engine) target: &'a Target,
    pub(in crate::release::engine) decision: &'a Decision,
    pub(in crate::release::engine) findings: Findings,
    pub(in crate::release::engine) written: &'a Written,
    pub(in crate::release::engine) recounted: &'a Recounted,
    /// The recount of all rows of a release that grows.
    pub(in crate::release::engine) union: Option<&'a Union>,
    pub(in crate::release::engine) inputs: Inputs,
    /// The figures of the report that were measured while the release was recounted.
    pub(in crate::release::engine) early: Result<EarlyMeasures>,
    pub(in crate::release::engine) observer: &'a Arc<dyn Observer>,
}

/// Writes the manifest and the report, and moves the release and its report to their final
/// locations.
pub(in crate::release::engine) async fn publish(parts: ToPublish<'_>, stage: Staging) -> Result<Published> {
    let ToPublish {
        job,
        target,
        decision,
        observer,
        ..
    } = parts;
    observer.begin(Phase::Publish);
    let completed = complete(parts, &stage).await;
    let (stage, (published, report)) = or_removed(stage, completed).await?;
    let ((stage, report), ()) = or_removed((stage, report), job.input.check_unchanged().await).await?;
    let (published, text, change) = published;
    let suppressed = published.release.rows_suppressed;
    let rest = put_rest((job, target), decision, &text, suppressed).await;
    let ((stage, report), rest) = or_removed((stage, report), rest).await?;
    let ((stage, report), ()) = or_removed((stage, report), job.input.check_unchanged().await).await?;
    let state = job.input.source.state();
    let then = move || {
        // Without this call, the next reader of the target would get the session's cached
        // statistics and listings of the replaced files.
        forget_files(state.runtime_env());
        let published = report.map_or(Ok(()), StagedReport::publish);
        published.map_err(|e| e.context("the release is in place, but not its report"))
    };
    stage.publish(target, (text, change), then).await?;
    if let Some((waiting, own)) = rest {
        waiting.clear(&own).await;
    }
    observer.released(&published.release, Some(&target.path));
    observer.published(&published.release, &published.manifest);
    Ok(published)
}

/// Writes the manifest to the stage, and the report to a location where it is not visible yet.
async fn complete(
    parts: ToPublish<'_>,
    stage: &Staging,
) -> Result<((Published, String, Option<Change>), Option<StagedReport>)> {
    let ToPublish {
        job,
        target,
        decision,
        findings,
        written,
        recounted,
        union,
        inputs,
        early,
        observer,
    } = parts;
    let mut release = Release::new(job, (decision, findings), written, recounted)?;
    let input = inputs.all().await?;
    let output = stage.outputs(&written.files).await?;
    let manifest = manifest(ToDescribe {
        job,
        target,
        decision,
        written,
        release: &release,
        input,
        run: stage.run().and_then(|run| run.id()).map(String::from),
        output,
    })?;
    let manifest = match union {
        Some(union) => of_all_batches(manifest, union, target)?,
        None => manifest,
    };
    let manifest = match &target.key {
        Some(key) => manifest.signed(key)?,
        None => manifest,
    };
    release.growth = (target.existing == Existing::Append).then(|| Growth::of(&manifest));
    let text = stage.write_manifest(&manifest).await?;
    let staged = Staged {
        target,
        folder: stage.folder(),
        manifest: &manifest,
        manifest_sha256: sha256(&text),
    };
    let facts = ReleaseFacts {
        job,
        decision,
        written,
        recounted,
        release: &release,
        staged: Some(staged),
    };
    let report = report(&facts, early, observer).await?;
    observer.begin(Phase::Publish);
    let change = match target.format {
        Format::Table(_) => Some(change(target, written, (&manifest, &text))?),
        Format::Parquet | Format::Csv => None,
    };
    Ok(((Published { release, manifest }, text, change), report))
}

/// Returns the manifest of a release after a batch was added to it. `manifest` is the manifest of
/// the batch. Fails if the same batch was added before.
fn of_all_batches(manifest: Manifest, union: &Union, target: &Target) -> Result<Manifest> {
    let own = (manifest.statement_sha256.as_str(), &manifest.input[..]);
    repeated::refuse(&union.standing, own, target)?;
    let mut grown = grown(manifest, union);
    let waited = target.waiting.as_ref().and_then(|waiting| waiting.rows.as_ref());
    if let (Some(batch), Some(rows)) = (grown.batches.last_mut(), waited) {
        batch.inputs.extend(rows.taken.inputs.iter().cloned());
    }
    Ok(grown)
}

/// A release whose rows were kept and recounted, with what its publication needs.
pub(in crate::release::engine) struct RowsToPublish<'a> {
    pub(in crate::release::engine) job: &'a Job,
    pub(in crate::release::engine) decision: &'a Decision,
    pub(in crate::release::engine) findings: Findings,
    pub(in crate::release::engine) written: &'a Written,
    pub(in crate::release::engine) recounted: &'a Recounted,
    /// The figures of the report that were measured while the release was recounted.
    pub(in crate::release::engine) early: Result<EarlyMeasures>,
    pub(in crate::release::engine) observer: &'a Arc<dyn Observer>,
}

/// Returns the rows that were kept, with a report that is published later.
pub(in crate::release::engine) async fn publish_rows(parts: RowsToPublish<'_>) -> Result<ReleasedRows> {
    let RowsToPublish {
        job,
        decision,
        findings,
        written,
        recounted,
        early,
        observer,
    } = parts;
    observer.begin(Phase::Publish);
    let release = Release::new(job, (decision, findings), written, recounted)?;
    let facts = ReleaseFacts {
        job,
        decision,
        written,
        recounted,
        release: &release,
        staged: None,
    };
    let report = report(&facts, early, observer).await?;
    observer.begin(Phase::Publish);
    let report = or_removed(report, job.input.check_unchanged().await).await?.0;
    let rows = written
        .rows
        .as_ref()
        .ok_or_else(|| Error::internal("rows that were released were not kept"))?;
    let is_shown = |column: &str| !written.beside.iter().any(|b| b == column);
    Ok(ReleasedRows {
        release,
        table: ReleaseTable::try_new(Arc::clone(rows), is_shown)?,
        report,
    })
}

/// Writes the report of a recounted release, if one was requested, to a location where it is not
/// visible yet. `early` are the figures that were measured while the release was recounted.
async fn report(
    facts: &ReleaseFacts<'_>,
    early: Result<EarlyMeasures>,
    observer: &Arc<dyn Observer>,
) -> Result<Option<StagedReport>> {
    let Some(file) = &facts.job.output.report else {
        return Ok(None);
    };
    observer.begin(Phase::Report);
    let measures = match early? {
        EarlyMeasures::Measured(measures) => *measures,
        EarlyMeasures::Unmeasured(known) => facts.to_measure().measured(known.as_ref()).await?,
    };
    let place = facts.staged.as_ref();
    let place = place.and_then(|s| Some((s.target.path.clone(), s.folder?.to_path_buf())));
    let (file, report) = (file.clone(), facts.report(measures)?);
    blocking("writing the report", move || StagedReport::of(&file, &report, place))
        .await
        .map(Some)
}

/// Returns the sizes and checksums of the files that were read.
fn inputs(files: &[PathBuf]) -> Result<Vec<FileSummary>> {
    let name = |path: &Path| {
        path.file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_default()
    };
    files
        .iter()
        .map(|path| FileSummary::of(path, name(path), None))
        .collect()
}
