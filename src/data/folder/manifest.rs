//! The manifest in the folder of a release. It contains everything that is needed to repeat and
//! check the release, but no data value.

use super::batch::Batch;
use super::file::{FileSummary, sha256};
use super::summary::{
    Budget, Check, HierarchySummary, ItemSetSummary, PartitionSummary, PersonalSummary, PolicySummary,
    RandomizedColumn, ReleasedColumn, Role, SearchSummary, SuppressedRows, named_once,
};
use crate::base::error::{Error, Result};
use crate::data::drift::{ReplaySummary, SourceColumn};
use crate::data::signature::Envelope;
use crate::method::hierarchy::{Hierarchy, LabelForm};
use crate::method::masks;
use crate::method::warning::Warning;
use arrow::datatypes::DataType;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// The manifest's file name in the target folder.
pub const MANIFEST: &str = "_manifest.json";

/// The key-value metadata in the footer of each file of a release. It contains no data.
pub type Footer = BTreeMap<String, String>;

/// The maximum number of bytes of a manifest. A larger file was not written by anonsql.
const LARGEST: u64 = 64 << 20;

/// The manifest of a release: what was released, and how.
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
    /// The version of the manifest's format; 1 in manifests without this field. The format is
    /// described by `manifest.schema.json` in the book.
    #[serde(default = "first_format")]
    pub format: u32,
    /// The version of anonsql that wrote the manifest.
    pub version: String,
    /// SHA-256 of the manifest's text with this field set to an empty string and without
    /// `signature`. By itself, it detects only accidental changes, because anybody who changes the
    /// manifest on purpose can compute it again.
    pub sha256: String,
    /// The statement in canonical form. The literals of its queries are replaced by `?`, unless the
    /// request keeps the full statement.
    pub statement: String,
    /// SHA-256 of the full statement.
    pub statement_sha256: String,
    /// The policy that the statement used (USING POLICY). Its clauses are part of `statement`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub policy: Option<PolicySummary>,
    /// The seed of all random choices.
    pub seed: u64,
    /// The level of each quasi-identifier; empty for local recoding.
    #[serde(deserialize_with = "named_once")]
    pub node: BTreeMap<String, u8>,
    /// The partition of the release; present only for local recoding.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub partition: Option<PartitionSummary>,
    /// All columns of the anonymized table, including those that were not released. Later data is
    /// compared with them. The list is empty for differential privacy, and in manifests from
    /// versions without ON DRIFT.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub source: Vec<SourceColumn>,
    /// How the node of an earlier release was used (USING MANIFEST).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub replay: Option<ReplaySummary>,
    /// The released columns, in order.
    pub columns: Vec<ReleasedColumn>,
    /// The names of the standards that the statement follows.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub following: Vec<String>,
    /// The released columns whose values are encoded in folder names, outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub partitioned_by: Vec<String>,
    /// The column, released or not, that identifies an entity. If it is present, class sizes count
    /// entities instead of rows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub entity: Option<String>,
    /// The summary of each randomized column.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub randomized: Vec<RandomizedColumn>,
    /// The sensitive column that has its own limit in each row.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub personal: Option<PersonalSummary>,
    /// The summary of each column of item sets.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub items: Vec<ItemSetSummary>,
    /// The budget of a differentially private release. The manifest of such a release omits all
    /// values that would reveal rows outside the release: the number of rows read and suppressed,
    /// the losses, and the files read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub differential_privacy: Option<Budget>,
    /// The number of rows read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rows_in: Option<u64>,
    /// The number of rows written.
    pub rows_out: u64,
    /// The number of rows suppressed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rows_suppressed: Option<u64>,
    /// Whether suppressed rows were dropped or written as `*`.
    pub suppressed_rows: SuppressedRows,
    /// The number of released equivalence classes.
    pub classes: u64,
    /// The size of the smallest released class, in entities if the request names them.
    pub reached_k: Option<u64>,
    /// The recounted check of each promise, on the written files.
    pub checks: Vec<Check>,
    /// The warnings about the roles in the request, including accepted warnings.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<Warning>,
    /// The values of the minimized metric and of the other metrics at the node.
    #[serde(deserialize_with = "named_once")]
    pub metrics: BTreeMap<String, f64>,
    /// The search and its proof.
    pub search: SearchSummary,
    /// The files that were read.
    pub input: Vec<FileSummary>,
    /// The run that wrote the release; present if the release is in an object store, where the
    /// files of each run are in a separate folder.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run: Option<String>,
    /// The key-value metadata in the footer of each written file; empty if the files have none.
    #[serde(skip_serializing_if = "Footer::is_empty", default)]
    pub footer: Footer,
    /// The files that were written.
    pub output: Vec<FileSummary>,
    /// The batches of a release to which APPEND added rows, oldest first. The other counts, classes
    /// and checks of the manifest then apply to all batches together, `node` to the first batch,
    /// and the statement, the input and the search to the last batch.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub batches: Vec<Batch>,
    /// The file name of the report, if it is in the same folder. The report contains the checksum
    /// of the manifest, so the manifest cannot contain the checksum of the report.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub report: Option<String>,
    /// The signature of the release, if it was signed (`OPTIONS (sign ...)`). It covers the
    /// checksum `sha256`, and the files with their checksums.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub signature: Option<Envelope>,
}

/// The format number of new manifests. It grows by one when a field changes its meaning.
pub(crate) const FORMAT: u32 = 1;

/// Returns the format number of manifests without this field.
fn first_format() -> u32 {
    1
}

/// The only field that is read from a manifest of an unknown format.
#[derive(Deserialize)]
struct AnyManifest {
    format: u32,
}

/// Returns the key for digests of the hierarchies in a manifest.
pub fn hierarchy_key(statement_sha256: &str, seed: u64) -> [u8; 32] {
    Sha256::digest(format!("hierarchies of {statement_sha256} with seed {seed}")).into()
}

impl Manifest {
    /// Returns the names of the columns with this role, without duplicates.
    pub(crate) fn columns_of(&self, role: Role) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let columns = self.columns.iter().filter(|c| c.role == role);
        let once = columns.filter(|c| seen.insert(&c.name));
        once.map(|c| c.name.clone()).collect()
    }

    /// Returns the names of the masked columns.
    pub(crate) fn masked(&self) -> BTreeSet<String> {
        let masked = self.columns.iter().filter(|c| c.mask().is_some());
        masked.map(|c| c.name.clone()).collect()
    }

    /// Returns the entity column if its entities can be counted in the released rows, which have
    /// these `columns`: if it is released without a mask, or with a mask that never gives two
    /// entities the same value.
    pub(crate) fn counted_entity(&self, columns: &[&str]) -> Option<&str> {
        let entity = self.entity.as_deref()?;
        let tells_apart = |mask: &str| masks::of_clause(mask).is_some_and(|kind| kind.tells_apart);
        let mut released = self.columns.iter().filter(|c| c.name == entity);
        let is_counted = columns.contains(&entity) && released.any(|c| c.mask().is_none_or(tells_apart));
        is_counted.then_some(entity)
    }

    /// Returns the manifest's summary of the hierarchy of a column.
    #[doc(hidden)]
    pub fn hierarchy_of(&self, column: &str) -> Option<&HierarchySummary> {
        self.columns.iter().find(|c| c.name == column)?.hierarchy.as_ref()
    }

    /// Returns the type of a column in the anonymized table; `None` if the manifest does not
    /// contain a known type for the column.
    pub(crate) fn type_in_source(&self, column: &str) -> Option<DataType> {
        self.source.iter().find(|c| c.name == column)?.data_type.parse().ok()
    }

    /// Returns true if a column was released with this hierarchy. The name of the hierarchy may
    /// differ.
    pub(crate) fn used(&self, column: &str, hierarchy: &Hierarchy) -> Result<bool> {
        let Some(used) = self.hierarchy_of(column) else {
            return Ok(false);
        };
        let this = HierarchySummary::of(hierarchy, &hierarchy_key(&self.statement_sha256, self.seed))?;
        Ok((&used.definition, &used.digest) == (&this.definition, &this.digest))
    }

    /// Describes how this hierarchy differs from the hierarchy with which a column was released;
    /// `None` if they are the same.
    pub(crate) fn unlike_hierarchy(&self, column: &str, hierarchy: &Hierarchy) -> Result<Option<String>> {
        if self.used(column, hierarchy)? {
            return Ok(None);
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
        Ok(Some(format!(
            "column {column}: hierarchy {} differs from the hierarchy of the release, which was {was}; its levels \
             have another meaning",
            hierarchy.name()
        )))
    }

    /// Checks that a column was released with this hierarchy. Otherwise, fails with
    /// `ErrorKind::Usage`; the error recommends to recreate the hierarchy, or `instead`.
    pub(crate) fn require_hierarchy(&self, column: &str, hierarchy: &Hierarchy, instead: &str) -> Result<()> {
        match self.unlike_hierarchy(column, hierarchy)? {
            None => Ok(()),
            Some(unlike) => Err(Error::usage(format!("{unlike}. Restore the hierarchy, or {instead}"))),
        }
    }

    /// Returns this manifest as one batch, without the earlier batches.
    pub(crate) fn as_batch(&self) -> Batch {
        Batch {
            version: self.version.clone(),
            statement_sha256: self.statement_sha256.clone(),
            run: self.run.clone(),
            after: None,
            source_sha256: self.source_sha256(),
            inputs: self.input.iter().filter_map(FileSummary::identity).collect(),
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

    /// Returns the checksum of the statement and the files that it read; `None` if it read no
    /// files.
    fn source_sha256(&self) -> Option<String> {
        FileSummary::source_sha256(&self.statement_sha256, &self.input)
    }

    /// Returns true if a batch of this release has this checksum of its statement and input files.
    pub(crate) fn has_batch_of(&self, source_sha256: &str) -> bool {
        let is_it = |batch: &Batch| batch.source_sha256.as_deref() == Some(source_sha256);
        self.all_batches().iter().any(is_it)
    }

    /// Returns the batches of the release, oldest first. A release without appended rows is one
    /// batch.
    pub(crate) fn all_batches(&self) -> Vec<Batch> {
        match self.batches.is_empty() {
            true => vec![self.as_batch()],
            false => self.batches.clone(),
        }
    }

    /// Returns the minimum and the maximum level of a quasi-identifier in all batches; `None` if it
    /// has no level.
    pub(crate) fn levels_of(&self, column: &str) -> Option<(u8, u8)> {
        let own = *self.node.get(column)?;
        let levels = self.batches.iter().filter_map(|batch| batch.node.get(column));
        Some(levels.fold((own, own), |(low, high), level| (low.min(*level), high.max(*level))))
    }

    /// Returns the quasi-identifiers whose labels have a form other than TEXT.
    pub(crate) fn computed_columns(&self) -> Vec<String> {
        let columns = self.columns.iter().filter(|c| c.labels.is_some());
        columns.map(|c| c.name.clone()).collect()
    }

    /// Returns the form of a quasi-identifier's labels; `None` if the manifest does not contain the
    /// column, or the form is unknown.
    pub(crate) fn form_of(&self, column: &str) -> Option<LabelForm> {
        let labels = &self.columns.iter().find(|c| c.name == column)?.labels;
        let named = |word: &String| LabelForm::ALL.into_iter().find(|form| form.word() == word);
        labels.as_ref().map_or(Some(LabelForm::Text), named)
    }

    /// Writes the manifest to `folder`.
    #[doc(hidden)]
    pub fn write(&self, folder: &Path) -> Result<()> {
        std::fs::write(folder.join(MANIFEST), self.text()?).map_err(|e| Error::io("cannot write the manifest", e))
    }

    /// Returns the manifest as text, with its checksum.
    pub(crate) fn text(&self) -> Result<String> {
        let sealed = Self {
            sha256: self.checksum()?,
            ..self.clone()
        };
        sealed.as_json()
    }

    /// Returns the checksum of the manifest's text.
    pub(super) fn checksum(&self) -> Result<String> {
        let bare = Self {
            sha256: String::new(),
            signature: None,
            ..self.clone()
        };
        Ok(sha256(&bare.as_json()?))
    }

    fn as_json(&self) -> Result<String> {
        let text = serde_json::to_string_pretty(self);
        let text = text.map_err(|e| Error::internal(format!("the manifest cannot be written as JSON: {e}")))?;
        Ok(text + "\n")
    }

    /// Returns the released columns that are stored in the files, in order. Columns whose values
    /// are encoded in folder names are not included.
    pub(crate) fn columns_of_files(&self) -> Vec<&str> {
        let folders: HashSet<&str> = self.partitioned_by.iter().map(String::as_str).collect();
        let columns = self.columns.iter().map(|c| c.name.as_str());
        columns.filter(|name| !folders.contains(name)).collect()
    }

    /// Reads the manifest of the release in `folder`; `None` if there is no manifest.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        Ok(Self::read_sealed(folder)?.map(|(manifest, _)| manifest))
    }

    /// Reads a manifest like [`Manifest::read`]. The second value is true if the text has not
    /// changed since it was written.
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
                "{} has more than {} MB, so it is not a manifest of anonsql",
                path.display(),
                LARGEST >> 20
            )));
        }
        parse(&text, &path.display().to_string()).map(Some)
    }
}

/// Reads a manifest from its text. In error messages, `path` is the name of the manifest. The
/// second value is true if the text has not changed since it was written.
pub(crate) fn parse(text: &[u8], path: &str) -> Result<(Manifest, bool)> {
    if let Some(AnyManifest { format }) = serde_json::from_slice(text)
        .ok()
        .filter(|any: &AnyManifest| any.format > FORMAT)
    {
        return Err(Error::data(format!(
            "{path} is a manifest in format {format}, but anonsql {} reads only formats up to {FORMAT}; use a newer \
            version",
            env!("CARGO_PKG_VERSION")
        )));
    }
    // The parser's error message may quote the text, and is therefore not shown.
    let manifest: Manifest = serde_json::from_slice(text).map_err(|e| {
        Error::data(format!(
            "{path} is not a manifest of anonsql {}, line {}, column {}: an older or newer version wrote it, or it was \
             changed; release again with this version",
            env!("CARGO_PKG_VERSION"),
            e.line(),
            e.column()
        ))
    })?;
    let is_told = manifest.rows_in.is_some() && manifest.rows_suppressed.is_some();
    if !is_told && manifest.differential_privacy.is_none() {
        return Err(Error::data(format!(
            "{path} does not contain the number of rows read and suppressed, which only a differentially private \
            release may omit; release again"
        )));
    }
    let seal = format!("\"sha256\": \"{}\"", manifest.sha256);
    let text = String::from_utf8_lossy(text);
    let bare = match &manifest.signature {
        Some(signature) => signature.cut_from(&text),
        None => Some(text.into_owned()),
    };
    let is_sealed = bare.is_some_and(|bare| manifest.sha256 == sha256(&bare.replacen(&seal, "\"sha256\": \"\"", 1)));
    Ok((manifest, is_sealed))
}
