//! What a release adds to the log of its table.

use crate::error::Error;
use arrow::datatypes::SchemaRef;
use std::collections::BTreeMap;

/// The property that names the run of a release in the log entry of its commit. An entry without it
/// was written by another tool.
pub(crate) const RELEASE: &str = "anonsql.release";
/// The name of the manifest's text in a log entry. The properties of the table do not contain the
/// text, because other tools show and share them.
pub(super) const MANIFEST_TEXT: &str = "anonsql.manifest_text";

/// A written data file that the log will name.
#[derive(Debug, Clone)]
pub(crate) struct Addition {
    /// The path relative to the table.
    pub(crate) path: String,
    /// The size in bytes.
    pub(crate) bytes: u64,
    /// The value of each partition column, as text.
    pub(crate) partition: Vec<(String, Option<String>)>,
    /// The counts and bounds of the file's columns, in the form of the log.
    pub(crate) statistics: String,
}

/// The changes from one version of a table to the next.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    /// True if the files of the previous version are kept. If not, all of them are removed, and the
    /// columns may be different.
    pub(crate) adds: bool,
    /// The data files.
    pub(crate) additions: Vec<Addition>,
    /// The columns, including those of partitions, in types that a table can store
    /// ([`super::Entry::stored`]).
    pub(crate) schema: SchemaRef,
    /// The partition columns, outermost first.
    pub(crate) partitioned_by: Vec<String>,
    /// The properties that describe the release, for the table and for the entry of the commit.
    pub(crate) properties: BTreeMap<String, String>,
    /// The text of the manifest, which is written only to the entry of the commit.
    pub(crate) manifest: String,
}

/// The outcome of a commit.
#[derive(Debug)]
pub(crate) enum CommitOutcome {
    /// The log contains the entry.
    Committed,
    /// Another commit came first.
    Late,
    /// The log does not contain the entry.
    Failed(Error),
    /// It is not known whether the log contains the entry.
    Unknown(Error),
}
