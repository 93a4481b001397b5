//! Moving a release to its target: the manifest and the report are written first, then everything is published at
//! once.

use super::manifest::manifest;
use super::report::{Facts, Staged};
use super::report_file::StagedReport;
use crate::engine::decide::Decision;
use crate::engine::examine::Findings;
use crate::engine::observe::{Observer, Phase};
use crate::engine::recount::Recounted;
use crate::engine::release::Release;
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
pub(in crate::engine) struct Inputs(BoxFuture<'static, Result<Vec<FileSummary>>>);

impl Inputs {
    /// Starts to compute the sizes and checksums of the files that a job reads.
    pub(in crate::engine) fn of(job: &Job) -> Self {
        // The bytes of a file tell of every row in it.
        let files = match job.sampling() {
            None => job.source.files.clone(),
            Some(_) => vec![],
        };
        Self(blocking("summing up the input", move || inputs(&files)).boxed())
    }
}

/// Writes the manifest and the report, and moves the release and its report to their places.
pub(in crate::engine) async fn publish(
    (job, target): (&Job, &Target),
    (decision, findings): (&Decision, Findings),
    written: &Written,
    recounted: &Recounted,
    (stage, inputs): (Stage, Inputs),
    observer: &Arc<dyn Observer>,
) -> Result<Published> {
    observer.begin(Phase::Publish);
    let completed = complete(
        (job, target),
        (decision, findings),
        written,
        recounted,
        (&stage, inputs),
        observer,
    )
    .await;
    let (stage, (published, report)) = or_removed(stage, completed).await?;
    let ((stage, report), ()) = or_removed((stage, report), job.check_unchanged().await).await?;
    let (overwrite, state) = (target.existing == Existing::Overwrite, job.source.state());
    let publish = move || {
        stage.publish(overwrite)?;
        // The session's cached statistics and listings of the replaced files would be wrong for the next reader of
        // the target.
        forget_files(state.runtime_env());
        report.map_or(Ok(()), StagedReport::publish)
    };
    blocking("putting the release in its place", publish).await?;
    observer.released(&published.release, Some(&target.path));
    Ok(published)
}

/// Writes the manifest to the stage, and the report to a place where it is not visible yet.
async fn complete(
    (job, target): (&Job, &Target),
    (decision, findings): (&Decision, Findings),
    written: &Written,
    recounted: &Recounted,
    (stage, inputs): (&Stage, Inputs),
    observer: &Arc<dyn Observer>,
) -> Result<(Published, Option<StagedReport>)> {
    let release = Release::new(job, (decision, findings), written, recounted)?;
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
    let report = report(job, decision, written, recounted, (&release, Some(staged)), observer).await?;
    observer.begin(Phase::Publish);
    Ok((Published { release, manifest }, report))
}

/// Returns the rows that were kept, with a report that is published later.
pub(in crate::engine) async fn publish_rows(
    job: &Job,
    (decision, findings): (&Decision, Findings),
    written: &Written,
    recounted: &Recounted,
    observer: &Arc<dyn Observer>,
) -> Result<ReleasedRows> {
    observer.begin(Phase::Publish);
    let release = Release::new(job, (decision, findings), written, recounted)?;
    let report = report(job, decision, written, recounted, (&release, None), observer).await?;
    observer.begin(Phase::Publish);
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

/// Writes the report of a recounted release, if one was requested, to a place where it is not visible yet.
async fn report(
    job: &Job,
    decision: &Decision,
    written: &Written,
    recounted: &Recounted,
    (release, staged): (&Release, Option<Staged<'_>>),
    observer: &Arc<dyn Observer>,
) -> Result<Option<StagedReport>> {
    let Some(file) = &job.report else {
        return Ok(None);
    };
    observer.begin(Phase::Report);
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

/// Returns the sizes, checksums and row counts of the files that were written.
fn outputs(folder: &Path, written: &[WrittenFile]) -> Result<Vec<FileSummary>> {
    written
        .iter()
        .map(|w| FileSummary::of(&folder.join(&w.path), w.path.clone(), Some(w.rows)))
        .collect()
}
