//! Putting a release in its place: all that is said of it first, and then everything at once.

use super::manifest::manifest;
use super::release::Release;
use super::report::{Facts, Staged};
use super::report_file::StagedReport;
use crate::engine::decide::Decision;
use crate::engine::recount::Recounted;
use crate::engine::write::{ReleaseTable, Stage, Written, WrittenFile};
use crate::error::{Error, Result};
use crate::folder::FileSummary;
use crate::job::{Existing, Job, Target};
use crate::source::forget_files;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::task::JoinHandle;

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
pub(in crate::engine) struct Inputs(JoinHandle<Result<Vec<FileSummary>>>);

impl Inputs {
    /// Begins to sum up the files that a job reads.
    pub(in crate::engine) fn of(job: &Job) -> Self {
        let files = job.source.files.clone();
        Self(tokio::task::spawn_blocking(move || inputs(&files)))
    }
}

/// Writes the manifest and the report, and puts the release and its report in their places.
pub(in crate::engine) async fn publish(
    (job, target): (&Job, &Target),
    decision: &Decision,
    written: &Written,
    recounted: &Recounted,
    (stage, inputs): (Stage, Inputs),
) -> Result<Release> {
    let release = Release::new(job, decision, written, recounted)?;
    let inputs = inputs
        .0
        .await
        .map_err(|e| Error::from_task("summing up the input", &e))??;
    let (folder, files) = (stage.folder().to_path_buf(), written.files.clone());
    let outputs = blocking("summing up the output", move || outputs(&folder, &files)).await?;
    let manifest = manifest((job, target), decision, written, &release, inputs, outputs)?;
    manifest.write(stage.folder())?;
    let staged = Staged {
        target,
        stage: &stage,
        manifest: &manifest,
    };
    let report = report(job, decision, written, recounted, &release, Some(staged)).await?;
    job.check_unchanged().await?;
    let overwrite = target.existing == Existing::Overwrite;
    blocking("putting the release in its place", move || stage.publish(overwrite)).await?;
    // What the session remembers of the files that stood there is of no use to whoever reads the target next.
    forget_files(job.source.state().runtime_env());
    report.map_or(Ok(()), StagedReport::publish)?;
    Ok(release)
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
    job.check_unchanged().await?;
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
    let place = staged.as_ref().map(|s| (s.target.path.as_path(), s.stage));
    let facts = Facts {
        job,
        decision,
        written,
        recounted,
        release,
        staged,
    };
    StagedReport::of(file, &facts.report().await?, place).map(Some)
}

/// Runs what waits for files on a thread that may wait.
async fn blocking<T: Send + 'static>(what: &str, work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|e| Error::from_task(what, &e))?
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
