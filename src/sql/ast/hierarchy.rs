//! `CREATE HIERARCHY`.

use crate::catalogue::Value;
use crate::quoting::{ident, literal};
use crate::sql::clause::options::written as options;
use crate::sql::name::{TableName, list};
use std::fmt;

/// `CREATE [OR REPLACE] HIERARCHY [IF NOT EXISTS] name ...`
#[derive(Debug, Clone, PartialEq)]
pub struct CreateHierarchy {
    /// OR REPLACE.
    pub or_replace: bool,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// The name.
    pub name: String,
    /// Where its levels come from.
    pub definition: Definition,
    /// ON UNMAPPED, when given.
    pub unmapped: Option<Unmapped>,
    /// NULLS, when given.
    pub nulls: Option<Nulls>,
}

/// Where the levels of a hierarchy come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Definition {
    /// `FROM 'file.csv' OPTIONS (...)`
    File {
        /// The file.
        path: String,
        /// Its options, such as `delimiter ';'`.
        options: Vec<(String, Value)>,
    },
    /// `AS (query)`: the text of the query.
    Query(String),
    /// `AS INTERVALS (5, 10)`
    Intervals {
        /// The width of each level, as written: whole or real numbers.
        widths: Vec<Value>,
        /// ORIGIN.
        origin: Option<Value>,
        /// BOTTOM CODE.
        bottom: Option<Value>,
        /// TOP CODE.
        top: Option<Value>,
    },
    /// `AS PREFIX (4, 3) MASK '*'`
    Prefix {
        /// How many characters stay, level by level.
        keep: Vec<u32>,
        /// MASK.
        mask: Option<String>,
    },
    /// `AS TRUNCATE (MONTH, YEAR)`: the units, in lower case.
    Truncate(Vec<String>),
    /// `AS VALUES (...), (...)`: rows of the ground value and its labels; `None` is NULL.
    Values(Vec<Vec<Option<Value>>>),
    /// `AS QUANTILES (16, 4) OF table.column`
    Quantiles {
        /// The number of groups, level by level.
        groups: Vec<u32>,
        /// The table.
        table: TableName,
        /// Its column.
        column: String,
    },
    /// `AS QUANTILES (16, 4) BOUNDS (...)`: what QUANTILES OF stored, as SHOW HIERARCHIES prints it.
    Bounds {
        /// The number of groups, level by level.
        groups: Vec<u32>,
        /// The least value of every group but the first, ascending.
        bounds: Vec<Value>,
    },
    /// `AS SUPPRESSION`
    Suppression,
}

/// What happens to a value that the hierarchy does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unmapped {
    /// The run ends with an error.
    #[default]
    Error,
    /// Its row is suppressed.
    Suppress,
    /// It is released at the top level.
    Top,
}

/// What happens to NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Nulls {
    /// It is a value like any other.
    #[default]
    Value,
    /// It is released at the top level.
    Top,
    /// The run ends with an error.
    Error,
}

impl fmt::Display for CreateHierarchy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let replace = if self.or_replace { "OR REPLACE " } else { "" };
        let exists = if self.if_not_exists { "IF NOT EXISTS " } else { "" };
        write!(
            f,
            "CREATE {replace}HIERARCHY {exists}{} {}",
            ident(&self.name),
            self.definition
        )?;
        f.write_str(match self.unmapped {
            None => "",
            Some(Unmapped::Error) => " ON UNMAPPED ERROR",
            Some(Unmapped::Suppress) => " ON UNMAPPED SUPPRESS",
            Some(Unmapped::Top) => " ON UNMAPPED TOP",
        })?;
        f.write_str(match self.nulls {
            None => "",
            Some(Nulls::Value) => " NULLS AS VALUE",
            Some(Nulls::Top) => " NULLS AS TOP",
            Some(Nulls::Error) => " NULLS ERROR",
        })
    }
}

impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Definition::File { path, options: o } => write!(f, "FROM {}{}", literal(path), options(o, " ")),
            // In parentheses, so that ON UNMAPPED cannot be taken for a part of the query.
            Definition::Query(query) => write!(f, "AS ({query})"),
            Definition::Intervals {
                widths,
                origin,
                bottom,
                top,
            } => {
                write!(f, "AS INTERVALS ({})", list(widths, fmt::Display::fmt))?;
                for (word, value) in [("ORIGIN", origin), ("BOTTOM CODE", bottom), ("TOP CODE", top)] {
                    if let Some(value) = value {
                        write!(f, " {word} {value}")?;
                    }
                }
                Ok(())
            }
            Definition::Prefix { keep, mask } => {
                write!(f, "AS PREFIX ({})", list(keep, fmt::Display::fmt))?;
                mask.as_ref().map_or(Ok(()), |m| write!(f, " MASK {}", literal(m)))
            }
            Definition::Truncate(units) => {
                write!(
                    f,
                    "AS TRUNCATE ({})",
                    list(units, |u, f| f.write_str(&u.to_ascii_uppercase()))
                )
            }
            Definition::Values(rows) => {
                let label = |v: &Option<Value>, f: &mut fmt::Formatter<'_>| match v {
                    Some(v) => write!(f, "{v}"),
                    None => f.write_str("NULL"),
                };
                write!(
                    f,
                    "AS VALUES {}",
                    list(rows, |row, f| write!(f, "({})", list(row, label)))
                )
            }
            Definition::Quantiles { groups, table, column } => {
                write!(
                    f,
                    "AS QUANTILES ({}) OF {table}.{}",
                    list(groups, fmt::Display::fmt),
                    ident(column)
                )
            }
            Definition::Bounds { groups, bounds } => {
                write!(
                    f,
                    "AS QUANTILES ({}) BOUNDS ({})",
                    list(groups, fmt::Display::fmt),
                    list(bounds, fmt::Display::fmt)
                )
            }
            Definition::Suppression => f.write_str("AS SUPPRESSION"),
        }
    }
}
