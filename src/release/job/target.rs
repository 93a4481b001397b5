//! The target folder of a release.

use super::report_file::ReportFile;
use super::waiting::Waiting;
use crate::base::error::{Error, ErrorKind, Result};
use crate::data::folder::Manifest;
use crate::data::formats::Entry;
use crate::data::lake::{Layout, Prefix, Standing};
use crate::data::signature::SigningKey;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The format of the files of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// Apache Parquet, compressed with zstd.
    #[default]
    Parquet,
    /// Comma-separated values with a header.
    Csv,
    /// A table of this format: Parquet files that are named in the table's log.
    Table(&'static Entry),
}

impl Format {
    /// Returns the extension of the file names.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Parquet | Self::Table(_) => "parquet",
            Self::Csv => "csv",
        }
    }
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
    /// Add the rows to the existing release in the target. The first such run creates the release.
    Append,
}

/// The target folder of a release, with the format of its files.
#[derive(Debug, Clone)]
pub struct Target {
    /// The path of the folder, or its URL in an object store.
    pub path: PathBuf,
    /// The prefix of the target if it is in an object store or is a Delta table; `None` for a local
    /// folder.
    pub stored: Option<Stored>,
    /// The format of the files.
    pub format: Format,
    /// The partition columns, whose values are encoded in folder names.
    pub partitioned_by: Vec<String>,
    /// What to do if the target exists.
    pub existing: Existing,
    /// The release to which the rows are added (APPEND), in the state that it had when the request
    /// was bound.
    pub grows: Option<Arc<Manifest>>,
    /// Whether files that an earlier batch of the release read may be read again (APPEND).
    pub read_again: bool,
    /// The folder for rows that are held back (APPEND); `None` if the statement does not name one.
    pub waiting: Option<Waiting>,
    /// The maximum number of rows per file.
    pub rows_per_file: Option<u64>,
    /// The approximate number of bytes per file.
    pub file_size: Option<u64>,
    /// Whether the footers of Parquet files name the release and its models.
    pub footer: bool,
    /// The private key that signs the manifest.
    pub(crate) key: Option<Arc<SigningKey>>,
    /// Whether the manifest contains the statement with the literals of its queries.
    pub full_statement: bool,
}

/// A target in an object store, or a Delta table wherever it is.
#[derive(Debug, Clone)]
pub struct Stored {
    /// The prefix.
    pub(crate) prefix: Prefix,
    /// The layout of the files under the prefix.
    pub(crate) layout: Layout,
    /// The release that existed when the request was bound. Only this release may be replaced.
    pub(crate) standing: Option<Arc<Standing>>,
}

impl Target {
    /// Returns true if the target exists and is to be replaced.
    pub(crate) fn replaces(&self) -> bool {
        self.existing == Existing::Overwrite && self.exists()
    }

    /// Returns the error for a run that another run overtook. The kind of the error and its advice
    /// depend on `existing`.
    pub(crate) fn late(&self) -> Error {
        let (kind, advice) = match self.existing {
            Existing::Fail => (
                ErrorKind::TargetExists,
                "add OVERWRITE to replace it, or IF NOT EXISTS to keep it",
            ),
            Existing::Skip => (
                ErrorKind::Unavailable,
                "run it again: IF NOT EXISTS keeps that release if it is whole",
            ),
            Existing::Overwrite => (ErrorKind::Unavailable, "run it again if it is to replace that release"),
            Existing::Append => (ErrorKind::Unavailable, "run it again to add the rows to that release"),
        };
        Error::new(
            kind,
            format!(
                "another run released to {} in the meantime; its release is kept, and nothing of this run was \
                 published; {advice}",
                self.path.display()
            ),
        )
    }

    fn exists(&self) -> bool {
        match &self.stored {
            Some(stored) => stored.standing.is_some(),
            None => self.path.is_dir(),
        }
    }

    /// Returns the local folder that is written; `None` if the target is in an object store.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        match &self.stored {
            Some(stored) => stored.prefix.place().local(),
            None => Some(self.path.clone()),
        }
    }

    /// Returns the manifest of the release in the target, if there is one.
    pub(crate) fn manifest(&self) -> Result<Option<Manifest>> {
        match &self.stored {
            Some(stored) => Ok(stored.standing.as_ref().map(|standing| standing.manifest.clone())),
            None => Manifest::read(&self.path),
        }
    }

    /// Returns the name of a report if it is written into the folder of the release.
    pub(crate) fn name_of(&self, report: &ReportFile) -> Result<Option<String>> {
        match self.stored {
            Some(_) => Ok(None),
            None => report.name_in(&self.path),
        }
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
