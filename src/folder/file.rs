//! The files of a manifest.

use crate::error::{Error, Result};
use crate::formats::{PinnedTable, is_table};
use crate::pool::check_cancelled;
use datafusion::object_store::ObjectMeta;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Returns the SHA-256 of a text in hexadecimal.
pub fn sha256(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}

/// A file with its name, size and checksum.
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
    /// name of a DuckLake table, or the path of an output file relative to the target folder.
    pub name: String,
    /// The size of the file, or of all files of a Delta or DuckLake table, in bytes.
    pub bytes: u64,
    /// SHA-256 of the file's bytes, in hexadecimal. Empty for an input object, which its e_tag and
    /// version identify.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub sha256: String,
    /// The e_tag of an object in its store, which changes when the content does. For a DuckLake
    /// table, a checksum of the numbers of the rows that the catalog itself contains or removes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub e_tag: Option<String>,
    /// The version of an object in a store that keeps versions, or of a Delta table, or the
    /// snapshot of a DuckLake table.
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

    /// Returns the summary of an object without reading the object.
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

    /// Returns the summary of a version of a table. Its files have summaries of their own.
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

    /// Returns the fields that distinguish the content from other content of the same name. The
    /// version of a table does not: a Delta table has a new version after every commit, and a
    /// DuckLake table after every commit to any table of its catalog.
    fn content(&self) -> String {
        let version = self.version.as_ref().filter(|_| !self.is_table());
        let tags = [&self.e_tag, &version.cloned()].map(|tag| tag.as_deref().unwrap_or_default().to_string());
        format!("{:?} {} {} {tags:?}", self.name, self.bytes, self.sha256)
    }

    /// Returns the checksum of a statement with the files that it read; `None` if it read none.
    pub(crate) fn source_sha256(statement_sha256: &str, files: &[Self]) -> Option<String> {
        let files: Vec<String> = files.iter().map(Self::content).collect();
        (!files.is_empty()).then(|| sha256(&format!("{statement_sha256} {}", files.join(", "))))
    }

    /// Returns the identity of the content, independent of its name and its place; `None` if it has
    /// no identity. The files of a table have identities of their own, and so do the rows that are
    /// in a catalog.
    pub(crate) fn identity(&self) -> Option<String> {
        let tag = self.e_tag.as_ref().map(|tag| tag.trim_matches('"'));
        match (self.sha256.is_empty(), self.is_table()) {
            (false, _) => Some(self.sha256.clone()),
            (true, true) => tag.map(|tag| format!("{} {tag}", self.name)),
            (true, false) => tag.map(|tag| format!("{tag} {}", self.bytes)),
        }
    }

    /// Returns true for a version of a table.
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
