//! Warnings: questions about a request that a data protection officer would ask before its release,
//! beyond its privacy models.
//!
//! A privacy model covers the columns that the request calls quasi-identifiers and sensitive. A
//! warning questions these roles: a kept column may identify people, or a quasi-identifier may
//! distinguish nobody. Warnings use the rules of SUGGEST ROLES about identifiers
//! ([`crate::method::suggest`]). A warning contains names of columns and counts, and no data value.
//!
//! A new kind of warning is one file with one line in [`KINDS`].

mod blanks;
mod constant;
mod empty;
mod entity;
mod evidence;
mod identifier;
mod linked;
mod shifted;
mod unique;
mod warned;
mod words;

pub use blanks::mostly_padded;
pub use evidence::{Evidence, Examined, Fate, Links};
pub use linked::may_link;
pub use warned::{Warning, WarningKind, columns, open, refusal};

use crate::method::suggest::{ValueKind, named_as_identifier};
use words::fate;

/// A function that returns the warnings of one kind.
type Find = fn(&Evidence) -> Vec<Warning>;

/// Every kind of warning, in the order in which warnings are given.
const KINDS: &[Find] = &[
    identifier::warnings,
    unique::warnings,
    linked::warnings,
    shifted::warnings,
    entity::warnings,
    constant::warnings,
    empty::warnings,
    blanks::warnings,
];

/// Returns the warnings that follow from the evidence. A warning is accepted if `accepted` contains
/// all its columns. A warning without columns cannot be accepted.
pub fn warnings(evidence: &Evidence, accepted: &[String]) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = KINDS.iter().flat_map(|find| find(evidence)).collect();
    for warning in &mut warnings {
        let is_accepted = |column| accepted.contains(column);
        warning.accepted = !warning.columns.is_empty() && warning.columns.iter().all(is_accepted);
    }
    warnings
}

/// Returns the warning that follows from the name of a released column alone, before any value is
/// read; `None` if the name is not the name of an identifier, or if the column is dropped or
/// masked.
pub fn by_name(column: &str, kind: ValueKind, treated: Fate) -> Option<String> {
    if matches!(treated, Fate::Dropped | Fate::Masked(_)) {
        return None;
    }
    let what = named_as_identifier(column, kind)?;
    Some(format!("{column} is {}, and named as {what}", fate(treated)))
}

#[cfg(test)]
mod tests;
