//! The manifest beside a release: everything needed to repeat it and to check it, and no data value.

use crate::error::{Error, Result};
use crate::hierarchy::Hierarchy;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::marker::PhantomData;
use std::path::Path;

/// The manifest's file name in the target folder.
pub const MANIFEST: &str = "_manifest.json";

/// A manifest that is larger was written by somebody else.
const LARGEST: u64 = 64 << 20;

/// What was released, and how.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of anonsql that wrote it.
    pub version: String,
    /// SHA-256 of the manifest's text with nothing in this place. It tells a careless change from none; who changes the
    /// manifest on purpose can write it anew.
    pub sha256: String,
    /// The statement, printed canonically; `?` stands for the literals of its queries unless it was to be kept in full.
    pub statement: String,
    /// SHA-256 of the statement in full.
    pub statement_sha256: String,
    /// The seed of everything random.
    pub seed: u64,
    /// The level of each quasi-identifier; empty where the release is local recoding.
    #[serde(deserialize_with = "named_once")]
    pub node: BTreeMap<String, u8>,
    /// What the release is divided into, where it is local recoding.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub partition: Option<PartitionSummary>,
    /// The released columns in their order.
    pub columns: Vec<ReleasedColumn>,
    /// Those of them that are names of folders, outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub partitioned_by: Vec<String>,
    /// The column whose distinct values classes count, released or not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub entity: Option<String>,
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
    #[serde(deserialize_with = "named_once")]
    pub metrics: BTreeMap<String, f64>,
    /// The search, and what it knows of its answer.
    pub search: SearchSummary,
    /// The files that were read.
    pub input: Vec<FileSummary>,
    /// The files that were written.
    pub output: Vec<FileSummary>,
    /// The report, where it is in the folder too. It has the checksum of the manifest, and so has none here.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub report: Option<String>,
}

/// A released column.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
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
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
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
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
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

/// The key of the digests of a manifest's hierarchies.
pub fn hierarchy_key(statement_sha256: &str, seed: u64) -> [u8; 32] {
    Sha256::digest(format!("hierarchies of {statement_sha256} with seed {seed}")).into()
}

/// SHA-256 in hexadecimal.
pub fn sha256(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}

/// A sensitive column that was generalized row by row, as far as each row's own limit asks.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
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
#[serde(deny_unknown_fields)]
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
#[serde(deny_unknown_fields)]
pub struct PartitionSummary {
    /// Groups, those that are suppressed included.
    pub groups: u64,
    /// Distinct labels by quasi-identifier.
    #[serde(deserialize_with = "named_once")]
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
#[serde(deny_unknown_fields)]
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
#[serde(deny_unknown_fields)]
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
#[serde(deny_unknown_fields)]
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
fn named_once<'de, D: Deserializer<'de>, V: Deserialize<'de>>(
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

impl Manifest {
    /// The columns of a role, each once.
    pub fn columns_of(&self, role: Role) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let columns = self.columns.iter().filter(|c| c.role == role);
        let once = columns.filter(|c| seen.insert(&c.name));
        once.map(|c| c.name.clone()).collect()
    }

    /// What it says of the hierarchy of a column.
    pub fn hierarchy_of(&self, column: &str) -> Option<&HierarchySummary> {
        self.columns.iter().find(|c| c.name == column)?.hierarchy.as_ref()
    }

    /// Whether a column was released with this hierarchy, by whatever name.
    pub fn used(&self, column: &str, hierarchy: &Hierarchy) -> Result<bool> {
        let Some(used) = self.hierarchy_of(column) else {
            return Ok(false);
        };
        let this = HierarchySummary::of(hierarchy, &hierarchy_key(&self.statement_sha256, self.seed))?;
        Ok((&used.definition, &used.digest) == (&this.definition, &this.digest))
    }

    /// An error where a column was released with another hierarchy than this one.
    pub fn require_hierarchy(&self, column: &str, hierarchy: &Hierarchy) -> Result<()> {
        if self.used(column, hierarchy)? {
            return Ok(());
        }
        let was = match self.hierarchy_of(column) {
            Some(HierarchySummary {
                name,
                definition: Some(definition),
                ..
            }) => format!("{name} {definition}"),
            Some(HierarchySummary { name, .. }) => format!("{name} with other values, labels or exceptions"),
            None => "none that the manifest names".into(),
        };
        Err(Error::usage(format!(
            "column {column}: hierarchy {} is not the one of the release, which was {was}; its levels mean something else. \
             Make the hierarchy as it was, or leave the manifest out",
            hierarchy.name()
        )))
    }

    /// Writes the manifest to `folder`.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let text = |manifest: &Self| {
            serde_json::to_string_pretty(manifest)
                .map_err(|e| Error::internal(format!("the manifest cannot be written as JSON: {e}")))
        };
        let mut sealed = Self {
            sha256: String::new(),
            ..self.clone()
        };
        sealed.sha256 = sha256(&(text(&sealed)? + "\n"));
        std::fs::write(folder.join(MANIFEST), text(&sealed)? + "\n")
            .map_err(|e| Error::io("cannot write the manifest", e))
    }

    /// The released columns that stand in the files, in their order: those that are names of folders do not.
    pub fn columns_of_files(&self) -> Vec<&str> {
        let folders: HashSet<&str> = self.partitioned_by.iter().map(String::as_str).collect();
        let columns = self.columns.iter().map(|c| c.name.as_str());
        columns.filter(|name| !folders.contains(name)).collect()
    }

    /// Reads the manifest of the release in `folder`, if there is one.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        Ok(Self::read_sealed(folder)?.map(|(manifest, _)| manifest))
    }

    /// The same, and whether its text is what was written.
    pub fn read_sealed(folder: &Path) -> Result<Option<(Self, bool)>> {
        let path = folder.join(MANIFEST);
        let failed = |e| Error::io(format!("cannot read {}", path.display()), e);
        let file = match File::open(&path) {
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            opened => opened.map_err(failed)?,
        };
        let mut text = vec![];
        file.take(LARGEST + 1).read_to_end(&mut text).map_err(failed)?;
        if text.len() as u64 > LARGEST {
            return Err(Error::data(format!(
                "{} has more than {} MB, which no manifest of anonsql has",
                path.display(),
                LARGEST >> 20
            )));
        }
        // What the parser says may quote the text.
        let manifest: Self = serde_json::from_slice(&text).map_err(|e| {
            Error::data(format!(
                "{} is not a manifest of anonsql {}, line {}, column {}: an older or newer version wrote it, or it was \
                 changed; release again with this version",
                path.display(),
                env!("CARGO_PKG_VERSION"),
                e.line(),
                e.column()
            ))
        })?;
        let seal = format!("\"sha256\": \"{}\"", manifest.sha256);
        let text = String::from_utf8_lossy(&text);
        let is_sealed = manifest.sha256 == sha256(&text.replacen(&seal, "\"sha256\": \"\"", 1));
        Ok(Some((manifest, is_sealed)))
    }
}
