//! Putting a release in its place: all that is said of it first, and then everything at once.

use super::manifest::manifest;
use super::release::Release;
use super::report::{Facts, Staged};
use super::report_file::StagedReport;
use crate::engine::decide::Decision;
use crate::engine::recount::Recounted;
use crate::engine::write::{ReleaseTable, Stage, Written, WrittenFile, or_removed};
use crate::error::{Error, Result};
use crate::folder::{FileSummary, Manifest};
use crate::job::{Existing, Job, Target};
use crate::pool::blocking;
use crate::source::forget_files;
use futures::FutureExt;
use futures::future::BoxFuture;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A release that is in its place, and the manifest beside it.
#[derive(Debug)]
pub struct Published {
    /// The figures.
    pub release: Release,
    /// The manifest.
    pub manifest: Manifest,
}

/// Rows that were released, and what is said of them.
#[derive(Debug)]
pub struct ReleasedRows {
    /// The figures.
    pub release: Release,
    /// The rows.
    pub table: ReleaseTable,
    /// The report, which is published once the rows are where they belong.
    pub report: Option<StagedReport>,
}

/// Size and checksum of the files that are read, summed up while they are.
pub(in crate::engine) struct Inputs(BoxFuture<'static, Result<Vec<FileSummary>>>);

impl Inputs {
    /// Begins to sum up the files that a job reads.
    pub(in crate::engine) fn of(job: &Job) -> Self {
        let files = job.source.files.clone();
        Self(blocking("summing up the input", move || inputs(&files)).boxed())
    }
}

/// Writes the manifest and the report, and puts the release and its report in their places.
pub(in crate::engine) async fn publish(
    (job, target): (&Job, &Target),
    decision: &Decision,
    written: &Written,
    recounted: &Recounted,
    (stage, inputs): (Stage, Inputs),
) -> Result<Published> {
    let completed = complete((job, target), decision, written, recounted, (&stage, inputs)).await;
    let (stage, (published, report)) = or_removed(stage, completed).await?;
    let ((stage, report), ()) = or_removed((stage, report), job.check_unchanged().await).await?;
    let (overwrite, state) = (target.existing == Existing::Overwrite, job.source.state());
    let publish = move || {
        stage.publish(overwrite)?;
        // What the session remembers of the files that stood there is of no use to whoever reads the target next.
        forget_files(state.runtime_env());
        report.map_or(Ok(()), StagedReport::publish)
    };
    blocking("putting the release in its place", publish).await?;
    Ok(published)
}

/// Writes the manifest to the stage, and the report where it is not seen yet.
async fn complete(
    (job, target): (&Job, &Target),
    decision: &Decision,
    written: &Written,
    recounted: &Recounted,
    (stage, inputs): (&Stage, Inputs),
) -> Result<(Published, Option<StagedReport>)> {
    let release = Release::new(job, decision, written, recounted)?;
    let inputs = inputs.0.await?;
    let (folder, files) = (stage.folder().to_path_buf(), written.files.clone());
    let outputs = blocking("summing up the output", move || outputs(&folder, &files)).await?;
    let manifest = manifest((job, target), decision, written, &release, inputs, outputs)?;
    let folder = stage.folder().to_path_buf();
    let write = move || manifest.write(&folder).map(|()| manifest);
    let manifest = blocking("writing the manifest", write).await?;
    let staged = Staged {
        target,
        stage,
        manifest: &manifest,
    };
    let report = report(job, decision, written, recounted, &release, Some(staged)).await?;
    Ok((Published { release, manifest }, report))
}

/// Hands out the rows that were kept, with a report that waits for them.
pub(in crate::engine) async fn publish_rows(
    job: &Job,
    decision: &Decision,
    written: &Written,
    recounted: &Recounted,
) -> Result<ReleasedRows> {
    let release = Release::new(job, decision, written, recounted)?;
    let report = report(job, decision, written, recounted, &release, None).await?;
    let report = or_removed(report, job.check_unchanged().await).await?.0;
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

/// Writes the report of a recounted release, if one was asked for, where it is not seen yet.
async fn report(
    job: &Job,
    decision: &Decision,
    written: &Written,
    recounted: &Recounted,
    release: &Release,
    staged: Option<Staged<'_>>,
) -> Result<Option<StagedReport>> {
    let Some(file) = &job.report else {
        return Ok(None);
    };
    let place = staged.as_ref();
    let place = place.map(|s| (s.target.path.clone(), s.stage.folder().to_path_buf()));
    let facts = Facts {
        job,
        decision,
        written,
        recounted,
        release,
        staged,
    };
    let (file, report) = (file.clone(), facts.report().await?);
    blocking("writing the report", move || StagedReport::of(&file, &report, place))
        .await
        .map(Some)
}

/// Size and checksum of the files that were read.
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

/// Size, checksum and rows of the files that were written.
fn outputs(folder: &Path, written: &[WrittenFile]) -> Result<Vec<FileSummary>> {
    written
        .iter()
        .map(|w| FileSummary::of(&folder.join(&w.path), w.path.clone(), Some(w.rows)))
        .collect()
}
