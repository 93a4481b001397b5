//! Refusals of report files.

use crate::error::{Error, Result};
use crate::folder::MANIFEST;
use crate::job::{Job, ReportFile, SourceTable, resolved};
use std::path::Path;

/// Refuses a path where the report of a job cannot be written, or would be taken for data.
pub(super) fn check(job: &Job, report: &ReportFile) -> Result<()> {
    let read: Vec<&SourceTable> = [&job.source].into_iter().chain(&job.population).collect();
    if report.object().is_some() {
        return check_object(job, report);
    }
    let folder = job.target.as_ref().filter(|t| t.stored.is_none());
    check_report(report, folder.map(|t| t.path.as_path()), &read)
}

/// Refuses an object under the prefix of the release: its readers would find what the manifest does not name.
fn check_object(job: &Job, report: &ReportFile) -> Result<()> {
    let stored = job.target.as_ref().and_then(|target| target.stored.as_ref());
    let url = report.path().display().to_string();
    match stored.is_some_and(|stored| url.starts_with(stored.prefix.url())) {
        true => Err(Error::usage(format!(
            "REPORT TO {url:?}: the release has its prefix there; write the report beside that prefix"
        ))),
        false => Ok(()),
    }
}

/// Refuses a path where the report of a statement cannot be written, or would be taken for data: `target` is the folder
/// that the statement writes, and `read` is what it reads.
pub(crate) fn check_report(report: &ReportFile, target: Option<&Path>, read: &[&SourceTable]) -> Result<()> {
    let refused = |why: String| {
        Err(Error::usage(format!(
            "REPORT TO {:?}: {why}",
            report.path().display().to_string()
        )))
    };
    if report.object().is_some() {
        return Ok(());
    }
    if report.path().is_dir() {
        return refused("this is a folder; name a file in it".into());
    }
    let own = resolved(report.path())?;
    let folder = own.parent().unwrap_or(Path::new("/"));
    let target = target.map(resolved).transpose()?;
    if let Some(target) = target.as_deref().filter(|t| own.starts_with(t) || t.starts_with(&own)) {
        let name = own
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_default();
        if folder != target {
            return refused("the release has its folder there; write the report beside that folder".into());
        }
        if !name.starts_with(['_', '.']) || name == MANIFEST {
            return refused(format!(
                "that is the folder of the release, where readers take every file for data unless its name begins with _; \
                 call it _{} or write it beside the folder",
                if name == MANIFEST { "report.json" } else { &name }
            )
            .replace("__", "_"));
        }
    }
    let created = target.as_deref().is_some_and(|t| t.starts_with(folder));
    if !folder.is_dir() && !created {
        return refused("its folder does not exist; create it first".into());
    }
    let others = folder.ancestors().filter(|f| Some(*f) != target.as_deref());
    if let Some(release) = others.into_iter().find(|f| f.join(MANIFEST).is_file()) {
        return refused(format!("it would be inside another release, {}", release.display()));
    }
    let mut files = read.iter().flat_map(|source| &source.files);
    if files.any(|f| f.canonicalize().is_ok_and(|f| f == own)) {
        return refused("the statement reads this file".into());
    }
    Ok(())
}
