//! One case as plain data. It can be printed as statements and reduced piece by piece.

use arrow::datatypes::DataType;

/// A value of a generated table.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    /// A whole number or a boolean; also the days of a date, the units of a decimal, or the ticks
    /// of a time or timestamp.
    Int(i128),
    Float(f64),
    /// Text, or the bytes of a binary column.
    Text(String),
    /// A list, or the fields of a struct.
    List(Vec<Option<i64>>),
}

/// A column of a generated table.
#[derive(Debug, Clone)]
pub struct Column {
    pub name: String,
    pub data_type: DataType,
    pub values: Vec<Value>,
}

/// A generated table, whose columns all have the same number of values.
#[derive(Debug, Clone)]
pub struct Table {
    pub columns: Vec<Column>,
}

impl Table {
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |c| c.values.len())
    }
}

/// The place where a table is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// In memory, as this many batches.
    Memory(usize),
    /// As this many Parquet files.
    Parquet(usize),
    /// As this many Parquet files, written as Spark writes them.
    Spark(usize),
    Csv,
}

/// The form in which the statement names the rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    Whole,
    /// A query with this condition.
    Where(String),
    /// A join with a second table that contains each value of this column once.
    Join(String),
    /// A query that groups the rows by the other columns, gathers the values of this column in each
    /// group, and lists them again. A planner considers the other columns a key of the result.
    Unnested(String),
}

/// A pattern of paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// Matches the files of one folder.
    Names,
    /// Matches files at any depth. All files but the first are in deeper folders.
    Depths,
}

/// A false statement of a table in memory about its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// The column with this index is a primary key.
    Key(usize),
    /// The rows are in the order of the column with this index.
    Order(usize),
}

/// The length of masked labels of PREFIX; no level keeps more characters.
pub const PREFIX_WIDTH: usize = 12;

/// Numbers in groups of equal width.
#[derive(Debug, Clone, PartialEq)]
pub struct Intervals {
    pub widths: Vec<String>,
    pub origin: Option<String>,
    pub bottom: Option<String>,
    pub top: Option<String>,
}

/// The rule by which values become labels, as in CREATE HIERARCHY.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    Intervals(Intervals),
    Prefix {
        kept: Vec<u64>,
        mask: Option<char>,
    },
    Truncate(Vec<&'static str>),
    /// The rows, each an original value with its labels, and the place where the rows are stored.
    Listed(Vec<Vec<String>>, Listing),
    /// The numbers of groups of QUANTILES, and the column of the table that is divided.
    Quantiles {
        groups: Vec<u32>,
        column: String,
    },
    Suppression,
}

/// The place where the rows of a listed hierarchy are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    Values,
    File,
    Query,
}

/// The treatment of a value that is not in the hierarchy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmapped {
    Error,
    Suppress,
    Top,
}

/// The treatment of NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nulls {
    Value,
    Top,
    Error,
}

/// A hierarchy of the session.
#[derive(Debug, Clone)]
pub struct Hierarchy {
    pub name: String,
    pub rule: Rule,
    pub unmapped: Unmapped,
    pub nulls: Nulls,
}

/// The scope within which a sensitive column is permuted.
#[derive(Debug, Clone, PartialEq)]
pub enum Randomize {
    Table,
    Class,
    Columns(Vec<String>),
    Matrix,
}

/// The role of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Role {
    Dropped,
    /// Released by this mask. `@` in the mask represents the place of the secret, and `?` the
    /// column of the person.
    Masked(&'static str),
    /// Released by this mask of KEEP or SENSITIVE, with `@` and `?` as in `Masked`.
    Drawn {
        mask: &'static str,
        is_sensitive: bool,
    },
    Quasi {
        hierarchy: Option<String>,
        levels: Option<(usize, usize)>,
        weight: Option<f64>,
    },
    Sensitive {
        hierarchy: Option<String>,
        randomize: Option<Randomize>,
    },
    Class,
    Keep,
    /// A list that is a quasi-identifier item by item.
    Items,
    /// The column has no clause of its own: it is the entity, or contains the limits of
    /// personal_privacy.
    Unlisted,
}

/// A privacy model with its arguments as they are written.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    pub name: String,
    pub arguments: Vec<String>,
    pub on: Option<String>,
    pub subset: Vec<String>,
    /// ON ANY: the number of columns of every subset.
    pub any: Option<usize>,
}

/// Returns true if a model counts people in a population table.
pub fn is_of_population(model: &str) -> bool {
    ["k_map", "delta_presence"].contains(&model)
}

/// The largest number of rows that may be suppressed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    Percent(u32),
    Rows(u64),
}

impl Limit {
    /// Returns the suppression limit in rows. definitions.md, "Suppression limit": a count, or
    /// floor(share * N).
    pub fn rows(self, rows: usize) -> usize {
        match self {
            Limit::Percent(p) => rows * p as usize / 100,
            Limit::Rows(n) => n as usize,
        }
    }
}

/// The way in which the release is chosen.
#[derive(Debug, Clone, PartialEq)]
pub enum Choice {
    Default,
    Local,
    Search(String),
    Node(Vec<(String, usize)>),
}

/// An ANONYMIZE without its source and target.
#[derive(Debug, Clone)]
pub struct Request {
    pub roles: Vec<(String, Role)>,
    pub entity: Option<String>,
    pub population: bool,
    pub models: Vec<Model>,
    pub limit: Option<Limit>,
    pub starred: bool,
    pub metric: Vec<(f64, String)>,
    pub choice: Choice,
    pub seed: Option<u64>,
    /// Quasi-identifiers whose labels have a form other than text, with that form.
    pub labels: Vec<(String, &'static str)>,
}

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Parquet,
    Csv,
    Json,
    Arrow,
}

/// The way in which the released rows are delivered.
#[derive(Debug, Clone, PartialEq)]
pub enum Way {
    To {
        format: Format,
        partitioned_by: Vec<String>,
        rows_per_file: Option<u64>,
        report: bool,
    },
    Rows,
    CreateTable,
    Copy(Format),
    Insert,
}

/// A table, a request over it, and the way in which the released rows are delivered.
#[derive(Debug, Clone)]
pub struct Case {
    pub seed: u64,
    pub table: Table,
    pub storage: Storage,
    pub source: Source,
    /// Additional rows of the population, as positions in the table.
    pub more_people: Vec<usize>,
    /// True if the columns of the population have other types than the source's, with equal values.
    pub people_of_other_types: bool,
    pub claim: Option<Claim>,
    /// The pattern that names the files, if there is one.
    pub pattern: Option<Pattern>,
    pub hierarchies: Vec<Hierarchy>,
    pub request: Request,
    pub way: Way,
    pub partitions: usize,
}

impl Request {
    /// Returns the quasi-identifiers with their hierarchy, levels and weight.
    pub fn quasi(&self) -> impl Iterator<Item = (&str, Option<&str>, Option<(usize, usize)>, f64)> {
        self.roles.iter().filter_map(|(column, role)| match role {
            Role::Quasi {
                hierarchy,
                levels,
                weight,
            } => Some((column.as_str(), hierarchy.as_deref(), *levels, weight.unwrap_or(1.0))),
            _ => None,
        })
    }

    /// Returns the sensitive columns with their hierarchy and permutation.
    pub fn sensitive(&self) -> impl Iterator<Item = (&str, Option<&str>, Option<&Randomize>)> {
        self.roles.iter().filter_map(|(column, role)| match role {
            Role::Sensitive { hierarchy, randomize } => {
                Some((column.as_str(), hierarchy.as_deref(), randomize.as_ref()))
            }
            _ => None,
        })
    }

    /// Returns the column of the person by which dates are shifted: the first column in IDENTIFIERS
    /// that is not shifted itself.
    pub fn person(&self) -> Option<&str> {
        let is_person = |role: &Role| match role {
            Role::Dropped => true,
            Role::Masked(mask) => !mask.starts_with("SHIFT"),
            _ => false,
        };
        let found = self.roles.iter().find(|(_, role)| is_person(role));
        found.map(|(column, _)| column.as_str())
    }

    pub fn role(&self, column: &str) -> Option<&Role> {
        self.roles.iter().find(|(c, _)| c == column).map(|(_, role)| role)
    }

    /// Returns the attribute of personal_privacy and the column with the limits, if the request has
    /// that model.
    pub fn personal(&self) -> Option<(&str, &str)> {
        let model = self.models.iter().find(|m| m.name == "personal_privacy")?;
        Some((model.on.as_deref()?, model.arguments.first()?))
    }

    /// Returns true if the choice is local recoding.
    pub fn is_local(&self) -> bool {
        let is = |name: &str| {
            anonsql::internal::partition::PARTITIONERS
                .iter()
                .any(|e| e.info.name == name)
        };
        match &self.choice {
            Choice::Local => true,
            Choice::Search(call) => is(call.split([' ', '(']).next().unwrap_or(call)),
            Choice::Default | Choice::Node(_) => false,
        }
    }
}
