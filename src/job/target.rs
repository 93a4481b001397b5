//! The target folder of a release.

use crate::error::{Error, ErrorKind};
use std::path::{Path, PathBuf};

/// The format of the files of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// Apache Parquet, compressed with zstd.
    #[default]
    Parquet,
    /// Comma-separated values with a header.
    Csv,
}

/// What to do if the target exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Existing {
    /// Fail, and keep the existing target.
    #[default]
    Fail,
    /// Replace the target in one step, once the new release is complete and verified.
    Overwrite,
    /// Keep the existing target, and release nothing.
    Skip,
}

/// The target folder of a release, with the format of its files.
#[derive(Debug, Clone)]
pub struct Target {
    /// The path of the folder.
    pub path: PathBuf,
    /// The format of the files.
    pub format: Format,
    /// The columns whose values become folder names.
    pub partitioned_by: Vec<String>,
    /// What to do if the target exists.
    pub existing: Existing,
    /// The most rows per file.
    pub rows_per_file: Option<u64>,
    /// Whether the manifest contains the statement with the literals of its queries.
    pub full_statement: bool,
}

impl Target {
    /// Returns true if the target exists and is to be replaced.
    pub(crate) fn replaces(&self) -> bool {
        self.existing == Existing::Overwrite && self.path.is_dir()
    }

    /// Returns true if the target exists and is to be kept.
    pub(crate) fn is_kept(&self) -> bool {
        self.existing == Existing::Skip && self.path.is_dir()
    }
}

/// Returns the error for a target that exists.
pub(crate) fn target_exists(path: &Path) -> Error {
    Error::new(
        ErrorKind::TargetExists,
        format!(
            "{} exists; add OVERWRITE to replace it, or IF NOT EXISTS to keep it",
            path.display()
        ),
    )
}
