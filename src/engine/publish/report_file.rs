//! The report of a release on its way: written first, seen last.
//!
//! What is in the report's place already is replaced, as any output file is. It appears only when the release it speaks of
//! is in place: until then it is a hidden file beside its place, or a part of the staged release.

use crate::engine::write::Stage;
use crate::error::{Error, Result};
use crate::job::{ReportFile, resolved};
use crate::report::Report;
use std::path::{Path, PathBuf};

/// A report that was written and is not in its place yet. Dropped, it leaves nothing.
#[derive(Debug)]
#[must_use]
pub struct StagedReport(Option<Stage>);

impl StagedReport {
    /// Writes the report where `file` says. Inside the target of `release` it is written to the folder that the release is
    /// staged in.
    pub(in crate::engine) fn of(
        file: &ReportFile,
        report: &Report,
        release: Option<(PathBuf, PathBuf)>,
    ) -> Result<Self> {
        let text = report.render(file.format())?;
        let failed = |e| Error::io(format!("cannot write the report {}", file.path().display()), e);
        if let Some((target, folder)) = release
            && let Some(name) = file.name_in(&target)?
        {
            std::fs::write(folder.join(name), text).map_err(failed)?;
            return Ok(Self(None));
        }
        Self::write(file.path(), &text)
    }

    /// Writes a file beside its place, where it is not seen yet.
    pub fn write(path: &Path, text: &str) -> Result<Self> {
        let stage = Stage::open(&resolved(path)?)?;
        let failed = |e| Error::io(format!("cannot write the report {}", path.display()), e);
        std::fs::write(stage.output(), text).map_err(failed)?;
        Ok(Self(Some(stage)))
    }

    /// Puts the report in its place, also where there is one.
    pub fn publish(self) -> Result<()> {
        self.0.map_or(Ok(()), Stage::publish_output)
    }
}
