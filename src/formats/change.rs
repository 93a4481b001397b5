//! What a release adds to the log of its table.

use crate::error::Error;
use arrow::datatypes::SchemaRef;
use std::collections::BTreeMap;

/// Of what an entry says of a release, the property that names its run. An entry without it is of
/// another tool.
pub(crate) const RELEASE: &str = "anonsql.release";
/// What an entry calls the text of the manifest. The properties of the table do not have it: other
/// tools show and share them.
pub(super) const MANIFEST_TEXT: &str = "anonsql.manifest_text";

/// A data file that was written, and that the log is to name.
#[derive(Debug, Clone)]
pub(crate) struct Addition {
    /// The path relative to the table.
    pub(crate) path: String,
    /// The size in bytes.
    pub(crate) bytes: u64,
    /// The value of each partition column, as text.
    pub(crate) partition: Vec<(String, Option<String>)>,
    /// The counts and bounds of the file's columns, as the log has them.
    pub(crate) statistics: String,
}

/// What the next version of a table has that the one before does not.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    /// Whether the files of the version before stay. Otherwise all of them are removed, and the
    /// columns may be others.
    pub(crate) adds: bool,
    /// The data files.
    pub(crate) additions: Vec<Addition>,
    /// The columns, including those of partitions, in types that a table can hold
    /// ([`super::stored`]).
    pub(crate) schema: SchemaRef,
    /// The partition columns, outermost first.
    pub(crate) partitioned_by: Vec<String>,
    /// What the properties of the table, and the entry of the commit, say of the release.
    pub(crate) properties: BTreeMap<String, String>,
    /// The text of the manifest, which only the entry of the commit says.
    pub(crate) manifest: String,
}

/// What became of a commit.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// The log has it.
    Committed,
    /// Another commit came first.
    Late,
    /// The log does not have it.
    Failed(Error),
    /// Whether the log has it is not known.
    Unknown(Error),
}
