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
///
/// ```
/// use anonsql::extend::Info;
/// use anonsql::extend::hierarchy::{Arguments, Clause, GeneralizationRule, Item, Kind, Part, Takes};
/// # use std::sync::Arc;
/// # fn domain(parts: Vec<u32>) -> Arc<dyn GeneralizationRule> { unimplemented!() }
///
/// /// `CREATE HIERARCHY host AS DOMAIN (2, 1)`
/// const DOMAIN: Kind = Kind {
///     info: Info {
///         name: "domain",
///         summary: "the last parts of a domain name",
///         params: &[],
///         example: "CREATE HIERARCHY host AS DOMAIN (2, 1)",
///         reference: "in-house",
///     },
///     clause: Clause {
///         start: "AS DOMAIN",
///         syntax: "AS DOMAIN (2, 1)",
///         parts: &[Part::First("parts", Takes::List("parts", Item::Whole, "how many parts stay"))],
///     },
///     build: |given: &Arguments| Ok(domain(given.wholes("parts")?)),
/// };
/// anonsql::AnonContext::new(Default::default()).register_hierarchy_kind(DOMAIN)?;
/// # Ok::<(), anonsql::error::Error>(())
/// ```
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
///
/// ```
/// use anonsql::extend::hierarchy::{Arguments, Build};
/// fn levels(build: Build, given: &Arguments) -> anonsql::error::Result<usize> {
///     Ok(build(given)?.levels())
/// }
/// ```
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
///
/// ```
/// use anonsql::extend::hierarchy::{Clause, Item, Part, Takes};
/// /// `AS ROUNDED (10, 100) [ORIGIN 5]`
/// const ROUNDED: Clause = Clause {
///     start: "AS ROUNDED",
///     syntax: "AS ROUNDED (10, 100) [ORIGIN 5]",
///     parts: &[
///         Part::First("widths", Takes::List("width", Item::Whole, "a width")),
///         Part::Maybe("ORIGIN", Takes::One(Item::Number, "a number")),
///     ],
/// };
/// ```
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
///
/// ```
/// use anonsql::extend::hierarchy::{Item, Part, Takes};
/// const ORIGIN: Part = Part::Maybe("ORIGIN", Takes::One(Item::Number, "a number"));
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Part {
    /// Stands at this place, without a keyword; the name is only for [`Arguments`].
    First(&'static str, Takes),
    /// May follow after these keywords, in any order with other such parts.
    Maybe(&'static str, Takes),
    /// One of these must follow, each after its keywords.
    OneOf(&'static [(&'static str, Takes)]),
}

/// What stands in a part. The last text of each says what was expected, in an error: `a width`.
///
/// ```
/// use anonsql::extend::hierarchy::{Item, Takes};
/// const WIDTHS: Takes = Takes::List("width", Item::Whole, "a width");
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
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
///
/// ```
/// use anonsql::extend::hierarchy::Item;
/// assert_ne!(Item::Whole, Item::Number);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
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
