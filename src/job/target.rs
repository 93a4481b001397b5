//! Where a release goes.

use crate::error::{Error, ErrorKind};
use std::path::{Path, PathBuf};

/// The format of what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// Apache Parquet, compressed with zstd.
    #[default]
    Parquet,
    /// Comma-separated values with a header.
    Csv,
}

/// What to do when the target is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Existing {
    /// Fail, and leave it.
    #[default]
    Fail,
    /// Replace it, at once and only when the new one is complete and verified.
    Overwrite,
    /// Leave it, and do nothing.
    Skip,
}

/// Where the release goes.
#[derive(Debug, Clone)]
pub struct Target {
    /// The folder.
    pub path: PathBuf,
    /// The format of its files.
    pub format: Format,
    /// Columns whose values become folder names.
    pub partitioned_by: Vec<String>,
    /// What to do when it is there.
    pub existing: Existing,
    /// Rows a file, at most.
    pub rows_per_file: Option<u64>,
    /// Whether the manifest has the statement with the literals of its queries.
    pub full_statement: bool,
}

impl Target {
    /// Whether the target is there, and is to be left as it is.
    pub(crate) fn is_kept(&self) -> bool {
        self.existing == Existing::Skip && self.path.is_dir()
    }
}

/// The error for a target that is there already.
pub(crate) fn target_exists(path: &Path) -> Error {
    Error::new(
        ErrorKind::TargetExists,
        format!(
            "{} exists; add OVERWRITE to replace it, or IF NOT EXISTS to keep it",
            path.display()
        ),
    )
}
