//! The changes that a release commits to the log of its table.

use crate::base::error::Error;
use arrow::datatypes::SchemaRef;
use std::collections::BTreeMap;

/// The property that identifies the run of a release in the log entry of its commit. An entry
/// without this property was written by another tool.
pub(crate) const RELEASE: &str = "anonsql.release";
/// The key in a log entry under which the text of the manifest is stored. The properties of the
/// table do not contain this text, because other tools show and share the properties.
pub(super) const MANIFEST_TEXT: &str = "anonsql.manifest_text";

/// A written data file that is to be added to the log.
#[derive(Debug, Clone)]
pub(crate) struct Addition {
    /// The path of the file, relative to the table.
    pub(crate) path: String,
    /// The size of the file in bytes.
    pub(crate) bytes: u64,
    /// The names of the partition columns and their values as text; `None` is NULL.
    pub(crate) partition: Vec<(String, Option<String>)>,
    /// The counts and bounds of the columns in this file, in the format of the log.
    pub(crate) statistics: String,
}

/// The difference between one version of a table and the next.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    /// True if the files of the previous version remain. Otherwise, all of them are removed, and
    /// the columns may change.
    pub(crate) adds: bool,
    /// The new data files.
    pub(crate) additions: Vec<Addition>,
    /// All columns, including partition columns, with types that a table can store
    /// ([`super::Entry::stored`]).
    pub(crate) schema: SchemaRef,
    /// The partition columns, outermost first.
    pub(crate) partitioned_by: Vec<String>,
    /// The properties that describe the release. They are set on the table and in the log entry of
    /// the commit.
    pub(crate) properties: BTreeMap<String, String>,
    /// The text of the manifest, which is written only to the log entry of the commit.
    pub(crate) manifest: String,
}

/// The outcome of a commit.
#[derive(Debug)]
pub(crate) enum CommitOutcome {
    /// The log contains the entry.
    Committed,
    /// Another commit came first.
    Late,
    /// The commit failed: the log does not contain the entry.
    Failed(Error),
    /// It is not known whether the log contains the entry.
    Unknown(Error),
}
