//! The file for the report of a release.

use crate::error::{Error, Result};
use crate::location::expanded;
use crate::plain::Secrets;
use crate::report::Format;
use std::path::{Path, PathBuf};

/// The file for the report of a release, with its format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportFile {
    path: PathBuf,
    format: Format,
    /// What the report may not show.
    secrets: Secrets,
}

impl ReportFile {
    /// Creates the file of REPORT TO. Its extension decides the format of the report. Fails with `ErrorKind::Usage`
    /// for a URL.
    pub fn new(path: &str) -> Result<Self> {
        let path = expanded(path)?;
        if path.contains("://") {
            return Err(Error::usage(format!(
                "REPORT TO {path:?}: a report is a local file; write it here and copy it"
            )));
        }
        let path = PathBuf::from(path.as_ref());
        let format = Format::of(&path)?;
        Ok(Self {
            path,
            format,
            secrets: Secrets::default(),
        })
    }

    /// Returns the file of a report that shows none of these.
    pub fn hiding(self, secrets: &Secrets) -> Self {
        Self {
            secrets: secrets.clone(),
            ..self
        }
    }

    /// Returns what the report may not show.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the name of the report if it is written into the folder of the release at `target`.
    pub(crate) fn name_in(&self, target: &Path) -> Result<Option<String>> {
        let is_inside = resolved(&self.path)?.parent() == Some(resolved(target)?.as_path());
        let name = self.path.file_name().filter(|_| is_inside);
        Ok(name.map(|n| n.to_string_lossy().into_owned()))
    }

    /// Returns the format of the report.
    pub fn format(&self) -> Format {
        self.format
    }
}

/// Returns the absolute path without links and dots, as far as its folders exist.
pub(crate) fn resolved(path: &Path) -> Result<PathBuf> {
    let absolute = std::path::absolute(path).map_err(|e| Error::io(path.display(), e))?;
    for known in absolute.ancestors() {
        if let Ok(real) = known.canonicalize() {
            let rest = absolute.strip_prefix(known).unwrap_or(Path::new(""));
            // Joining an empty path would add a slash at the end.
            return Ok(if rest.as_os_str().is_empty() {
                real
            } else {
                real.join(rest)
            });
        }
    }
    Ok(absolute)
}
