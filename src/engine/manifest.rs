//! The manifest beside a release: everything needed to repeat it and to check it, and no data value.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The manifest's file name in the target folder.
pub const MANIFEST: &str = "_manifest.json";

/// What was released, and how.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Manifest {
    /// The version of anonsql that wrote it.
    pub version: String,
    /// The statement, printed canonically.
    pub statement: String,
    /// The seed of everything random.
    pub seed: u64,
    /// The level of each quasi-identifier; empty where the release is local recoding.
    pub node: BTreeMap<String, u8>,
    /// What the release is divided into, where it is local recoding.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub partition: Option<PartitionSummary>,
    /// The quasi-identifiers in the order of the statement.
    pub quasi_identifiers: Vec<String>,
    /// The sensitive columns.
    pub sensitive: Vec<String>,
    /// The sensitive columns that were put into random order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub randomized: Vec<RandomizedColumn>,
    /// What became of the sensitive column whose rows have limits of their own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub personal: Option<PersonalSummary>,
    /// Rows read.
    pub rows_in: u64,
    /// Rows written.
    pub rows_out: u64,
    /// Rows suppressed.
    pub rows_suppressed: u64,
    /// Whether suppressed rows were dropped or written as `*`.
    pub suppressed_rows: SuppressedRows,
    /// Equivalence classes released.
    pub classes: u64,
    /// The smallest released class; in entities where the request names them.
    pub reached_k: Option<u64>,
    /// What was checked on the written files.
    pub checks: Vec<Check>,
    /// The metric that was minimised, and others, at the node.
    pub metrics: BTreeMap<String, f64>,
    /// The search, and what it knows of its answer.
    pub search: SearchSummary,
    /// The files that were read.
    pub input: Vec<FileSummary>,
    /// The files that were written.
    pub output: Vec<FileSummary>,
}

/// A sensitive column that was generalized row by row, as far as each row's own limit asks.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct PersonalSummary {
    /// The column.
    pub column: String,
    /// Released rows by the level of their value in its hierarchy.
    pub rows_by_level: Vec<u64>,
    /// Rows whose limit nothing met; they were suppressed.
    pub limits_not_met: u64,
    /// All rows suppressed on account of limits: those, and the rest of classes that were too small without them.
    pub rows_suppressed: u64,
}

/// A column whose values were permuted among the released rows.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct RandomizedColumn {
    /// The column.
    pub column: String,
    /// Which rows it was permuted among, as the statement says it.
    pub within: String,
    /// How many distinct values it has.
    pub values: u64,
    /// The mutual information of the released classes and the column as it was, in bits.
    pub information_before: f64,
    /// The same with the column as it is released: what is lost is the utility that the permutation costs.
    pub information_after: f64,
}

/// A partition in numbers. The labels themselves are data values, and only in the release.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct PartitionSummary {
    /// Groups, those that are suppressed included.
    pub groups: u64,
    /// Distinct labels by quasi-identifier.
    pub labels: BTreeMap<String, u64>,
}

/// What became of suppressed rows.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum SuppressedRows {
    /// They are not in the release.
    Dropped,
    /// They are in the release with every quasi-identifier as `*` and every sensitive column NULL.
    Starred,
}

/// One check of a promise on the written files.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Check {
    /// The model as the statement has it.
    pub check: String,
    /// What it requires.
    pub required: f64,
    /// The worst that any class reaches; null when there is no class.
    pub reached: Option<f64>,
    /// Whether it holds.
    pub ok: bool,
}

/// The search.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct SearchSummary {
    /// The algorithm as the statement has it.
    pub algorithm: String,
    /// Distinct nodes assessed.
    pub nodes_assessed: u64,
    /// "proven optimal", a bound, or nothing.
    pub proof: String,
}

/// A file by name, size and content.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct FileSummary {
    /// Its name (inputs), or its path under the target folder (outputs).
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
    /// Its rows, for outputs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rows: Option<u64>,
}

impl FileSummary {
    /// Reads the file once.
    pub fn of(path: &Path, name: String, rows: Option<u64>) -> Result<Self> {
        use sha2::{Digest, Sha256};
        use std::io::Read;
        let failed = |e| Error::io(format!("cannot read {}", path.display()), e);
        let mut file = std::fs::File::open(path).map_err(failed)?;
        let (mut hash, mut bytes, mut buffer) = (Sha256::new(), 0, vec![0; 1 << 20]);
        loop {
            let n = file.read(&mut buffer).map_err(failed)?;
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
            rows,
        })
    }
}

impl Manifest {
    /// Writes the manifest to `folder`.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|e| Error::internal(format!("the manifest cannot be written as JSON: {e}")))?;
        std::fs::write(folder.join(MANIFEST), text + "\n").map_err(|e| Error::io("cannot write the manifest", e))
    }

    /// Reads the manifest of the release in `folder`, if there is one.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(MANIFEST);
        match std::fs::read_to_string(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound || e.kind() == std::io::ErrorKind::NotADirectory => {
                Ok(None)
            }
            Err(e) => Err(Error::io(format!("cannot read {}", path.display()), e)),
            Ok(text) => serde_json::from_str(&text)
                .map(Some)
                .map_err(|e| Error::data(format!("{} is not a manifest of anonsql: {e}", path.display()))),
        }
    }
}
