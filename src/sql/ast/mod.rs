//! What a statement says, as plain data that prints back as SQL.

mod anonymize;
mod hierarchy;

pub use anonymize::{
    Anonymize, Choice, Constraint, Exists, Format, Goal, Identifier, Limit, Objective, Percent, QuasiIdentifier,
    Randomize, Secret, Sensitive, Source, Target,
};
pub(super) use anonymize::{constraints, quasi_identifiers, sensitives};
pub use hierarchy::{CreateHierarchy, Definition, Nulls, Unmapped};

use super::name::{TableName, call, ident, list, literal_text};
use crate::catalogue::{Call, Value};
use datafusion::sql::parser::Statement as DfStatement;
use std::fmt;

/// One statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// `CREATE HIERARCHY ...`
    CreateHierarchy(CreateHierarchy),
    /// `DROP HIERARCHY [IF EXISTS] name`
    DropHierarchy {
        /// The hierarchy.
        name: String,
        /// Whether its absence is no error.
        if_exists: bool,
    },
    /// `SHOW HIERARCHIES`
    ShowHierarchies,
    /// `DESCRIBE HIERARCHY name`
    DescribeHierarchy(String),
    /// `CHECK HIERARCHY name FOR table.column`
    CheckHierarchy {
        /// The hierarchy.
        name: String,
        /// The table.
        table: TableName,
        /// Its column.
        column: String,
    },
    /// `ANONYMIZE ...`
    Anonymize(Box<Anonymize>),
    /// An ANONYMIZE where a query stands.
    Wrapped(Wrapped),
    /// `EXPLAIN [ANALYZE] ANONYMIZE ...`
    Explain {
        /// Whether the search is run.
        analyze: bool,
        /// What is explained.
        anonymize: Box<Anonymize>,
    },
    /// `PARETO FRONT OF ANONYMIZE ... OPTIMIZING ...`
    Pareto {
        /// The request; its constraints may be empty.
        anonymize: Box<Anonymize>,
        /// What the front is over.
        objectives: Vec<Objective>,
        /// The discretization vector: empty, or one entry per objective.
        epsilon: Vec<f64>,
    },
    /// `LATTICE OF ANONYMIZE ...`
    Lattice(Box<Anonymize>),
    /// `COMPARE ANONYMIZE ... SEARCH USING (a, b, ...)`
    Compare {
        /// The request, whose choice is [`Choice::Default`].
        anonymize: Box<Anonymize>,
        /// The searches.
        searches: Vec<Call>,
    },
    /// `VERIFY ...`
    Verify(Verify),
    /// `RISK OF ...`
    Risk(Risk),
    /// `SUGGEST ROLES FOR table`
    SuggestRoles(Source),
    /// Anything else, with the text it was read from.
    DataFusion(Box<DfStatement>, String),
}

/// A statement in which an ANONYMIZE stands where a query can: put a query between the two texts to run it.
#[derive(Debug, Clone, PartialEq)]
pub struct Wrapped {
    /// The text before, such as `CREATE TABLE t AS` or `COPY (`.
    pub before: String,
    /// The request, which has no target.
    pub anonymize: Box<Anonymize>,
    /// The text after, such as `) TO 'file.parquet'`.
    pub after: String,
}

impl Wrapped {
    /// The outer statement with `query` in place of the ANONYMIZE.
    pub fn with_query(&self, query: &str) -> String {
        let left = if self.before.ends_with('(') { "" } else { " " };
        let right = if self.after.is_empty() || self.after.starts_with(')') {
            ""
        } else {
            " "
        };
        format!("{}{left}{query}{right}{}", self.before, self.after)
    }
}

/// `VERIFY ...`
#[derive(Debug, Clone, PartialEq)]
pub struct Verify {
    /// What is checked.
    pub source: Source,
    /// QUASI IDENTIFIERS.
    pub quasi_identifiers: Vec<QuasiIdentifier>,
    /// SENSITIVE.
    pub sensitive: Vec<Sensitive>,
    /// ENTITY.
    pub entity: Option<String>,
    /// SATISFYING.
    pub satisfying: Vec<Constraint>,
    /// AGAINST: the data it was released from.
    pub against: Option<Source>,
    /// POPULATION: the table that k_map counts in.
    pub population: Option<Source>,
}

/// `RISK OF ...`
#[derive(Debug, Clone, PartialEq)]
pub struct Risk {
    /// What is measured.
    pub source: Source,
    /// QUASI IDENTIFIERS.
    pub quasi_identifiers: Vec<QuasiIdentifier>,
    /// SENSITIVE.
    pub sensitive: Vec<Sensitive>,
    /// ENTITY.
    pub entity: Option<String>,
    /// POPULATION.
    pub population: Option<Source>,
    /// WITH: threshold, sampling fraction.
    pub options: Vec<(String, Value)>,
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Statement::CreateHierarchy(s) => s.fmt(f),
            Statement::DropHierarchy { name, if_exists } => {
                write!(
                    f,
                    "DROP HIERARCHY {}{}",
                    if *if_exists { "IF EXISTS " } else { "" },
                    ident(name)
                )
            }
            Statement::ShowHierarchies => f.write_str("SHOW HIERARCHIES"),
            Statement::DescribeHierarchy(name) => write!(f, "DESCRIBE HIERARCHY {}", ident(name)),
            Statement::CheckHierarchy { name, table, column } => {
                write!(f, "CHECK HIERARCHY {} FOR {table}.{}", ident(name), ident(column))
            }
            Statement::Anonymize(a) => a.fmt(f),
            Statement::Wrapped(w) => f.write_str(&w.with_query(&w.anonymize.to_string())),
            Statement::Explain { analyze, anonymize } => {
                f.write_str(if *analyze { "EXPLAIN ANALYZE " } else { "EXPLAIN " })?;
                anonymize.fmt(f)
            }
            Statement::Pareto {
                anonymize,
                objectives,
                epsilon,
            } => {
                f.write_str("PARETO FRONT OF ")?;
                anonymize.fmt(f)?;
                write!(f, " OPTIMIZING {}", list(objectives, fmt::Display::fmt))?;
                if !epsilon.is_empty() {
                    write!(f, " EPSILON ({})", list(epsilon, |e, f| write!(f, "{e:?}")))?;
                }
                Ok(())
            }
            Statement::Lattice(a) => {
                f.write_str("LATTICE OF ")?;
                a.fmt(f)
            }
            Statement::Compare { anonymize, searches } => {
                f.write_str("COMPARE ")?;
                anonymize.fmt(f)?;
                write!(f, " SEARCH USING ({})", list(searches, |s, f| write!(f, "{}", call(s))))
            }
            Statement::Verify(v) => v.fmt(f),
            Statement::Risk(r) => r.fmt(f),
            Statement::SuggestRoles(source) => write!(f, "SUGGEST ROLES FOR {source}"),
            Statement::DataFusion(_, text) => f.write_str(text),
        }
    }
}

impl fmt::Display for Verify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "VERIFY {} {}",
            self.source,
            quasi_identifiers(&self.quasi_identifiers)
        )?;
        write!(f, "{}", sensitives(&self.sensitive, " "))?;
        if let Some(entity) = &self.entity {
            write!(f, " ENTITY ({})", ident(entity))?;
        }
        write!(f, " {}", constraints(&self.satisfying))?;
        if let Some(against) = &self.against {
            write!(f, " AGAINST {against}")?;
        }
        if let Some(population) = &self.population {
            write!(f, " POPULATION {population}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Risk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "RISK OF {} {}",
            self.source,
            quasi_identifiers(&self.quasi_identifiers)
        )?;
        write!(f, "{}", sensitives(&self.sensitive, " "))?;
        if let Some(entity) = &self.entity {
            write!(f, " ENTITY ({})", ident(entity))?;
        }
        if let Some(population) = &self.population {
            write!(f, " POPULATION {population}")?;
        }
        write!(f, "{}", with(&self.options, " "))
    }
}

/// Writes ` WITH (a = 1)`, or nothing.
pub(super) fn with<'a>(options: &'a [(String, Value)], gap: &'a str) -> impl fmt::Display + 'a {
    fmt::from_fn(move |f| {
        if options.is_empty() {
            return Ok(());
        }
        let option = |(k, v): &(String, Value), f: &mut fmt::Formatter<'_>| {
            write!(f, "{} = {}", ident(k), super::name::value(v))
        };
        write!(f, "{gap}WITH ({})", list(options, option))
    })
}

/// Writes `OPTIONS (key value, ...)` after `gap`, or nothing.
pub(super) fn options<'a>(options: &'a [(String, Value)], gap: &'a str) -> impl fmt::Display + 'a {
    fmt::from_fn(move |f| {
        if options.is_empty() {
            return Ok(());
        }
        let option = |(k, v): &(String, Value), f: &mut fmt::Formatter<'_>| {
            if k.split('.').all(super::name::is_plain) {
                f.write_str(k)?
            } else {
                write!(f, "{}", literal_text(k))?
            }
            write!(f, " {}", super::name::value(v))
        };
        write!(f, "{gap}OPTIONS ({})", list(options, option))
    })
}
