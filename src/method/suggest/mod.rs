//! Proposes roles for columns from their names, the form of their values, and counts.
//!
//! The rules are those with which a reviewer begins, and the first rule that applies decides. A
//! column without values is dropped, because nothing is known about it. A column that cannot be
//! generalized is dropped. A column is dropped if its values or its name are those of one of the 18
//! identifiers in HIPAA's Safe Harbor. Dates, and facts that others can know about a person, are
//! quasi-identifiers. Facts that people do not want others to know are sensitive. A column whose
//! values are nearly all different contains codes and is dropped. Any other column is assumed to be
//! known to others if it distinguishes people. A proposal is not a judgement, because it does not
//! consider what other data have been published.
//!
//! For dates, ages and places, a proposal follows the limits of Safe Harbor 2 and 3: it includes
//! the lowest level of the hierarchy that may be released (see `levels`).
//!
//! Each kind of knowledge is one table, in which an addition takes one line: words in column names
//! (`vocabulary`), forms of values (`patterns`), national numbers of people (`national`), postal
//! codes (`postcodes`), and date formats (`dates`).
//!
//! No value is stored or shown. The input contains sampled values, but the output contains only
//! counts and forms.
//!
//! References: 45 CFR 164.514(b)(2) (Safe Harbor); Regulation (EU) 2016/679, article 9 (special
//! categories); Motwani and Xu, Efficient algorithms for masking and finding quasi-identifiers,
//! 2007 (distinction and separation).

mod dates;
mod facts;
mod harbor;
mod identifying;
mod levels;
mod masks;
mod names;
mod national;
mod oldest;
mod patterns;
mod postcodes;
mod siblings;
mod vocabulary;

pub use facts::{Facts, ValueKind};
pub use harbor::{Limited, REST};
pub use identifying::{Identifying, identifying, may_be_entity, named_as_identifier};
pub use vocabulary::Meaning;

use facts::{CODES, FEW_ROWS, MOST, UNIQUE};
use patterns::Pattern;

/// The minimum separation of a quasi-identifier: the share of pairs of rows in which the two rows
/// have different values.
const SEPARATES: f64 = 0.01;

/// The proposed role of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProposedRole {
    /// The column is dropped.
    Identifier,
    /// The column is generalized.
    QuasiIdentifier,
    /// The column is kept, and a privacy model constrains it.
    Sensitive,
    /// The column is kept as the label that a classifier learns.
    ClassLabel,
    /// The column is kept.
    Keep,
}

impl ProposedRole {
    /// Returns the name of the role.
    pub fn name(self) -> &'static str {
        match self {
            ProposedRole::Identifier => "identifier",
            ProposedRole::QuasiIdentifier => "quasi-identifier",
            ProposedRole::Sensitive => "sensitive",
            ProposedRole::ClassLabel => "class label",
            ProposedRole::Keep => "keep",
        }
    }
}

/// The proposal for one column.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// The proposed role.
    pub role: ProposedRole,
    /// The reason for the role, in words.
    pub reason: String,
    /// For a quasi-identifier, the definition of a hierarchy as SQL, beginning with `AS`.
    pub hierarchy: Option<String>,
    /// The lowest and the highest level of this hierarchy that Safe Harbor 2 and 3 allow; `None` if
    /// they allow every level.
    pub levels: Option<(u32, u32)>,
    /// For an identifier, the clause that releases a mask of the column; `None` if no mask is
    /// useful.
    pub mask: Option<String>,
    /// True if all rows with the same value belong to one person.
    pub is_entity: bool,
}

/// Proposes a role for a column.
pub fn propose(facts: &Facts) -> Proposal {
    let (pattern, meaning) = (Pattern::of(facts, MOST), names::meaning(&facts.name));
    let (role, why) = match decide(facts, pattern, meaning) {
        (ProposedRole::QuasiIdentifier, _) if !facts.is_finite => (
            ProposedRole::Identifier,
            "some values are NaN or infinite, which cannot be generalized: select NULL in their place".into(),
        ),
        decided => decided,
    };
    let rule = (role == ProposedRole::QuasiIdentifier).then(|| levels::rule(facts, pattern, meaning));
    let note = rule.as_ref().map_or("", |rule| rule.note);
    Proposal {
        role,
        reason: match facts.kind {
            ValueKind::Nested | ValueKind::Binary => why,
            _ => format!("{why}; {}{note}", facts.counts()),
        },
        levels: rule.as_ref().and_then(|rule| rule.levels),
        hierarchy: rule.map(|rule| rule.sql),
        mask: match role {
            ProposedRole::Identifier => masks::clause(facts, (pattern, meaning), is_entity(facts)),
            _ => None,
        },
        is_entity: role == ProposedRole::Identifier && is_entity(facts),
    }
}

/// Returns true if all rows with the same value probably belong to one person: the column's name
/// means people, some values occur more than once, and there are enough values to rule out chance.
pub fn is_entity(facts: &Facts) -> bool {
    facts.values >= FEW_ROWS && facts.distinction() < UNIQUE && facts.distinct > 1 && names::is_person(&facts.name)
}

fn decide(facts: &Facts, pattern: Option<Pattern>, meaning: Option<Meaning>) -> (ProposedRole, String) {
    // This function is long because it lists the rules. A rule applies only if no earlier rule
    // applies.
    use ProposedRole::{ClassLabel, Identifier, Keep, QuasiIdentifier, Sensitive};
    let because = |role: ProposedRole, why: &str| (role, why.to_string());
    let named = |role: ProposedRole, what: &str| (role, format!("named as {what}"));
    let formed = |role: ProposedRole, what: &str| (role, format!("values have the form of {what}"));
    if facts.rows > 0 && facts.values == 0 {
        return because(Identifier, "it has no values, so nothing is known about later ones");
    }
    match facts.kind {
        ValueKind::Nested => {
            return because(
                Identifier,
                "neither text nor number: its content cannot be judged; select its parts in a query, or name a list \
                 in QUASI IDENTIFIERS with km_anonymity ON it",
            );
        }
        ValueKind::Binary => {
            return because(
                Identifier,
                "bytes: photographs, biometric data and documents identify (Safe Harbor 16, 17)",
            );
        }
        _ => {}
    }
    if let Some(Pattern::Identifier(what)) = pattern {
        return formed(Identifier, what);
    }
    match meaning {
        Some(Meaning::Identifier(what)) => return named(Identifier, what),
        Some(Meaning::Code) if facts.distinction() > CODES || names::is_person(&facts.name) || facts.values == 0 => {
            return named(Identifier, "a unique code (Safe Harbor 18)");
        }
        Some(Meaning::FreeText) if facts.kind == ValueKind::Text && facts.distinct > 20 => {
            return named(Identifier, "free text, which may name anybody");
        }
        _ => {}
    }
    // The limits of Safe Harbor also apply to a column that has the same value in every row.
    if facts.kind == ValueKind::Date
        || matches!(pattern, Some(Pattern::Date(_) | Pattern::DateTime | Pattern::ShortDate))
    {
        return because(QuasiIdentifier, "dates, finer than the year (Safe Harbor 3)");
    }
    match meaning {
        Some(Meaning::Age) => return named(QuasiIdentifier, "an age, which Safe Harbor 3 limits to 89"),
        Some(Meaning::Birth) => return named(QuasiIdentifier, "a date or year of birth (Safe Harbor 3)"),
        Some(Meaning::DatePart) => return named(QuasiIdentifier, "a part of a date (Safe Harbor 3)"),
        Some(Meaning::Place) => return named(QuasiIdentifier, "a place smaller than a state (Safe Harbor 2)"),
        _ => {}
    }
    let is_postcode = matches!(pattern, Some(Pattern::Postal(_)));
    if facts.is_constant() && !is_postcode && !matches!(meaning, Some(Meaning::Sensitive(_))) {
        return because(Keep, "the same in every row");
    }
    match meaning {
        Some(Meaning::QuasiIdentifier(what)) => return named(QuasiIdentifier, what),
        Some(Meaning::Sensitive(what)) => return named(Sensitive, what),
        Some(Meaning::ClassLabel) if (2..=20).contains(&facts.distinct) => {
            return named(ClassLabel, "what a classifier learns");
        }
        _ => {}
    }
    match pattern {
        Some(Pattern::FreeText) => return because(Identifier, "free text, which may name anybody"),
        Some(Pattern::Amount) => {
            return because(
                Sensitive,
                "amounts written as text, which others seldom know exactly: make numbers of them in a query",
            );
        }
        _ => {}
    }
    // Uniqueness is checked before the form of the values: a unique case number may have the form
    // of a diagnosis or a postal code.
    if facts.is_unique() && matches!(facts.kind, ValueKind::Text | ValueKind::Integer) {
        return because(
            Identifier,
            "nearly every row has a value of its own: a unique code (Safe Harbor 18)",
        );
    }
    match pattern {
        Some(Pattern::Postal(_)) => return formed(QuasiIdentifier, "postal codes (Safe Harbor 2)"),
        Some(Pattern::Sensitive(what)) => return formed(Sensitive, what),
        _ => {}
    }
    if facts.kind == ValueKind::Number && facts.distinct > 20 {
        return because(Sensitive, "a measured amount, which others seldom know exactly");
    }
    if facts.values > 0 && (facts.distinct <= 1 || facts.separation < SEPARATES) {
        return because(Keep, "distinguishes hardly anybody");
    }
    because(
        QuasiIdentifier,
        "its name and form are unknown, so others are assumed to know it",
    )
}

#[cfg(test)]
mod tests;
