//! The clause of a kind in CREATE HIERARCHY, as data.
//!
//! A kind says which keywords its clause has and what stands after each. The statement is read, checked and printed by
//! that, so a kind has no parser of its own.

use super::arguments::Arguments;
use super::rule::GeneralizationRule;
use crate::catalogue::{Described, Info};
use crate::error::Result;
use std::sync::Arc;

/// A kind of hierarchy: what is said of it, its clause, and how a rule is made of what the clause says.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// The description; a kind has no parameters but its clause.
    pub info: Info,
    /// Its clause.
    pub clause: Clause,
    /// Makes the rule.
    pub build: Build,
}

/// How a kind makes a rule of what its clause says.
pub type Build = fn(&Arguments) -> Result<Arc<dyn GeneralizationRule>>;

impl Described for Kind {
    fn info(&self) -> &Info {
        &self.info
    }
}

/// Kinds are told apart by name.
impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.info.name == other.info.name
    }
}

/// The clause of a kind.
#[derive(Debug, Clone, Copy)]
pub struct Clause {
    /// The keywords that it begins with: `AS INTERVALS`.
    pub start: &'static str,
    /// Its syntax, for help: `AS INTERVALS (5, 10, 20) [ORIGIN 0]`. It has every keyword of the clause.
    pub syntax: &'static str,
    /// What follows.
    pub parts: &'static [Part],
}

/// A part of a clause.
#[derive(Debug, Clone, Copy)]
pub enum Part {
    /// Stands at this place, without a keyword; the name is only for [`Arguments`].
    First(&'static str, Takes),
    /// May follow after these keywords, in any order with other such parts.
    Maybe(&'static str, Takes),
    /// One of these must follow, each after its keywords.
    OneOf(&'static [(&'static str, Takes)]),
}

/// What stands in a part. The last text of each says what was expected, in an error: `a width`.
#[derive(Debug, Clone, Copy)]
pub enum Takes {
    /// One value.
    One(Item, &'static str),
    /// `(a, b, ...)`; the first text is the name of an item, in an error: `(width, ...)`.
    List(&'static str, Item, &'static str),
    /// `(a, b), (c, d), ...`
    Rows(&'static str, Item, &'static str),
    /// `(key value, ...)`
    Options,
    /// `table.column`: the rule is made of the column's distinct values and how many rows each has.
    Column,
    /// A query, in parentheses or to the end of the clause: the rule is made of its rows.
    Query,
}

/// One value in a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// A whole number from 0 to 4294967295.
    Whole,
    /// A number.
    Number,
    /// A text in quotes.
    Text,
    /// A number, or a text in quotes.
    NumberOrText,
    /// A word, whatever its case.
    Word,
    /// A literal or NULL, which is the word `null`.
    Literal,
}
