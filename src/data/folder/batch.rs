//! The batches of a release to which APPEND adds rows.

use super::summary::{Check, named_once};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One batch of a release to which rows were appended: the rows that one run added, or, for the
/// first batch, the rows of the original release.
///
/// ```
/// let read: anonsql::manifest::Batch = serde_json::from_str(
///     r#"{"version": "0.1.0", "statement_sha256": "9f86d081", "node": {"age": 1}, "rows_in": 9, "rows_out": 7, "rows_waiting": 2,
///         "classes": 2, "reached_k": 3, "reached_k_of_all": 5, "checks": [], "files": 1}"#,
/// )?;
/// assert_eq!((read.rows_waiting, read.after), (2, None));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Batch {
    /// The version of anonsql that wrote the batch.
    pub version: String,
    /// SHA-256 of the full statement.
    pub statement_sha256: String,
    /// The run that wrote the batch; present if the release is in an object store.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run: Option<String>,
    /// The manifest checksum of the release to which the batch was added; absent for the first
    /// batch.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<String>,
    /// SHA-256 of the full statement and the files that it read; absent if it read no files.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source_sha256: Option<String>,
    /// The identity of the content of each file that the batch read, independent of the file's
    /// name: its SHA-256, or its identity in the object store.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub inputs: Vec<String>,
    /// The level of each quasi-identifier.
    #[serde(deserialize_with = "named_once")]
    pub node: BTreeMap<String, u8>,
    /// The number of rows read.
    pub rows_in: u64,
    /// The number of rows written.
    pub rows_out: u64,
    /// The number of rows that were held back for a later batch.
    pub rows_waiting: u64,
    /// The number of equivalence classes in the batch.
    pub classes: u64,
    /// The size of the smallest equivalence class in the batch alone.
    pub reached_k: Option<u64>,
    /// The size of the smallest equivalence class of the release, including this batch.
    pub reached_k_of_all: Option<u64>,
    /// The check of each promise on the batch alone.
    pub checks: Vec<Check>,
    /// The number of files of the batch. In the manifest's list of files, the files of a batch
    /// follow the files of earlier batches.
    pub files: u64,
}
