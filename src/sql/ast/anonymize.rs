//! `ANONYMIZE` and its clauses.

use super::{options, with};
use crate::catalogue::{Call, Value};
use crate::sql::name::{TableName, call, ident, list, literal_text, names};
use std::fmt::{self, Display};

/// Where rows come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// A table of the session.
    Table(TableName),
    /// A file, folder, glob or URL.
    Path(String),
    /// The text of a query.
    Query(String),
}

/// `ANONYMIZE source ...`
#[derive(Debug, Clone, PartialEq)]
pub struct Anonymize {
    /// What is anonymized.
    pub source: Source,
    /// TO: where it is written; without it the rows are the answer.
    pub target: Option<Target>,
    /// IDENTIFIERS.
    pub identifiers: Vec<Identifier>,
    /// QUASI IDENTIFIERS.
    pub quasi_identifiers: Vec<QuasiIdentifier>,
    /// SENSITIVE.
    pub sensitive: Vec<Sensitive>,
    /// CLASS.
    pub class: Option<String>,
    /// KEEP.
    pub keep: Vec<String>,
    /// ENTITY.
    pub entity: Option<String>,
    /// POPULATION: the table that k_map counts in.
    pub population: Option<Source>,
    /// SATISFYING.
    pub satisfying: Vec<Constraint>,
    /// SUPPRESSING AT MOST.
    pub limit: Option<Limit>,
    /// SUPPRESSED ROWS: `Some(true)` is STARRED, `Some(false)` DROPPED.
    pub starred: Option<bool>,
    /// MINIMIZING: one metric, or the terms of a weighted sum; empty when not given.
    pub minimizing: Vec<Goal>,
    /// SEARCH USING, AT NODE or USING MANIFEST.
    pub choice: Choice,
    /// WITH.
    pub options: Vec<(String, Value)>,
    /// REPORT TO.
    pub report: Option<String>,
}

/// `TO 'target' ...`
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Where to.
    pub path: String,
    /// STORED AS.
    pub format: Option<Format>,
    /// PARTITIONED BY.
    pub partitioned_by: Vec<String>,
    /// What happens when it is there already.
    pub exists: Exists,
    /// OPTIONS.
    pub options: Vec<(String, Value)>,
}

/// The format of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// PARQUET
    Parquet,
    /// CSV
    Csv,
}

/// What happens when a target is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Exists {
    /// An error.
    #[default]
    Error,
    /// OVERWRITE
    Overwrite,
    /// IF NOT EXISTS: nothing is done.
    Skip,
}

/// A column of IDENTIFIERS.
#[derive(Debug, Clone, PartialEq)]
pub struct Identifier {
    /// The column.
    pub column: String,
    /// HASH WITH SECRET; without it the column is dropped.
    pub hash: Option<Secret>,
}

/// Where the key of a hash is; the key itself never stands in a statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Secret {
    /// In this environment variable.
    Env(String),
    /// In this file.
    File(String),
}

/// A column of QUASI IDENTIFIERS.
#[derive(Debug, Clone, PartialEq)]
pub struct QuasiIdentifier {
    /// The column.
    pub column: String,
    /// USING.
    pub hierarchy: Option<String>,
    /// LEVELS a TO b, with a <= b.
    pub levels: Option<(u32, u32)>,
    /// WEIGHT, at least 0.
    pub weight: Option<f64>,
}

/// A column of SENSITIVE.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensitive {
    /// The column.
    pub column: String,
    /// USING.
    pub hierarchy: Option<String>,
    /// RANDOMIZED.
    pub randomized: Option<Randomize>,
}

/// How a sensitive attribute is permuted.
#[derive(Debug, Clone, PartialEq)]
pub enum Randomize {
    /// RANDOMIZED: over the whole table.
    Table,
    /// RANDOMIZED WITHIN CLASS: within each equivalence class.
    Class,
    /// RANDOMIZED WITHIN (c, ...): within the groups of these columns.
    Columns(Vec<String>),
    /// RANDOMIZED WITH MATRIX table: by this matrix.
    Matrix(TableName),
}

/// One term of SATISFYING. `ON name` is a sensitive attribute, `ON (a, b)` a subset of the columns; both may be given.
#[derive(Debug, Clone, PartialEq)]
pub struct Constraint {
    /// The privacy model.
    pub model: Call,
    /// `ON name`.
    pub sensitive: Option<String>,
    /// `ON (a, b)`; empty when not given.
    pub subset: Vec<String>,
}

/// The most rows that may be suppressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// A share of the rows.
    Percent(Percent),
    /// A count.
    Rows(u64),
}

/// A percentage exactly as written: `digits / 10^scale`, without trailing zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percent {
    digits: u64,
    scale: u32,
}

impl Percent {
    /// Reads `1`, `0.5` and the like; `None` when it is no number from 0 to 100 with at most 15 decimals.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let fraction = fraction.trim_end_matches('0');
        let scale = u32::try_from(fraction.len()).ok().filter(|s| *s <= 15)?;
        let digits: u64 = format!("{whole}{fraction}").parse().ok()?;
        (digits <= 100 * 10u64.pow(scale)).then_some(Self { digits, scale })
    }
}

impl Percent {
    /// The share as a fraction.
    pub fn fraction(self) -> (u64, u64) {
        (self.digits, 100 * 10u64.pow(self.scale))
    }
}

impl Limit {
    /// The limit as a count of `rows` rows: a share is rounded down, in exact arithmetic.
    pub fn rows(&self, rows: u64) -> u64 {
        match self {
            Limit::Rows(n) => *n,
            Limit::Percent(p) => {
                let share = u128::from(rows) * u128::from(p.digits) / (100 * 10u128.pow(p.scale));
                u64::try_from(share).unwrap_or(rows)
            }
        }
    }
}

/// One term of MINIMIZING.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    /// Its weight; 1 when none is written.
    pub weight: f64,
    /// The metric.
    pub metric: Call,
}

/// One term of OPTIMIZING.
#[derive(Debug, Clone, PartialEq)]
pub struct Objective {
    /// MAX rather than MIN.
    pub max: bool,
    /// What is optimized: k, l, or the name of a metric.
    pub property: Call,
    /// ON: a sensitive attribute.
    pub on: Option<String>,
}

/// How the node is found.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Choice {
    /// Nothing is said: the default search.
    #[default]
    Default,
    /// SEARCH USING.
    Search(Call),
    /// AT NODE: a level per column.
    Node(Vec<(String, u32)>),
    /// USING MANIFEST: the node of an earlier release.
    Manifest(String),
}

impl Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Table(name) => name.fmt(f),
            Source::Path(path) => literal_text(path).fmt(f),
            Source::Query(query) => write!(f, "({query})"),
        }
    }
}

/// Prints one line; with `{:#}` one clause a line.
impl Display for Anonymize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gap = if f.alternate() { "\n  " } else { " " };
        write!(f, "ANONYMIZE {}", self.source)?;
        if let Some(target) = &self.target {
            write!(f, "{gap}{target}")?;
        }
        if !self.identifiers.is_empty() {
            write!(f, "{gap}IDENTIFIERS ({})", list(&self.identifiers, Display::fmt))?;
        }
        write!(f, "{gap}{}", quasi_identifiers(&self.quasi_identifiers))?;
        write!(f, "{}", sensitives(&self.sensitive, gap))?;
        if let Some(class) = &self.class {
            write!(f, "{gap}CLASS ({})", ident(class))?;
        }
        if !self.keep.is_empty() {
            write!(f, "{gap}KEEP ({})", names(&self.keep))?;
        }
        if let Some(entity) = &self.entity {
            write!(f, "{gap}ENTITY ({})", ident(entity))?;
        }
        if let Some(population) = &self.population {
            write!(f, "{gap}POPULATION {population}")?;
        }
        if !self.satisfying.is_empty() {
            write!(f, "{gap}{}", constraints(&self.satisfying))?;
        }
        if let Some(limit) = &self.limit {
            write!(f, "{gap}SUPPRESSING AT MOST {limit}")?;
        }
        if let Some(starred) = self.starred {
            write!(
                f,
                "{gap}SUPPRESSED ROWS {}",
                if starred { "STARRED" } else { "DROPPED" }
            )?;
        }
        for (i, goal) in self.minimizing.iter().enumerate() {
            f.write_str(if i == 0 { gap } else { " + " })?;
            write!(f, "{}{goal}", if i == 0 { "MINIMIZING " } else { "" })?;
        }
        match &self.choice {
            Choice::Default => {}
            Choice::Search(search) => write!(f, "{gap}SEARCH USING {}", call(search))?,
            Choice::Node(node) => {
                let level = |(c, l): &(String, u32), f: &mut fmt::Formatter<'_>| write!(f, "{} {l}", ident(c));
                write!(f, "{gap}AT NODE ({})", list(node, level))?;
            }
            Choice::Manifest(path) => write!(f, "{gap}USING MANIFEST {}", literal_text(path))?,
        }
        write!(f, "{}", with(&self.options, gap))?;
        self.report
            .as_ref()
            .map_or(Ok(()), |path| write!(f, "{gap}REPORT TO {}", literal_text(path)))
    }
}

/// Writes `QUASI IDENTIFIERS (...)`.
pub(in crate::sql) fn quasi_identifiers(columns: &[QuasiIdentifier]) -> impl Display + '_ {
    fmt::from_fn(move |f| write!(f, "QUASI IDENTIFIERS ({})", list(columns, Display::fmt)))
}

/// Writes `SENSITIVE (...)` after `gap`, or nothing.
pub(in crate::sql) fn sensitives<'a>(columns: &'a [Sensitive], gap: &'a str) -> impl Display + 'a {
    fmt::from_fn(move |f| match columns {
        [] => Ok(()),
        columns => write!(f, "{gap}SENSITIVE ({})", list(columns, Display::fmt)),
    })
}

/// Writes `SATISFYING ...`.
pub(in crate::sql) fn constraints(constraints: &[Constraint]) -> impl Display + '_ {
    fmt::from_fn(move |f| {
        for (i, constraint) in constraints.iter().enumerate() {
            write!(f, "{}{constraint}", if i == 0 { "SATISFYING " } else { " AND " })?;
        }
        Ok(())
    })
}

impl Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TO {}", literal_text(&self.path))?;
        f.write_str(match self.format {
            None => "",
            Some(Format::Parquet) => " STORED AS PARQUET",
            Some(Format::Csv) => " STORED AS CSV",
        })?;
        if !self.partitioned_by.is_empty() {
            write!(f, " PARTITIONED BY ({})", names(&self.partitioned_by))?;
        }
        f.write_str(match self.exists {
            Exists::Error => "",
            Exists::Overwrite => " OVERWRITE",
            Exists::Skip => " IF NOT EXISTS",
        })?;
        write!(f, "{}", options(&self.options, " "))
    }
}

impl Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secret = match &self.hash {
            None => return ident(&self.column).fmt(f),
            Some(Secret::Env(name)) => format!("env:{name}"),
            Some(Secret::File(path)) => format!("file:{path}"),
        };
        write!(f, "{} HASH WITH SECRET {}", ident(&self.column), literal_text(&secret))
    }
}

impl Display for QuasiIdentifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ident(&self.column).fmt(f)?;
        if let Some(hierarchy) = &self.hierarchy {
            write!(f, " USING {}", ident(hierarchy))?;
        }
        if let Some((from, to)) = self.levels {
            write!(f, " LEVELS {from} TO {to}")?;
        }
        self.weight.map_or(Ok(()), |w| write!(f, " WEIGHT {w:?}"))
    }
}

impl Display for Sensitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ident(&self.column).fmt(f)?;
        if let Some(hierarchy) = &self.hierarchy {
            write!(f, " USING {}", ident(hierarchy))?;
        }
        match &self.randomized {
            None => Ok(()),
            Some(Randomize::Table) => f.write_str(" RANDOMIZED"),
            Some(Randomize::Class) => f.write_str(" RANDOMIZED WITHIN CLASS"),
            Some(Randomize::Columns(columns)) => write!(f, " RANDOMIZED WITHIN ({})", names(columns)),
            Some(Randomize::Matrix(table)) => write!(f, " RANDOMIZED WITH MATRIX {table}"),
        }
    }
}

impl Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        call(&self.model).fmt(f)?;
        if let Some(column) = &self.sensitive {
            write!(f, " ON {}", ident(column))?;
        }
        if self.subset.is_empty() {
            Ok(())
        } else {
            write!(f, " ON ({})", names(&self.subset))
        }
    }
}

impl Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Rows(n) => write!(f, "{n} ROWS"),
            Limit::Percent(p) if p.scale == 0 => write!(f, "{} PERCENT", p.digits),
            Limit::Percent(p) => {
                let unit = 10u64.pow(p.scale);
                write!(
                    f,
                    "{}.{:0width$} PERCENT",
                    p.digits / unit,
                    p.digits % unit,
                    width = p.scale as usize
                )
            }
        }
    }
}

impl Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.weight != 1.0 {
            write!(f, "{:?} * ", self.weight)?;
        }
        call(&self.metric).fmt(f)
    }
}

impl Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", if self.max { "MAX" } else { "MIN" }, call(&self.property))?;
        self.on.as_ref().map_or(Ok(()), |c| write!(f, " ON {}", ident(c)))
    }
}
