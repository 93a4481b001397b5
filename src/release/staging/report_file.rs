//! The staged report of a release, which becomes visible after the release.
//!
//! A file at the report's path is replaced if a statement wrote it, or if OVERWRITE is given. The
//! report becomes visible only when its release is published. Until then it is a hidden file beside
//! its path, or a part of the staged release. A report that becomes an object in an object store is
//! kept in memory, because the object is written in one request.

use super::stage::Stage;
use crate::base::error::{Error, Result};
use crate::base::location::resolved;
use crate::base::sealed::{Form, check_replaced, sealed};
use crate::base::store::SingleObject;
use crate::release::job::ReportFile;
use crate::release::report::{Report, ReportFormat};
use std::path::{Path, PathBuf};
use tokio::runtime::Handle;

/// A report that is written but not published. Dropping it leaves no file.
#[derive(Debug)]
#[must_use]
pub struct StagedReport(Staged);

#[derive(Debug)]
enum Staged {
    /// A file of the staged release.
    InRelease,
    /// A hidden file beside the path of the report. If the flag is true, the report may replace a
    /// file that no statement wrote.
    File(Stage, PathBuf, bool),
    /// The text of an object, with a flag of the same meaning.
    Object(SingleObject, String, bool),
}

impl StagedReport {
    /// Writes the report to a stage beside the path of `file`. `release` contains the target and
    /// its staging folder. A report inside the target is written to the staging folder.
    pub(crate) fn of(file: &ReportFile, report: &Report, release: Option<(PathBuf, PathBuf)>) -> Result<Self> {
        let text = file.secrets().hidden_in(&report.render(file.format())?);
        Self::of_text(file, text, release)
    }

    /// Writes a report that is already text to a stage beside the path of `file`. `release`
    /// contains the target and its staging folder. A report inside the target is written to the
    /// staging folder.
    pub fn of_text(file: &ReportFile, text: String, release: Option<(PathBuf, PathBuf)>) -> Result<Self> {
        let form = match file.format() {
            ReportFormat::Json => Form::Json,
            ReportFormat::Html | ReportFormat::Markdown => Form::Markup,
        };
        let text = sealed(text, form);
        if let Some(object) = file.object() {
            return Ok(Self(Staged::Object(object.clone(), text, file.overwrites())));
        }
        let failed = |e| Error::io(format!("cannot write the report {}", file.path().display()), e);
        if let Some((target, folder)) = release
            && let Some(name) = file.name_in(&target)?
        {
            std::fs::write(folder.join(name), text).map_err(failed)?;
            return Ok(Self(Staged::InRelease));
        }
        Self::write(file.path(), text, file.overwrites())
    }

    /// Writes a sealed file to a hidden stage beside `path`. If `overwrite` is true, publishing may
    /// also replace a file that no statement wrote.
    pub fn write(path: &Path, text: String, overwrite: bool) -> Result<Self> {
        let place = resolved(path)?;
        let stage = Stage::open(&place)?;
        let failed = |e| Error::io(format!("cannot write {}", path.display()), e);
        std::fs::write(stage.output(), text).map_err(failed)?;
        Ok(Self(Staged::File(stage, place, overwrite)))
    }

    /// Moves the report to its path, or writes it to its object store. Fails with
    /// `ErrorKind::TargetExists` if a file or object that may not be replaced now exists there.
    /// Must be called where blocking is allowed.
    pub fn publish(self) -> Result<()> {
        match self.0 {
            Staged::InRelease => Ok(()),
            Staged::File(stage, place, overwrite) => {
                let is_there = check_replaced(&place, overwrite)?;
                stage.publish_output(is_there || overwrite)
            }
            Staged::Object(object, text, overwrite) => Handle::current().block_on(object.put(text, overwrite)),
        }
    }
}
