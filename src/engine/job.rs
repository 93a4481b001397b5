//! A job: everything a request says, bound and checked, as a value that SQL and the Rust builder both make.

use super::pin::Pins;
use super::report_file::ReportFile;
use crate::catalogue::Call;
use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::Hierarchy;
use crate::metric::Metric;
use crate::model::PrivacyModel;
use crate::partition::Partitioner;
use crate::search::Search;
use datafusion::dataframe::DataFrame;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Where the rows come from.
#[derive(Clone)]
pub struct Source {
    /// How the statement names it.
    pub name: String,
    /// The rows, unchanged.
    pub rows: DataFrame,
    /// The local files it reads, where they are known; the target may not be among them.
    pub files: Vec<PathBuf>,
    /// What it was when it was named.
    pub pins: Pins,
}

impl Source {
    /// The names of its columns.
    pub fn columns(&self) -> Vec<&str> {
        self.rows.schema().fields().iter().map(|f| f.name().as_str()).collect()
    }
}

/// An identifier column: dropped, or replaced by a keyed hash.
#[derive(Debug, Clone)]
pub struct Identifier {
    /// The column.
    pub column: String,
    /// Where the secret of the hash is; without one the column is dropped.
    pub secret: Option<Secret>,
}

/// Where a secret is kept. The secret itself is in no statement, log, manifest or error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Secret {
    /// In an environment variable.
    Environment(String),
    /// In a file.
    File(PathBuf),
}

impl Secret {
    /// Reads the secret.
    pub fn read(&self) -> Result<Vec<u8>> {
        let secret = match self {
            Secret::Environment(name) => std::env::var(name)
                .map_err(|_| Error::usage(format!("the environment variable {name} with the secret is not set")))?
                .into_bytes(),
            Secret::File(path) => {
                let bytes = std::fs::read(path).map_err(|e| Error::io(format!("secret file {}", path.display()), e))?;
                bytes.trim_ascii_end().to_vec()
            }
        };
        if secret.len() < 16 {
            return Err(Error::usage(
                "the secret of a hash has fewer than 16 bytes, and could be guessed; use a longer one, such as 32 random bytes",
            ));
        }
        Ok(secret)
    }
}

/// A quasi-identifier with its hierarchy.
#[derive(Debug, Clone)]
pub struct QuasiIdentifier {
    /// The column.
    pub column: String,
    /// Its hierarchy.
    pub hierarchy: Arc<Hierarchy>,
    /// The levels that may be used, both included.
    pub levels: Option<(u8, u8)>,
    /// What a loss in this column counts, beside 1 for others.
    pub weight: f64,
}

/// A sensitive column.
#[derive(Debug, Clone)]
pub struct Sensitive {
    /// The column.
    pub column: String,
    /// Its hierarchy, for models that measure distances in it.
    pub hierarchy: Option<Arc<Hierarchy>>,
    /// How its values are permuted among the released rows; not at all when `None`.
    pub randomization: Option<Randomization>,
}

/// The rows that a sensitive column is permuted among.
#[derive(Clone)]
pub enum Randomization {
    /// All released rows.
    Table,
    /// Those of a class.
    Class,
    /// Those with equal values in other released columns.
    Columns(Vec<String>),
    /// All, in the order that a matrix gives.
    Matrix {
        /// How the statement names it.
        name: String,
        /// Its rows.
        rows: DataFrame,
    },
}

impl fmt::Display for Randomization {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Randomization::Table => f.write_str("RANDOMIZED"),
            Randomization::Class => f.write_str("RANDOMIZED WITHIN CLASS"),
            Randomization::Columns(columns) => write!(f, "RANDOMIZED WITHIN ({})", columns.join(", ")),
            Randomization::Matrix { name, .. } => write!(f, "RANDOMIZED WITH MATRIX {name}"),
        }
    }
}

impl fmt::Debug for Randomization {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A privacy model in force.
#[derive(Debug)]
pub struct Constraint {
    /// As the statement has it.
    pub call: Call,
    /// The model.
    pub model: Box<dyn PrivacyModel>,
    /// The sensitive attribute it is about.
    pub attribute: Option<String>,
    /// The quasi-identifiers whose groups must hold, by position; all of them when `None`.
    pub subset: Option<Vec<usize>>,
}

impl Constraint {
    /// As it stands in a statement, with what it is about: `l_diversity(3) ON diagnosis`.
    pub fn describe(&self, quasi_identifiers: &[QuasiIdentifier]) -> String {
        let mut text = self.call.to_string();
        if let Some(attribute) = &self.attribute {
            text += &format!(" ON {attribute}");
        }
        if let Some(subset) = &self.subset {
            let columns: Vec<&str> = subset.iter().map(|i| quasi_identifiers[*i].column.as_str()).collect();
            text += &format!(" ON ({})", columns.join(", "));
        }
        text
    }
}

/// The most rows that may be suppressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuppressionLimit {
    /// A number of rows.
    Rows(u64),
    /// A share of the rows as an exact fraction; the limit is the floor of it.
    Share {
        /// Numerator.
        over: u64,
        /// Denominator.
        under: u64,
    },
}

impl SuppressionLimit {
    /// Nothing may be suppressed.
    pub const NONE: Self = Self::Rows(0);

    /// The limit for a table of `rows` rows.
    pub fn rows(self, rows: u64) -> u64 {
        match self {
            SuppressionLimit::Rows(n) => n.min(rows),
            SuppressionLimit::Share { over, under } => {
                let share = u128::from(rows) * u128::from(over) / u128::from(under.max(1));
                share.min(u128::from(rows)) as u64
            }
        }
    }
}

/// How the release is chosen.
#[derive(Debug)]
pub enum Choice {
    /// A node, by a search.
    Search {
        /// As the statement has it.
        call: Call,
        /// The algorithm.
        search: Box<dyn Search>,
    },
    /// A partition, by local recoding.
    Partition {
        /// As the statement has it.
        call: Call,
        /// The algorithm.
        partitioner: Box<dyn Partitioner>,
    },
    /// As given: one level per quasi-identifier, then checked.
    Node(Vec<u8>),
}

/// The format of what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// Apache Parquet, compressed with zstd.
    #[default]
    Parquet,
    /// Comma-separated values with a header.
    Csv,
}

/// What to do when the target is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Existing {
    /// Fail, and leave it.
    #[default]
    Fail,
    /// Replace it, at once and only when the new one is complete and verified.
    Overwrite,
    /// Leave it, and do nothing.
    Skip,
}

/// Where the release goes.
#[derive(Debug, Clone)]
pub struct Target {
    /// The folder.
    pub path: PathBuf,
    /// The format of its files.
    pub format: Format,
    /// Columns whose values become folder names.
    pub partitioned_by: Vec<String>,
    /// What to do when it is there.
    pub existing: Existing,
    /// Rows a file, at most.
    pub rows_per_file: Option<u64>,
    /// Whether the manifest has the statement with the literals of its queries.
    pub full_statement: bool,
}

/// A bound request.
pub struct Job {
    /// The statement, printed canonically, as the manifest may have it. It holds no secret.
    pub statement: String,
    /// SHA-256 of the statement in full.
    pub statement_sha256: String,
    /// The rows.
    pub source: Source,
    /// Columns that are removed or hashed.
    pub identifiers: Vec<Identifier>,
    /// Columns that are generalized.
    pub quasi_identifiers: Vec<QuasiIdentifier>,
    /// Columns that are protected.
    pub sensitive: Vec<Sensitive>,
    /// The class label.
    pub class_label: Option<String>,
    /// Columns that are kept as they are.
    pub keep: Vec<String>,
    /// The column whose distinct values are counted instead of rows.
    pub entity: Option<String>,
    /// The population table of k_map, with the same quasi-identifiers.
    pub population: Option<Source>,
    /// The privacy models.
    pub constraints: Vec<Constraint>,
    /// The most rows that may be suppressed.
    pub suppression: SuppressionLimit,
    /// Whether suppressed rows stay, with every quasi-identifier as `*` and every sensitive value NULL.
    pub starred: bool,
    /// What is minimised, as the statement has it.
    pub metric_name: String,
    /// What is minimised.
    pub metric: Box<dyn Metric>,
    /// The metrics that it weighs against each other, by name, where it is a sum of several.
    pub terms: Vec<(String, Box<dyn Metric>)>,
    /// How the release is chosen.
    pub choice: Choice,
    /// The seed of everything random.
    pub seed: u64,
    /// When the search has to end.
    pub time_limit: Option<Duration>,
    /// The most nodes that the search may evaluate.
    pub node_limit: Option<u64>,
    /// Where the report of the release goes.
    pub report: Option<ReportFile>,
}

impl Choice {
    /// The algorithm as the statement has it; `None` where a node is given.
    pub fn call(&self) -> Option<&Call> {
        match self {
            Choice::Search { call, .. } | Choice::Partition { call, .. } => Some(call),
            Choice::Node(_) => None,
        }
    }
}

impl Job {
    /// Whether the released table has the column: identifiers without a hash are dropped, and so is an entity column
    /// that is in no other list.
    pub fn releases(&self, column: &str) -> bool {
        let hashed = |i: &Identifier| i.column == column && i.secret.is_some();
        self.identifiers.iter().any(hashed)
            || self.quasi_identifiers.iter().any(|q| q.column == column)
            || self.sensitive.iter().any(|s| s.column == column)
            || self.class_label.as_deref() == Some(column)
            || self.keep.iter().any(|k| k == column)
    }

    /// How a sensitive column is permuted.
    pub fn randomization(&self, column: &str) -> Option<&Randomization> {
        self.sensitive
            .iter()
            .find(|s| s.column == column)?
            .randomization
            .as_ref()
    }

    /// The position of a quasi-identifier.
    pub fn quasi_identifier(&self, column: &str) -> Option<usize> {
        self.quasi_identifiers.iter().position(|q| q.column == column)
    }

    /// An error when a source is not what it was when it was named.
    pub(super) async fn check_unchanged(&self) -> Result<()> {
        self.source.pins.check().await?;
        match &self.population {
            Some(population) => population.pins.check().await,
            None => Ok(()),
        }
    }

    /// Checks that every column has one role, and that what roles name is there.
    pub fn check(&self) -> Result<()> {
        let columns = self.source.columns();
        for (i, column) in columns.iter().enumerate() {
            if columns[..i].contains(column) {
                return Err(Error::usage(format!(
                    "{} has two columns called {column:?}",
                    self.source.name
                )));
            }
        }
        let mut roles: Vec<(&str, &str)> = vec![];
        roles.extend(self.identifiers.iter().map(|i| (i.column.as_str(), "IDENTIFIERS")));
        roles.extend(
            self.quasi_identifiers
                .iter()
                .map(|q| (q.column.as_str(), "QUASI IDENTIFIERS")),
        );
        roles.extend(self.sensitive.iter().map(|s| (s.column.as_str(), "SENSITIVE")));
        roles.extend(self.class_label.iter().map(|c| (c.as_str(), "CLASS")));
        roles.extend(self.keep.iter().map(|k| (k.as_str(), "KEEP")));
        roles.extend(self.personal().map(|(c, limit)| (limit, c.call.name.as_str())));
        for (i, (column, role)) in roles.iter().enumerate() {
            if !columns.contains(column) {
                return Err(Error::unknown("column", column, columns.iter().copied()));
            }
            if let Some((_, other)) = roles[..i].iter().find(|(c, _)| c == column) {
                return Err(Error::usage(format!(
                    "column {column:?} has two roles, {other} and {role}; every column has exactly one"
                )));
            }
        }
        if let Some(entity) = self.entity.as_deref().filter(|e| !columns.contains(e)) {
            return Err(Error::unknown("column", entity, columns.iter().copied()));
        }
        let classified = |c: &&str| roles.iter().any(|(r, _)| r == c) || self.entity.as_deref() == Some(*c);
        let forgotten: Vec<&str> = columns.iter().copied().filter(|c| !classified(c)).collect();
        if !forgotten.is_empty() {
            return Err(Error::usage(format!(
                "no role was given to {}; name each in IDENTIFIERS, QUASI IDENTIFIERS, SENSITIVE, CLASS or KEEP, so \
                 that nothing is released by being forgotten",
                forgotten.join(", ")
            )));
        }
        if self.quasi_identifiers.is_empty() {
            return Err(Error::usage("QUASI IDENTIFIERS names no column"));
        }
        super::personal::check(self)?;
        super::randomize::check(self)
    }
}

/// The error for a target that is there already.
pub(super) fn target_exists(path: &std::path::Path) -> Error {
    Error::new(
        ErrorKind::TargetExists,
        format!(
            "{} exists; add OVERWRITE to replace it, or IF NOT EXISTS to keep it",
            path.display()
        ),
    )
}
