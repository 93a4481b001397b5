//! The file of a report: whether it may be written, and putting it in place at once.
//!
//! A report that is there already is replaced, as any output file is. It appears only when the release it speaks of is
//! in place: until then it is a hidden file beside its place, or a part of the staged release.

use super::job::{Job, Source};
use super::manifest::MANIFEST;
use super::stage::Stage;
use crate::error::{Error, Result};
use crate::report::{Format, Report};
use std::path::{Path, PathBuf};

/// Where the report of a release goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportFile {
    path: PathBuf,
    format: Format,
}

impl ReportFile {
    /// The file of REPORT TO; its extension is the form of the report.
    pub fn new(path: &str) -> Result<Self> {
        if path.contains("://") {
            return Err(Error::usage(format!(
                "REPORT TO {path:?}: a report is a local file; write it here and copy it"
            )));
        }
        let path = PathBuf::from(path);
        let format = Format::of(&path)?;
        Ok(Self { path, format })
    }

    /// Its path, as the statement has it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its name where it is written into the folder of the release at `target`.
    pub(super) fn name_in(&self, target: &Path) -> Result<Option<String>> {
        let is_inside = resolved(&self.path)?.parent() == Some(resolved(target)?.as_path());
        let name = self.path.file_name().filter(|_| is_inside);
        Ok(name.map(|n| n.to_string_lossy().into_owned()))
    }

    /// Fails where the report could not be written, before any work is done.
    pub(super) fn check(&self, job: &Job, target: Option<&Path>) -> Result<()> {
        let refused = |why: String| {
            Err(Error::usage(format!(
                "REPORT TO {:?}: {why}",
                self.path.display().to_string()
            )))
        };
        if self.path.is_dir() {
            return refused("this is a folder; name a file in it".into());
        }
        let own = resolved(&self.path)?;
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
        let read = |source: &Source| source.files.iter().any(|f| f.canonicalize().is_ok_and(|f| f == own));
        if read(&job.source) || job.population.as_ref().is_some_and(read) {
            return refused("the statement reads this file".into());
        }
        Ok(())
    }

    /// Writes the report where it is not seen yet. Inside the release's own folder it is staged with it.
    pub(super) fn stage(&self, report: &Report, release: Option<(&Path, &Stage)>) -> Result<StagedReport> {
        let text = report.render(self.format)?;
        let failed = |e| Error::io(format!("cannot write the report {}", self.path.display()), e);
        if let Some((target, stage)) = release
            && let Some(name) = self.name_in(target)?
        {
            std::fs::write(stage.folder().join(name), text).map_err(failed)?;
            return Ok(StagedReport(None));
        }
        StagedReport::write(&self.path, &text)
    }
}

/// A report that was written and is not in its place yet. Dropped, it leaves nothing.
#[derive(Debug)]
#[must_use]
pub struct StagedReport(Option<Stage>);

impl StagedReport {
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

/// The absolute path without links and dots, as far as its folders exist.
fn resolved(path: &Path) -> Result<PathBuf> {
    let absolute = std::path::absolute(path).map_err(|e| Error::io(path.display(), e))?;
    for known in absolute.ancestors() {
        if let Ok(real) = known.canonicalize() {
            let rest = absolute.strip_prefix(known).unwrap_or(Path::new(""));
            // Joining nothing would end the path in a slash.
            return Ok(if rest.as_os_str().is_empty() {
                real
            } else {
                real.join(rest)
            });
        }
    }
    Ok(absolute)
}
