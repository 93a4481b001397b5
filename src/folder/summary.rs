//! What a manifest sums up: columns, hierarchies, checks, the search, and files.

use crate::error::{Error, Result};
use crate::hierarchy::Hierarchy;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::marker::PhantomData;
use std::path::Path;

/// A released column.
///
/// ```
/// let read: anonsql::manifest::ReleasedColumn = serde_json::from_str(
///     r#"{"name": "age", "data_type": "Utf8View", "role": "quasi-identifier"}"#,
/// )?;
/// assert!(read.hierarchy.is_none());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ReleasedColumn {
    /// Its name.
    pub name: String,
    /// The Arrow type of its released values.
    pub data_type: String,
    /// What the statement calls it.
    pub role: Role,
    /// The hierarchy that the statement names for it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hierarchy: Option<HierarchySummary>,
}

/// The list of the statement that has a released column.
///
/// ```
/// use anonsql::manifest::Role;
/// assert_eq!(serde_json::to_string(&Role::QuasiIdentifier)?, "\"quasi-identifier\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Role {
    /// IDENTIFIERS, as a keyed hash.
    Identifier,
    /// QUASI IDENTIFIERS.
    QuasiIdentifier,
    /// SENSITIVE.
    Sensitive,
    /// CLASS.
    Class,
    /// KEEP.
    Keep,
}

/// What tells a hierarchy from another one of its name.
///
/// ```
/// let read: anonsql::manifest::HierarchySummary = serde_json::from_str(
///     r#"{"name": "age", "definition": "CREATE HIERARCHY age AS INTERVALS (5, 10)"}"#,
/// )?;
/// assert!(read.digest.is_none());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct HierarchySummary {
    /// Its name.
    pub name: String,
    /// What CREATE HIERARCHY says of it, where that holds nothing taken from data.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub definition: Option<String>,
    /// HMAC-SHA-256 of its values and labels otherwise, keyed by the statement and the seed: two releases do not show
    /// whether they used the same one. The key is in the manifest, so whoever guesses all of a hierarchy can confirm it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub digest: Option<String>,
}

impl HierarchySummary {
    /// What `manifest_key` (see `hierarchy_key`) and the hierarchy make.
    #[doc(hidden)]
    pub fn of(hierarchy: &Hierarchy, key: &[u8]) -> Result<Self> {
        let definition = hierarchy.rule().is_free_of_data().then(|| hierarchy.definition());
        let digest = match definition {
            Some(_) => None,
            None => Some(hierarchy.digest(key)?),
        };
        Ok(Self {
            name: hierarchy.name().into(),
            definition,
            digest,
        })
    }
}

/// A sensitive column that was generalized row by row, as far as each row's own limit asks.
///
/// ```
/// let read: anonsql::manifest::PersonalSummary = serde_json::from_str(
///     r#"{"column": "illness", "rows_by_level": [90, 8], "limits_not_met": 1, "rows_suppressed": 2}"#,
/// )?;
/// assert!(read.rows_by_level[1] == 8);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
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
///
/// ```
/// let read: anonsql::manifest::RandomizedColumn = serde_json::from_str(
///     r#"{"column": "pay", "within": "TABLE", "values": 9, "information_before": 1.5, "information_after": 0.2}"#,
/// )?;
/// assert!(read.information_after < read.information_before);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
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
///
/// ```
/// let read: anonsql::manifest::PartitionSummary = serde_json::from_str(
///     r#"{"groups": 12, "labels": {"age": 6, "zip": 4}}"#,
/// )?;
/// assert!(read.labels["age"] == 6);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PartitionSummary {
    /// Groups, those that are suppressed included.
    pub groups: u64,
    /// Distinct labels by quasi-identifier.
    #[serde(deserialize_with = "named_once")]
    pub labels: BTreeMap<String, u64>,
}

/// What became of suppressed rows.
///
/// ```
/// use anonsql::manifest::SuppressedRows;
/// assert_eq!(serde_json::to_string(&SuppressedRows::Starred)?, "\"starred\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SuppressedRows {
    /// They are not in the release.
    Dropped,
    /// They are in the release with every quasi-identifier as `*` and every sensitive column NULL.
    Starred,
}

/// One check of a promise on the written files.
///
/// ```
/// let read: anonsql::manifest::Check = serde_json::from_str(
///     r#"{"check": "k_anonymity(5)", "required": 5.0, "reached": 7.0, "ok": true}"#,
/// )?;
/// assert!(read.ok && read.reached == Some(7.0));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
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
///
/// ```
/// let read: anonsql::manifest::SearchSummary = serde_json::from_str(
///     r#"{"algorithm": "flash", "nodes_assessed": 42, "proof": "proven optimal"}"#,
/// )?;
/// assert!(read.nodes_assessed == 42);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SearchSummary {
    /// The algorithm as the statement has it.
    pub algorithm: String,
    /// Distinct nodes assessed.
    pub nodes_assessed: u64,
    /// "proven optimal", a bound, or nothing.
    pub proof: String,
}

/// A file by name, size and content.
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
    #[doc(hidden)]
    pub fn of(path: &Path, name: String, rows: Option<u64>) -> Result<Self> {
        let failed = |e| Error::io(format!("cannot read {}", path.display()), e);
        let mut file = File::open(path).map_err(failed)?;
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

/// Reads a map whose names are all different: of two values of one name nobody can tell which is meant.
pub(super) fn named_once<'de, D: Deserializer<'de>, V: Deserialize<'de>>(
    from: D,
) -> std::result::Result<BTreeMap<String, V>, D::Error> {
    struct NamedOnce<V>(PhantomData<V>);
    impl<'de, V: Deserialize<'de>> Visitor<'de> for NamedOnce<V> {
        type Value = BTreeMap<String, V>;

        fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
            out.write_str("a map whose names are all different")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
            let mut read = BTreeMap::new();
            while let Some((name, value)) = map.next_entry()? {
                if read.insert(name, value).is_some() {
                    return Err(A::Error::custom("a name stands twice"));
                }
            }
            Ok(read)
        }
    }
    from.deserialize_map(NamedOnce(PhantomData))
}
