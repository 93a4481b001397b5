//! The staged report of a release: written first, visible last.
//!
//! An existing file at the report's path is replaced, like any output file. The report appears only when its release
//! is in place. Until then it is a hidden file beside its path, a part of the staged release, or in memory if it becomes an
//! object, which is put whole.

use crate::engine::write::Stage;
use crate::error::{Error, Result};
use crate::job::ReportFile;
use crate::location::resolved;
use crate::report::Report;
use crate::store::SingleObject;
use std::path::{Path, PathBuf};
use tokio::runtime::Handle;

/// A report that is written and not published yet. Dropping it leaves no file.
#[derive(Debug)]
#[must_use]
pub struct StagedReport(Staged);

#[derive(Debug)]
enum Staged {
    /// A file of the staged release.
    InRelease,
    /// A hidden file beside its path.
    File(Stage),
    /// The text of an object.
    Object(SingleObject, String),
}

impl StagedReport {
    /// Writes the report to a stage beside the path of `file`. `release` is the target with its staging folder; a
    /// report inside the target is written to that folder.
    pub(in crate::engine) fn of(
        file: &ReportFile,
        report: &Report,
        release: Option<(PathBuf, PathBuf)>,
    ) -> Result<Self> {
        let text = file.secrets().hidden_in(&report.render(file.format())?);
        Self::of_text(file, text, release)
    }

    /// Writes the text of a report to its stage.
    pub fn of_text(file: &ReportFile, text: String, release: Option<(PathBuf, PathBuf)>) -> Result<Self> {
        if let Some(object) = file.object() {
            return Ok(Self(Staged::Object(object.clone(), text)));
        }
        let failed = |e| Error::io(format!("cannot write the report {}", file.path().display()), e);
        if let Some((target, folder)) = release
            && let Some(name) = file.name_in(&target)?
        {
            std::fs::write(folder.join(name), text).map_err(failed)?;
            return Ok(Self(Staged::InRelease));
        }
        Self::write(file.path(), &text)
    }

    /// Writes a file to a hidden stage beside `path`.
    pub fn write(path: &Path, text: &str) -> Result<Self> {
        let stage = Stage::open(&resolved(path)?)?;
        let failed = |e| Error::io(format!("cannot write {}", path.display()), e);
        std::fs::write(stage.output(), text).map_err(failed)?;
        Ok(Self(Staged::File(stage)))
    }

    /// Moves the report to its path, or puts it to its store, and replaces what is there. Runs where blocking work does.
    pub fn publish(self) -> Result<()> {
        match self.0 {
            Staged::InRelease => Ok(()),
            Staged::File(stage) => stage.publish_output(true),
            Staged::Object(object, text) => Handle::current().block_on(object.put(text)),
        }
    }
}
