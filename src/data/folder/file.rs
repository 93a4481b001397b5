//! Summaries of the files that a manifest lists.

use crate::base::error::{Error, Result};
use crate::base::pool::check_cancelled;
use crate::data::formats::{PinnedTable, is_table};
use datafusion::object_store::ObjectMeta;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Returns the SHA-256 of a text, in hexadecimal.
pub fn sha256(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}

/// The name, the size and the checksum of a file.
///
/// ```
/// let read: anonsql::manifest::FileSummary = serde_json::from_str(
///     r#"{"name": "part-0.parquet", "bytes": 1024, "sha256": "9f86d081", "rows": 100}"#,
/// )?;
/// assert!(read.rows == Some(100));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FileSummary {
    /// The name of an input file, the URL of an input object or of a Delta table, the catalog and
    /// name of a DuckLake table, or the path of an output file inside the target folder.
    pub name: String,
    /// The size of the file in bytes. For a Delta or DuckLake table, the size of all its files.
    pub bytes: u64,
    /// SHA-256 of the file's bytes, in hexadecimal; empty for an input object, which is identified
    /// by its e_tag and version.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub sha256: String,
    /// The e_tag of an object, which changes with its content. For a DuckLake table, a checksum of
    /// the ids of the rows that the catalog itself contains or marks as deleted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub e_tag: Option<String>,
    /// The version of an object in a store that keeps versions, the version of a Delta table, or
    /// the snapshot of a DuckLake table.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version: Option<String>,
    /// The number of rows of an output file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rows: Option<u64>,
}

impl FileSummary {
    /// Reads the file once to compute its size and checksum.
    #[doc(hidden)]
    pub fn of(path: &Path, name: String, rows: Option<u64>) -> Result<Self> {
        let failed = |e| Error::io(format!("cannot read {}", path.display()), e);
        let file = File::open(path).map_err(failed)?;
        Self::read(file, name, rows, failed)
    }

    /// Creates the summary of an object without reading the object.
    pub(crate) fn of_object(name: &str, meta: &ObjectMeta) -> Self {
        Self {
            name: name.into(),
            bytes: meta.size,
            sha256: String::new(),
            e_tag: meta.e_tag.clone(),
            version: meta.version.clone(),
            rows: None,
        }
    }

    /// Creates the summary of a version of a table. The files of the table have summaries of their
    /// own.
    pub(crate) fn of_table(table: &dyn PinnedTable) -> Self {
        Self {
            name: table.input(),
            bytes: table.bytes(),
            sha256: String::new(),
            e_tag: table.tag().map(Into::into),
            version: Some(table.version().to_string()),
            rows: None,
        }
    }

    /// Returns the fields that identify the file and its content, as one text. The version of a
    /// table is not included: every commit gives a Delta table a new version, and a commit to any
    /// table of a catalog gives each of its DuckLake tables a new version.
    fn content(&self) -> String {
        let version = self.version.as_ref().filter(|_| !self.is_table());
        let tags = [&self.e_tag, &version.cloned()].map(|tag| tag.as_deref().unwrap_or_default().to_string());
        format!("{:?} {} {} {tags:?}", self.name, self.bytes, self.sha256)
    }

    /// Returns the checksum of a statement and the files that it read; `None` if it read no files.
    pub(crate) fn source_sha256(statement_sha256: &str, files: &[Self]) -> Option<String> {
        let files: Vec<String> = files.iter().map(Self::content).collect();
        (!files.is_empty()).then(|| sha256(&format!("{statement_sha256} {}", files.join(", "))))
    }

    /// Returns the identity of the content; `None` if there is no identity. For a file or an
    /// object, the identity does not depend on the name and the location. A table has an identity
    /// only if its catalog stores rows or marks them as deleted. The files of a table have their
    /// own identities.
    pub(crate) fn identity(&self) -> Option<String> {
        let tag = self.e_tag.as_ref().map(|tag| tag.trim_matches('"'));
        match (self.sha256.is_empty(), self.is_table()) {
            (false, _) => Some(self.sha256.clone()),
            (true, true) => tag.map(|tag| format!("{} {tag}", self.name)),
            (true, false) => tag.map(|tag| format!("{tag} {}", self.bytes)),
        }
    }

    /// Returns true if the summary describes a version of a table.
    fn is_table(&self) -> bool {
        self.sha256.is_empty() && is_table(&self.name)
    }

    /// Reads `file` to its end to compute its size and checksum.
    pub(crate) fn read(
        mut file: impl Read,
        name: String,
        rows: Option<u64>,
        failed: impl Fn(io::Error) -> Error,
    ) -> Result<Self> {
        let (mut hash, mut bytes, mut buffer) = (Sha256::new(), 0, vec![0; 1 << 20]);
        loop {
            check_cancelled()?;
            let n = file.read(&mut buffer).map_err(&failed)?;
            if n == 0 {
                break;
            }
            hash.update(&buffer[..n]);
            bytes += n as u64;
        }
        Ok(Self {
            name,
            bytes,
            sha256: hex::encode(hash.finalize()),
            e_tag: None,
            version: None,
            rows,
        })
    }
}
