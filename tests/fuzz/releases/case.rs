//! One case as plain data: it prints as statements, and can be made smaller piece by piece.

use arrow::datatypes::DataType;
use std::fmt::{self, Display, Write};

/// A value of a generated table.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    /// Whole numbers, booleans, and days, units or ticks of dates, decimals, times and timestamps.
    Int(i128),
    Float(f64),
    /// Text, and the bytes of binary columns.
    Text(String),
    /// A list, and the fields of a struct.
    List(Vec<Option<i64>>),
}

/// A column of a generated table.
#[derive(Debug, Clone)]
pub struct Column {
    pub name: String,
    pub data_type: DataType,
    pub values: Vec<Value>,
}

/// A generated table; every column has as many values.
#[derive(Debug, Clone)]
pub struct Table {
    pub columns: Vec<Column>,
}

impl Table {
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |c| c.values.len())
    }
}

/// Where a table is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// In memory, in so many batches.
    Memory(usize),
    /// In so many Parquet files.
    Parquet(usize),
    /// In so many Parquet files as Spark writes them.
    Spark(usize),
    Csv,
}

/// How the statement names the rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    Whole,
    /// A query with this condition.
    Where(String),
    /// A join with a second table that has each value of this column once.
    Join(String),
    /// A query that gathers the values of this column for each group of equal other columns and
    /// lists them again: a planner takes the other columns for a key of what comes out.
    Unnested(String),
}

/// A pattern of paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// Of the files of one folder.
    Names,
    /// Of files at any depth; all but the first lie deeper.
    Depths,
}

/// What a table in memory says of itself that its rows do not keep to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// That the column at this place is a primary key.
    Key(usize),
    /// That the rows are in the order of the column at this place.
    Order(usize),
}

/// The length of masked labels; no level keeps more characters.
pub const PREFIX_WIDTH: usize = 12;

/// Numbers in groups of equal width.
#[derive(Debug, Clone, PartialEq)]
pub struct Intervals {
    pub widths: Vec<String>,
    pub origin: Option<String>,
    pub bottom: Option<String>,
    pub top: Option<String>,
}

/// How values become labels, as CREATE HIERARCHY says it.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    Intervals(Intervals),
    Prefix {
        kept: Vec<u64>,
        mask: Option<char>,
    },
    Truncate(Vec<&'static str>),
    /// Rows of a ground value and its labels, and where they stand.
    Listed(Vec<Vec<String>>, Listing),
    /// Numbers of groups over a column of the table.
    Quantiles {
        groups: Vec<u32>,
        column: String,
    },
    Suppression,
}

/// Where the rows of a listed hierarchy stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    Values,
    File,
    Query,
}

/// What becomes of a value that the hierarchy does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmapped {
    Error,
    Suppress,
    Top,
}

/// What becomes of NULL.
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

/// How a sensitive column is permuted.
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
    /// Released by this mask, in which `@` stands for the place of the secret.
    Masked(&'static str),
    /// Released by this mask of KEEP or SENSITIVE, with `@` likewise.
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
    /// In no list: the entity, or the limits of personal_privacy.
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

/// Whether a model counts in a population table.
pub fn is_of_population(model: &str) -> bool {
    ["k_map", "delta_presence"].contains(&model)
}

/// The most rows that may be suppressed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    Percent(u32),
    Rows(u64),
}

impl Limit {
    /// definitions.md, "Suppression limit": a count, or floor(share * N).
    pub fn rows(self, rows: usize) -> usize {
        match self {
            Limit::Percent(p) => rows * p as usize / 100,
            Limit::Rows(n) => n as usize,
        }
    }
}

/// How the release is chosen.
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
    /// Quasi-identifiers whose labels have another form than text, with the form.
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

/// How rows leave.
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

/// A table, a request over it, and the way out.
#[derive(Debug, Clone)]
pub struct Case {
    pub seed: u64,
    pub table: Table,
    pub storage: Storage,
    pub source: Source,
    /// Rows of the population beside those of the table, as positions in it.
    pub more_people: Vec<usize>,
    /// Whether the columns of the population have other types than the source's, with equal values.
    pub people_of_other_types: bool,
    pub claim: Option<Claim>,
    /// The pattern that names the files, where one does.
    pub pattern: Option<Pattern>,
    pub hierarchies: Vec<Hierarchy>,
    pub request: Request,
    pub way: Way,
    pub partitions: usize,
}

impl Request {
    /// The quasi-identifiers with what is said of them.
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

    /// The sensitive columns.
    pub fn sensitive(&self) -> impl Iterator<Item = (&str, Option<&str>, Option<&Randomize>)> {
        self.roles.iter().filter_map(|(column, role)| match role {
            Role::Sensitive { hierarchy, randomize } => {
                Some((column.as_str(), hierarchy.as_deref(), randomize.as_ref()))
            }
            _ => None,
        })
    }

    pub fn role(&self, column: &str) -> Option<&Role> {
        self.roles.iter().find(|(c, _)| c == column).map(|(_, role)| role)
    }

    /// The promise to each row, if one is made: its attribute and the column with the limits.
    pub fn personal(&self) -> Option<(&str, &str)> {
        let model = self.models.iter().find(|m| m.name == "personal_privacy")?;
        Some((model.on.as_deref()?, model.arguments.first()?))
    }

    /// Whether the choice is local recoding.
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

/// A name as SQL.
pub fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text as SQL.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn list<T>(items: impl IntoIterator<Item = T>, one: impl Fn(T) -> String) -> String {
    items.into_iter().map(one).collect::<Vec<_>>().join(", ")
}

impl Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        if !self.arguments.is_empty() {
            write!(f, "({})", self.arguments.join(", "))?;
        }
        if let Some(on) = &self.on {
            write!(f, " ON {}", quote(on))?;
        }
        if let Some(columns) = self.any {
            return write!(f, " ON ANY {columns}");
        }
        match self.subset.is_empty() {
            true => Ok(()),
            false => write!(f, " ON ({})", list(&self.subset, |c| quote(c))),
        }
    }
}

impl Request {
    /// QUASI IDENTIFIERS, with the levels, weights and forms that ANONYMIZE takes and VERIFY does
    /// not.
    pub fn quasi_clause(&self, full: bool) -> String {
        let one = |(column, hierarchy, levels, _): (&str, Option<&str>, Option<(usize, usize)>, f64)| {
            let mut text = quote(column);
            if let Some(h) = hierarchy {
                text += &format!(" USING {}", quote(h));
            }
            if let (Some((low, high)), true) = (levels, full) {
                text += &format!(" LEVELS {low} TO {high}");
            }
            if let (Some(Role::Quasi { weight: Some(w), .. }), true) = (self.role(column), full) {
                text += &format!(" WEIGHT {w:?}");
            }
            if let (Some((_, form)), true) = (self.labels.iter().find(|(c, _)| c == column), full) {
                text += &format!(" LABELS {form}");
            }
            text
        };
        let sets = self.roles.iter().filter(|(_, role)| *role == Role::Items);
        let all = self.quasi().map(one).chain(sets.map(|(column, _)| quote(column)));
        format!("QUASI IDENTIFIERS ({})", list(all, |text| text))
    }

    /// SENSITIVE, or nothing.
    pub fn sensitive_clause(&self, secret: Option<&str>) -> String {
        let full = secret.is_some();
        let masked = secret.map(|secret| self.drawn(true, secret)).unwrap_or_default();
        let one = |(column, hierarchy, randomize): (&str, Option<&str>, Option<&Randomize>)| {
            let mut text = quote(column);
            if let Some(h) = hierarchy {
                text += &format!(" USING {}", quote(h));
            }
            text += &match randomize.filter(|_| full) {
                None => String::new(),
                Some(Randomize::Table) => " RANDOMIZED".into(),
                Some(Randomize::Class) => " RANDOMIZED WITHIN CLASS".into(),
                Some(Randomize::Columns(columns)) => format!(" RANDOMIZED WITHIN ({})", list(columns, |c| quote(c))),
                Some(Randomize::Matrix) => " RANDOMIZED WITH MATRIX matrix".into(),
            };
            text
        };
        let columns: Vec<String> = self.sensitive().map(one).chain(masked).collect();
        match columns.is_empty() {
            true => String::new(),
            false => format!(" SENSITIVE ({})", columns.join(", ")),
        }
    }

    /// The columns of KEEP, or of SENSITIVE, that are released by a mask.
    fn drawn(&self, of_sensitive: bool, secret: &str) -> Vec<String> {
        let drawn = self.roles.iter().filter_map(|(column, role)| match role {
            Role::Drawn { mask, is_sensitive } if *is_sensitive == of_sensitive => {
                Some(format!("{} {}", quote(column), mask.replace('@', secret)))
            }
            _ => None,
        });
        drawn.collect()
    }

    /// SATISFYING.
    pub fn satisfying(&self) -> String {
        let models: Vec<String> = self.models.iter().map(ToString::to_string).collect();
        format!("SATISFYING {}", models.join(" AND "))
    }

    /// Every clause after the source and the target.
    pub fn clauses(&self, folder: &std::path::Path) -> String {
        let secret = format!("file:{}", folder.join("secret").display());
        let mut out = String::new();
        let with = |wanted: &[Role]| {
            let found = self.roles.iter().filter(|(_, role)| wanted.contains(role));
            found.cloned().collect::<Vec<_>>()
        };
        let is_identifier = |role: &Role| matches!(role, Role::Dropped | Role::Masked(_));
        let identifiers: Vec<(String, Role)> = self
            .roles
            .iter()
            .filter(|(_, role)| is_identifier(role))
            .cloned()
            .collect();
        if !identifiers.is_empty() {
            let one = |(column, role): (String, Role)| match role {
                Role::Masked(mask) => format!("{} {}", quote(&column), mask.replace('@', &literal(&secret))),
                _ => quote(&column),
            };
            let _ = write!(out, " IDENTIFIERS ({})", list(identifiers, one));
        }
        let _ = write!(
            out,
            " {}{}",
            self.quasi_clause(true),
            self.sensitive_clause(Some(&literal(&secret)))
        );
        if let Some((class, _)) = with(&[Role::Class]).first() {
            let _ = write!(out, " CLASS ({})", quote(class));
        }
        let kept = with(&[Role::Keep]).into_iter().map(|(column, _)| quote(&column));
        let kept: Vec<String> = kept.chain(self.drawn(false, &literal(&secret))).collect();
        if !kept.is_empty() {
            let _ = write!(out, " KEEP ({})", kept.join(", "));
        }
        if let Some(entity) = &self.entity {
            let _ = write!(out, " ENTITY ({})", quote(entity));
        }
        if self.population {
            out += " POPULATION people";
        }
        let _ = write!(out, " {}", self.satisfying());
        match self.limit {
            None => {}
            Some(Limit::Percent(p)) => {
                let _ = write!(out, " SUPPRESSING AT MOST {p} PERCENT");
            }
            Some(Limit::Rows(n)) => {
                let _ = write!(out, " SUPPRESSING AT MOST {n} ROWS");
            }
        }
        if self.starred {
            out += " SUPPRESSED ROWS STARRED";
        }
        if !self.metric.is_empty() {
            let one = |(weight, name): &(f64, String)| match *weight == 1.0 {
                true => name.clone(),
                false => format!("{weight:?} * {name}"),
            };
            let terms: Vec<String> = self.metric.iter().map(one).collect();
            let _ = write!(out, " MINIMIZING {}", terms.join(" + "));
        }
        match &self.choice {
            Choice::Default => {}
            Choice::Local => out.push_str(" RECODING LOCAL"),
            Choice::Search(call) => {
                let _ = write!(out, " SEARCH USING {call}");
            }
            Choice::Node(node) => {
                let _ = write!(out, " AT NODE ({})", list(node, |(c, l)| format!("{} {l}", quote(c))));
            }
        }
        if let Some(seed) = self.seed {
            let _ = write!(out, " WITH (seed = {seed})");
        }
        out
    }
}

impl Hierarchy {
    /// The statement that makes it; a listed one may read a file of `folder`.
    pub fn sql(&self, folder: &std::path::Path) -> String {
        let rule = match &self.rule {
            Rule::Intervals(of) => {
                let mut text = format!("AS INTERVALS ({})", of.widths.join(", "));
                for (word, number) in [
                    ("ORIGIN", &of.origin),
                    ("BOTTOM CODE", &of.bottom),
                    ("TOP CODE", &of.top),
                ] {
                    if let Some(n) = number {
                        text += &format!(" {word} {n}");
                    }
                }
                text
            }
            Rule::Prefix { kept, mask } => {
                let mask = mask.map_or(String::new(), |m| {
                    format!(" MASK {} WIDTH {PREFIX_WIDTH}", literal(&m.to_string()))
                });
                format!("AS PREFIX ({}){mask}", list(kept, |n| n.to_string()))
            }
            Rule::Truncate(units) => format!("AS TRUNCATE ({})", units.join(", ")),
            Rule::Listed(rows, Listing::File) => {
                let path = folder.join(format!("{}.csv", self.name));
                let _ = rows;
                format!("FROM {}", literal(&path.display().to_string()))
            }
            Rule::Listed(rows, listing) => {
                let rows = list(rows, |row| format!("({})", list(row, |v| literal(v))));
                match listing {
                    Listing::Query => format!("AS (SELECT * FROM (VALUES {rows}) AS v)"),
                    _ => format!("AS VALUES {rows}"),
                }
            }
            Rule::Quantiles { groups, column } => {
                format!(
                    "AS QUANTILES ({}) OF t.{}",
                    list(groups, |n| n.to_string()),
                    quote(column)
                )
            }
            Rule::Suppression => "AS SUPPRESSION".into(),
        };
        let unmapped = match self.unmapped {
            Unmapped::Error => "",
            Unmapped::Suppress => " ON UNMAPPED SUPPRESS",
            Unmapped::Top => " ON UNMAPPED TOP",
        };
        let nulls = match self.nulls {
            Nulls::Value => "",
            Nulls::Top => " NULLS AS TOP",
            Nulls::Error => " NULLS ERROR",
        };
        format!("CREATE HIERARCHY {} {rule}{unmapped}{nulls}", quote(&self.name))
    }
}
