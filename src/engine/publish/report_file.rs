//! The staged report of a release: written first, visible last.
//!
//! An existing file at the report's path is replaced, like any output file. The report appears only when its release
//! is in place. Until then it is a hidden file beside its path, or a part of the staged release.

use crate::engine::write::Stage;
use crate::error::{Error, Result};
use crate::job::{ReportFile, resolved};
use crate::report::Report;
use std::path::{Path, PathBuf};

/// A report that is written and not published yet. Dropping it leaves no file.
#[derive(Debug)]
#[must_use]
pub struct StagedReport(Option<Stage>);

impl StagedReport {
    /// Writes the report to a stage beside the path of `file`. `release` is the target with its staging folder; a
    /// report inside the target is written to that folder.
    pub(in crate::engine) fn of(
        file: &ReportFile,
        report: &Report,
        release: Option<(PathBuf, PathBuf)>,
    ) -> Result<Self> {
        let text = file.secrets().hidden_in(&report.render(file.format())?);
        let failed = |e| Error::io(format!("cannot write the report {}", file.path().display()), e);
        if let Some((target, folder)) = release
            && let Some(name) = file.name_in(&target)?
        {
            std::fs::write(folder.join(name), text).map_err(failed)?;
            return Ok(Self(None));
        }
        Self::write(file.path(), &text)
    }

    /// Writes a file to a hidden stage beside `path`.
    pub fn write(path: &Path, text: &str) -> Result<Self> {
        let stage = Stage::open(&resolved(path)?)?;
        let failed = |e| Error::io(format!("cannot write {}", path.display()), e);
        std::fs::write(stage.output(), text).map_err(failed)?;
        Ok(Self(Some(stage)))
    }

    /// Moves the report to its path, and replaces an existing file there.
    pub fn publish(self) -> Result<()> {
        self.0.map_or(Ok(()), |stage| stage.publish_output(true))
    }
}
