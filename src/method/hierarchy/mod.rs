//! Generalization hierarchies as Arrow lookup tables.
//!
//! CREATE HIERARCHY creates a [`Hierarchy`]. It consists of a [`GeneralizationRule`], which returns
//! the label of a ground value at each level, and of options for values that the rule does not map.
//! A hierarchy that is bound to the distinct values of a column is a [`Lookup`]. For each level, it
//! contains an Arrow array of labels and an array that maps ground codes to label codes, so one
//! Arrow `take` generalizes a batch.
//!
//! Each kind of hierarchy has one file and one line in [`KINDS`]. The file contains the clause in
//! CREATE HIERARCHY as data (see [`Clause`]), the function that builds a rule from the clause, and
//! the rule.

mod arguments;
mod bounds;
mod calendar;
mod cells;
mod changed;
mod clause;
mod codes;
mod cover;
mod coverage;
mod date_format;
mod exceptions;
pub mod file;
mod grid;
mod ground;
mod header;
mod instant;
mod intervals;
mod label;
mod label_form;
mod line;
mod listed;
mod local_times;
mod lookup;
mod named;
mod nesting;
mod number;
mod places;
mod plain_type;
mod prefix;
mod prefix_labels;
mod quantile_labels;
mod quantiles;
mod query;
mod roundest;
mod rule;
mod suppression;
#[cfg(test)]
mod tests;
mod travel;
mod truncate;
mod truncate_labels;
mod units;
pub mod values;
mod year_labels;
mod years;

pub use arguments::{Arguments, Data, GivenPart};
pub use bounds::Bounds;
pub(crate) use bounds::{in_utc, spelled};
pub use clause::{Build, Clause, Item, Kind, Part, Takes};
pub use codes::{Codes, Side};
pub use cover::{Cover, Proven};
pub use coverage::Coverage;
pub use exceptions::{OnNull, OnUnmapped};
pub(crate) use ground::has_order;
pub(crate) use instant::{has_zone, texts, with_times_as_texts};
pub use label::{Label, LabelTexts};
pub use label_form::LabelForm;
pub(crate) use local_times::local_times;
pub use lookup::{Level, Lookup};
pub(crate) use named::GENERALIZE;
pub use named::Hierarchy;
pub(crate) use number::Number;
pub(crate) use plain_type::{is_binary, plain_type};
pub(crate) use rule::UNMAPPED;
pub use rule::{GeneralizationRule, LevelRule, TOP};
pub(crate) use travel::LookupHeader;
pub(crate) use units::Units;

/// Every kind of hierarchy, in the order in which the language reference lists them.
pub static KINDS: &[Kind] = &[
    file::KIND,
    query::KIND,
    intervals::KIND,
    prefix::KIND,
    truncate::KIND,
    values::KIND,
    quantiles::KIND,
    suppression::KIND,
];
