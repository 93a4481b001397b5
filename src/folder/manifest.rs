//! The manifest beside a release: everything needed to repeat it and to check it, and no data value.

use super::summary::{
    Check, FileSummary, HierarchySummary, PartitionSummary, PersonalSummary, RandomizedColumn, ReleasedColumn, Role,
    SearchSummary, SuppressedRows, named_once,
};
use crate::error::{Error, Result};
use crate::hierarchy::Hierarchy;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// The manifest's file name in the target folder.
pub const MANIFEST: &str = "_manifest.json";

/// A manifest that is larger was written by somebody else.
const LARGEST: u64 = 64 << 20;

/// What was released, and how.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> anonsql::error::Result<()> {
/// # let anon = anonsql::AnonContext::new(Default::default());
/// # let folder = tempfile::tempdir().unwrap();
/// # let target = folder.path().join("released").display().to_string();
/// use anonsql::manifest::Manifest;
/// # anon.sql("CREATE TABLE people AS VALUES (31), (33), (36), (38); CREATE HIERARCHY age AS INTERVALS (5, 10)").await?;
/// let request = "QUASI IDENTIFIERS (column1 USING age) SATISFYING k_anonymity(2)";
/// anon.sql(&format!("ANONYMIZE people TO '{target}' {request}")).await?;
/// let manifest = Manifest::read(target.as_ref())?.expect("a release has a manifest");
/// assert_eq!((manifest.reached_k, manifest.rows_out, manifest.node["column1"]), (Some(2), 4, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
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

/// The key of the digests of a manifest's hierarchies.
pub fn hierarchy_key(statement_sha256: &str, seed: u64) -> [u8; 32] {
    Sha256::digest(format!("hierarchies of {statement_sha256} with seed {seed}")).into()
}

/// SHA-256 in hexadecimal.
pub fn sha256(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}

impl Manifest {
    /// The columns of a role, each once.
    pub(crate) fn columns_of(&self, role: Role) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let columns = self.columns.iter().filter(|c| c.role == role);
        let once = columns.filter(|c| seen.insert(&c.name));
        once.map(|c| c.name.clone()).collect()
    }

    /// What it says of the hierarchy of a column.
    #[doc(hidden)]
    pub fn hierarchy_of(&self, column: &str) -> Option<&HierarchySummary> {
        self.columns.iter().find(|c| c.name == column)?.hierarchy.as_ref()
    }

    /// Whether a column was released with this hierarchy, by whatever name.
    pub(crate) fn used(&self, column: &str, hierarchy: &Hierarchy) -> Result<bool> {
        let Some(used) = self.hierarchy_of(column) else {
            return Ok(false);
        };
        let this = HierarchySummary::of(hierarchy, &hierarchy_key(&self.statement_sha256, self.seed))?;
        Ok((&used.definition, &used.digest) == (&this.definition, &this.digest))
    }

    /// An error where a column was released with another hierarchy than this one.
    pub(crate) fn require_hierarchy(&self, column: &str, hierarchy: &Hierarchy) -> Result<()> {
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
    #[doc(hidden)]
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
    pub(crate) fn columns_of_files(&self) -> Vec<&str> {
        let folders: HashSet<&str> = self.partitioned_by.iter().map(String::as_str).collect();
        let columns = self.columns.iter().map(|c| c.name.as_str());
        columns.filter(|name| !folders.contains(name)).collect()
    }

    /// Reads the manifest of the release in `folder`, if there is one.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        Ok(Self::read_sealed(folder)?.map(|(manifest, _)| manifest))
    }

    /// The same, and whether its text is what was written.
    pub(crate) fn read_sealed(folder: &Path) -> Result<Option<(Self, bool)>> {
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
