//! The parts of a manifest: columns, hierarchies, checks and the search.

use crate::base::error::Result;
use crate::method::hierarchy::Hierarchy;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

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
    /// The name of the column.
    pub name: String,
    /// The Arrow type of the released values.
    pub data_type: String,
    /// The role of the column in the statement.
    pub role: Role,
    /// The hierarchy that the statement names for the column.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hierarchy: Option<HierarchySummary>,
    /// The keyword for the form of a quasi-identifier's labels; absent for TEXT.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub labels: Option<String>,
    /// The mask of the column as the statement writes it, but without the location of its secret.
    /// It is absent for a column of IDENTIFIERS with the default mask HASH, and for other columns
    /// without a mask.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mask: Option<String>,
}

/// The mask of an IDENTIFIERS column for which the statement writes no mask.
pub(crate) const DEFAULT_MASK: &str = "HASH";

impl ReleasedColumn {
    /// Returns the mask of the column; `None` if it has no mask.
    pub(crate) fn mask(&self) -> Option<&str> {
        let default = (self.role == Role::Identifier).then_some(DEFAULT_MASK);
        self.mask.as_deref().or(default)
    }
}

/// The policy that a statement used.
///
/// ```
/// let read: anonsql::manifest::PolicySummary = serde_json::from_str(r#"{"name": "patients_v1", "sha256": "0a1b"}"#)?;
/// assert_eq!(read.name, "patients_v1");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PolicySummary {
    /// The name of the policy.
    pub name: String,
    /// SHA-256 of the policy's clauses and of the content of its hierarchies.
    pub sha256: String,
}

impl PolicySummary {
    /// Creates the summary of a policy.
    pub(crate) fn new(name: String, sha256: String) -> Self {
        Self { name, sha256 }
    }
}

/// The role of a released column, named after the statement's list of columns.
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
    /// A column of IDENTIFIERS, released with a mask.
    Identifier,
    /// A column of QUASI IDENTIFIERS.
    QuasiIdentifier,
    /// A column of QUASI IDENTIFIERS that contains item sets.
    ItemSet,
    /// A column of SENSITIVE.
    Sensitive,
    /// The column of CLASS.
    Class,
    /// A column of KEEP.
    Keep,
}

/// A hierarchy in a manifest, with data that distinguishes it from other hierarchies of the same
/// name.
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
    /// The name of the hierarchy.
    pub name: String,
    /// The CREATE HIERARCHY statement; absent if it contains values from data.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub definition: Option<String>,
    /// HMAC-SHA-256 of the hierarchy's values and labels; absent if there is a definition. The key
    /// is derived from the statement and the seed, so two releases do not reveal that they used the
    /// same hierarchy. The key can be computed from the manifest, so anybody who guesses the whole
    /// hierarchy can confirm the guess.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub digest: Option<String>,
}

impl HierarchySummary {
    /// Creates the summary of a hierarchy. `key` is the digest key of the manifest (see
    /// `hierarchy_key`).
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

/// A sensitive column in which each value was generalized as far as its row's own limit requires.
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
    /// The name of the column.
    pub column: String,
    /// The number of released rows for each level of their value in the hierarchy, from level 0.
    pub rows_by_level: Vec<u64>,
    /// The number of rows whose limit could not be met by generalization. They were suppressed.
    pub limits_not_met: u64,
    /// The number of all rows suppressed because of limits: rows whose limit was not met, and the
    /// rest of classes that became too small without them.
    pub rows_suppressed: u64,
}

/// A column of item sets that was generalized item by item. The labels themselves are data values,
/// and only the release contains them.
///
/// ```
/// let read: anonsql::manifest::ItemSetSummary = serde_json::from_str(
///     r#"{"column": "drugs", "labels_by_level": [9, 2], "items_removed": 1, "rows_reduced": 7, "loss": 0.1, "loss_by_removal": 0.02, "optimal": true}"#,
/// )?;
/// assert!(read.labels_by_level[1] == 2);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ItemSetSummary {
    /// The name of the column.
    pub column: String,
    /// The number of released labels for each level of the item hierarchy, from level 0.
    pub labels_by_level: Vec<u64>,
    /// The number of items that were removed from all sets.
    pub items_removed: u64,
    /// The number of released rows that lost an item.
    pub rows_reduced: u64,
    /// The mean loss of the items in the released rows. The loss of an item is the share of the
    /// hierarchy's other leaves that its label covers, and 1 for a removed item.
    pub loss: f64,
    /// The part of the loss that is due to removed items.
    pub loss_by_removal: f64,
    /// Whether no generalization without removals has a lower loss.
    pub optimal: bool,
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
    /// The name of the column.
    pub column: String,
    /// The group of rows within which the column was permuted, as the statement writes it.
    pub within: String,
    /// The number of distinct values of the column.
    pub values: u64,
    /// The mutual information between the released classes and the original column, in bits.
    pub information_before: f64,
    /// The mutual information between the released classes and the released column, in bits. The
    /// difference is the utility that the permutation costs.
    pub information_after: f64,
}

/// The privacy budget of a differentially private release, and its mechanism.
///
/// ```
/// let read: anonsql::manifest::Budget = serde_json::from_str(
///     r#"{"epsilon": 1.0, "delta": 1e-6, "beta": 0.63, "k": 74, "mechanism": "sampling", "releases": 2,
///         "epsilon_of_all": 2.0, "delta_of_all": 2e-6}"#,
/// )?;
/// assert_eq!(read.epsilon_of_all, 2.0 * read.epsilon);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Budget {
    /// The maximum change in the probability of a release when one row is added or removed, as the
    /// natural logarithm of the factor.
    pub epsilon: f64,
    /// The probability of a change larger than `epsilon`.
    pub delta: f64,
    /// The sampling probability of a row.
    pub beta: f64,
    /// The minimum number of sampled rows in a released class.
    pub k: u64,
    /// A description of the mechanism.
    pub mechanism: String,
    /// The number of successive releases in the folder, including this release.
    pub releases: u64,
    /// The sum of the epsilons of these releases. If they describe the same people, the sum is the
    /// privacy bound for a reader who has all of the releases.
    pub epsilon_of_all: f64,
    /// The sum of the deltas of these releases.
    pub delta_of_all: f64,
}

/// The figures of a partition, for local recoding. The labels themselves are data values, and only
/// the release contains them.
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
    /// The number of groups, including suppressed groups.
    pub groups: u64,
    /// The number of distinct labels of each quasi-identifier.
    #[serde(deserialize_with = "named_once")]
    pub labels: BTreeMap<String, u64>,
}

/// The treatment of suppressed rows.
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
    /// Suppressed rows are omitted from the release.
    Dropped,
    /// Suppressed rows are in the release, with `*` in every quasi-identifier and NULL in every
    /// sensitive column.
    Starred,
}

/// The check of a promise on the written files.
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
    /// The privacy model as the statement writes it.
    pub check: String,
    /// The value that the privacy model requires.
    pub required: f64,
    /// The worst value of any class; null if the release has no class. If few rows were suppressed,
    /// a value that depends on the source is rounded to two decimals toward the required value, but
    /// not beyond it.
    pub reached: Option<f64>,
    /// Whether the promise holds.
    pub ok: bool,
}

/// The summary of a search.
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
    /// Whether equal values have equal labels in every row; absent in manifests from versions
    /// without RECODING.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub recoding: Option<Recoding>,
    /// The algorithm as a statement writes it. For a choice by RECODING LOCAL, the algorithm whose
    /// partition was released.
    pub algorithm: String,
    /// The algorithms among which RECODING LOCAL chose.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub tried: Vec<Tried>,
    /// The number of distinct lattice nodes that were assessed.
    pub nodes_assessed: u64,
    /// The proof of the search: "proven optimal", a bound, or a statement that there is no proof.
    pub proof: String,
}

/// Whether equal values have equal labels in every row.
///
/// ```
/// let read: anonsql::manifest::Recoding = serde_json::from_str(r#""local""#)?;
/// assert!(read == anonsql::manifest::Recoding::Local);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Recoding {
    /// One level per column for all rows.
    Global,
    /// The table was divided into groups, and each group has its own labels.
    Local,
}

/// An algorithm that RECODING LOCAL tried.
///
/// ```
/// let read: anonsql::manifest::Tried = serde_json::from_str(r#"{"search": "mondrian", "value": 0.0629}"#)?;
/// assert!(read.value == Some(0.0629) && read.skipped.is_none());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Tried {
    /// The algorithm as a statement writes it.
    pub search: String,
    /// The value of the minimized metric for the algorithm's partition.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<f64>,
    /// The reason why the algorithm produced no partition.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub skipped: Option<String>,
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.value, &self.skipped) {
            // A small loss would be 0.0000 with four decimals.
            (Some(value), _) if value != 0.0 && value.abs() < 0.001 => write!(f, "{} {value:.2e}", self.search),
            (Some(value), _) => write!(f, "{} {value:.4}", self.search),
            (None, reason) => write!(
                f,
                "{} skipped ({})",
                self.search,
                reason.as_deref().unwrap_or("unknown")
            ),
        }
    }
}

/// Deserializes a map. Fails if a name is repeated, because the intended value is then unknown.
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
