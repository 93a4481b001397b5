//! The clause in CREATE HIERARCHY that selects a kind of hierarchy, as data.
//!
//! A kind declares the keywords of its clause and the content that follows each keyword. The
//! statement is parsed, checked and printed from this declaration, so no kind needs its own parser.

use super::arguments::Arguments;
use super::rule::GeneralizationRule;
use crate::base::catalogue::{Described, Info};
use crate::base::error::Result;
use std::sync::Arc;

/// A kind of hierarchy: its description, its clause, and its constructor.
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
    /// The description of the kind. `params` is empty, because the clause declares the parameters.
    pub info: Info,
    /// The clause that selects the kind.
    pub clause: Clause,
    /// The constructor of the rule.
    pub build: Build,
}

/// The constructor of a kind, which builds a rule from the arguments of the clause.
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

impl Kind {
    /// Returns true if the content of the part `part` is a path or URL.
    pub(crate) fn reads_path(&self, part: &str) -> bool {
        let is_path = |p: &Part| matches!(p, Part::First(name, Takes::One(Item::Path, _)) | Part::Maybe(name, Takes::One(Item::Path, _)) if *name == part);
        self.clause.parts.iter().any(is_path)
    }
}

/// Two kinds are equal if they have the same name.
impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.info.name == other.info.name
    }
}

/// The clause in CREATE HIERARCHY that selects a kind of hierarchy.
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
    /// The keywords at the start of the clause, such as `AS INTERVALS`.
    pub start: &'static str,
    /// The syntax that help displays, such as `AS INTERVALS (5, 10, 20) [ORIGIN 0]`. It contains
    /// every keyword of the clause.
    pub syntax: &'static str,
    /// The parts that follow the keywords at the start.
    pub parts: &'static [Part],
}

/// A part of a clause, with its keywords and its content.
///
/// ```
/// use anonsql::extend::hierarchy::{Item, Part, Takes};
/// const ORIGIN: Part = Part::Maybe("ORIGIN", Takes::One(Item::Number, "a number"));
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Part {
    /// A required part at this position, without a keyword. The name is not part of the statement;
    /// it identifies the part in [`Arguments`].
    First(&'static str, Takes),
    /// An optional part after these keywords. Optional parts may come in any order.
    Maybe(&'static str, Takes),
    /// Alternatives: exactly one of these parts must follow, after its own keywords.
    OneOf(&'static [(&'static str, Takes)]),
}

/// The content of a part. The last string of a variant, such as `a width`, describes the expected
/// content in error messages.
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
    /// A list `(a, b, ...)`. The first string is the name of an item in error messages: `(width,
    /// ...)`.
    List(&'static str, Item, &'static str),
    /// Rows `(a, b), (c, d), ...`. The first string is the name of an item in error messages.
    Rows(&'static str, Item, &'static str),
    /// Options `(key value, ...)`.
    Options,
    /// A column `table.column`. The rule is built from the distinct values of the column and the
    /// number of rows with each value.
    Column,
    /// A query, in parentheses or up to the end of the clause. The rule is built from the rows of
    /// the query.
    Query,
}

/// The type of a value in a statement.
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
    /// A string in quotes.
    Text,
    /// A path or URL in quotes. The kind reads the file or object.
    Path,
    /// A number, or a string in quotes.
    NumberOrText,
    /// An unquoted word, in upper or lower case.
    Word,
    /// A literal; NULL is written as the word `null`.
    Literal,
}
