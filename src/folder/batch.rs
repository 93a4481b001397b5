//! The batches of a release that grows.

use super::manifest::{Manifest, sha256};
use super::summary::{Check, named_once};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One batch of a release that grew: what was added to it by one run, or what it began with.
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
    /// The run that wrote the batch, if the release is in an object store.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run: Option<String>,
    /// The checksum in the manifest of the release that the batch was added to; absent for the first batch.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<String>,
    /// SHA-256 of the full statement with the files that it read; absent if it read none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source_sha256: Option<String>,
    /// The level of each quasi-identifier.
    #[serde(deserialize_with = "named_once")]
    pub node: BTreeMap<String, u8>,
    /// The number of rows read.
    pub rows_in: u64,
    /// The number of rows written.
    pub rows_out: u64,
    /// The number of rows that were written nowhere and wait.
    pub rows_waiting: u64,
    /// The number of equivalence classes of the batch.
    pub classes: u64,
    /// The size of the smallest class of the batch alone.
    pub reached_k: Option<u64>,
    /// The size of the smallest class of the release with this batch.
    pub reached_k_of_all: Option<u64>,
    /// The check of each promise on the batch alone.
    pub checks: Vec<Check>,
    /// The number of its files, which follow those of the batches before in the list of files.
    pub files: u64,
}

impl Manifest {
    /// Returns the only batch of a release that did not grow yet, or the last one as if it were alone.
    pub(crate) fn as_batch(&self) -> Batch {
        Batch {
            version: self.version.clone(),
            statement_sha256: self.statement_sha256.clone(),
            run: self.run.clone(),
            after: None,
            source_sha256: self.source_sha256(),
            node: self.node.clone(),
            rows_in: self.rows_in.unwrap_or(self.rows_out),
            rows_out: self.rows_out,
            rows_waiting: self.rows_suppressed.unwrap_or(0),
            classes: self.classes,
            reached_k: self.reached_k,
            reached_k_of_all: self.reached_k,
            checks: self.checks.clone(),
            files: self.output.len() as u64,
        }
    }

    /// Returns the checksum of the statement with the files that it read; `None` if it read none.
    fn source_sha256(&self) -> Option<String> {
        let files = self.input.iter().map(|f| {
            let tags = [&f.e_tag, &f.version].map(|tag| tag.as_deref().unwrap_or_default());
            format!("{:?} {} {} {tags:?}", f.name, f.bytes, f.sha256)
        });
        let files: Vec<String> = files.collect();
        (!files.is_empty()).then(|| sha256(&format!("{} {}", self.statement_sha256, files.join(", "))))
    }

    /// Returns true if a batch of this release read the same files with the same statement as `other` does.
    pub(crate) fn has_batch_of(&self, other: &Self) -> bool {
        let own = other.source_sha256();
        own.is_some() && self.all_batches().iter().any(|batch| batch.source_sha256 == own)
    }

    /// Returns the batches of the release, oldest first. A release that did not grow is one batch.
    pub(crate) fn all_batches(&self) -> Vec<Batch> {
        match self.batches.is_empty() {
            true => vec![self.as_batch()],
            false => self.batches.clone(),
        }
    }
}
