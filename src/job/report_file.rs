//! Where the report of a release goes.

use crate::error::{Error, Result};
use crate::report::Format;
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
    pub(crate) fn name_in(&self, target: &Path) -> Result<Option<String>> {
        let is_inside = resolved(&self.path)?.parent() == Some(resolved(target)?.as_path());
        let name = self.path.file_name().filter(|_| is_inside);
        Ok(name.map(|n| n.to_string_lossy().into_owned()))
    }

    /// The form of the report.
    pub fn format(&self) -> Format {
        self.format
    }
}

/// The absolute path without links and dots, as far as its folders exist.
pub(crate) fn resolved(path: &Path) -> Result<PathBuf> {
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
