//! Checks the file for a report.

use crate::base::error::{Error, Result};
use crate::base::location::{encoded, resolved};
use crate::base::sealed::check_replaced;
use crate::base::store::SingleObject;
use crate::data::folder::MANIFEST;
use crate::data::formats::is_log;
use crate::data::lake::is_folder_of_run;
use crate::release::job::{Job, ReportFile, SourceTable, Stored, Target};
use std::path::Path;

/// Fails if the report of a job cannot be written at its path, or if readers would take it for
/// data.
pub(super) fn check(job: &Job, report: &ReportFile) -> Result<()> {
    let read: Vec<&SourceTable> = [&job.input.source].into_iter().chain(&job.input.population).collect();
    check_report(report, job.output.target.as_ref(), &read)
}

/// Fails if the report would be an object in the prefix of a release, in the log of a table, or in
/// a folder with the files of a run. Fails also if the report would be an object that the statement
/// reads.
fn check_object(clause: &str, object: &SingleObject, stored: Option<&Stored>, read: &[&SourceTable]) -> Result<()> {
    let refused = |why: &str| Err(Error::usage(format!("{clause} {:?}: {why}", object.url())));
    if stored.is_some_and(|stored| stored.prefix.holds(object)) {
        return refused("the release has its prefix there; write the report beside that prefix");
    }
    if object.has_folder(is_of_table) {
        return refused(OF_TABLE);
    }
    let listed = object.listed();
    let is_read = |source: &&SourceTable| source.pins.objects().any(|(name, _)| name == listed);
    match read.iter().any(is_read) {
        true => refused("the statement reads this object"),
        false => Ok(()),
    }
}

const OF_TABLE: &str = "the files of a table or of a release are there; write the report beside its folder";

/// Returns true if a folder with this name contains the log of a table or the files of a run.
fn is_of_table(folder: &str) -> bool {
    is_log(folder) || is_folder_of_run(folder)
}

fn refusal(report: &ReportFile, why: &str) -> Error {
    Error::usage(format!(
        "{} {:?}: {why}",
        report.clause(),
        report.path().display().to_string()
    ))
}

fn check_is_not_read(report: &ReportFile, own: &Path, read: &[&SourceTable]) -> Result<()> {
    let mut files = read.iter().flat_map(|source| &source.files);
    if files.any(|f| f.canonicalize().is_ok_and(|f| f == own)) {
        return Err(refusal(report, "the statement reads this file"));
    }
    let url = own.to_str().map(|path| format!("file://{}", encoded(path.as_bytes())));
    let is_read = |source: &&SourceTable| {
        let is_alike = source.files.iter().any(|file| file.extension() == own.extension());
        is_alike && url.as_ref().is_some_and(|url| source.pins.would_read(url))
    };
    match read.iter().any(is_read) {
        true => Err(refusal(
            report,
            "the next run would read it as data: the source reads its folder; write it elsewhere",
        )),
        false => Ok(()),
    }
}

/// Fails if the report of a statement cannot be written at its path, or if readers would take it
/// for data. `target` is the target of the statement, and `read` contains the tables that the
/// statement reads.
pub(crate) fn check_report(report: &ReportFile, target: Option<&Target>, read: &[&SourceTable]) -> Result<()> {
    if let Some(object) = report.object() {
        return check_object(report.clause(), object, target.and_then(|t| t.stored.as_ref()), read);
    }
    let refused = |why: String| Err(refusal(report, &why));
    if report.path().is_dir() {
        return refused("this is a folder; name a file in it".into());
    }
    let own = resolved(report.path())?;
    let folder = own.parent().unwrap_or(Path::new("/"));
    let mut folders = folder.components().filter_map(|folder| folder.as_os_str().to_str());
    if folders.any(is_of_table) {
        return refused(OF_TABLE.into());
    }
    // The target of a local Delta table also has `stored`, like a target in an object store.
    let is_table = target.is_some_and(|t| t.stored.is_some());
    let target = target.and_then(Target::folder);
    let target = target.map(|folder| resolved(&folder)).transpose()?;
    if let Some(target) = target.as_deref().filter(|t| own.starts_with(t) || t.starts_with(&own)) {
        let name = own
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_default();
        if folder != target || is_table {
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
    check_is_not_read(report, &own, read)?;
    // A report in the folder of the release is replaced together with the release.
    match target.as_deref() == Some(folder) {
        true => Ok(()),
        false => check_replaced(&own, report.overwrites())
            .map(drop)
            .map_err(|e| e.context(report.clause())),
    }
}
