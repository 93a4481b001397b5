//! The requirements that standards have for a request.

use super::looked::{Looked, Treated};
use crate::error::Result;
use crate::quoting::ident;
use crate::suggest::{Limited, propose};

/// A requirement that a standard has for a request.
#[derive(Debug, Clone, Copy)]
pub enum Ask {
    /// The eighteen identifiers of 45 CFR 164.514(b)(2)(i) are removed, except for the parts of
    /// dates and geographic units that Safe Harbor allows.
    SafeHarbor,
    /// No name, address or number that identifies a person directly is released. The string names
    /// the paragraph of the standard.
    Direct(&'static str),
    /// Every class has at least the given number of rows, or of entities. The string names the
    /// paragraph of the standard.
    Classes(&'static str, u64),
}

/// The promise of a privacy model about all quasi-identifiers together.
#[derive(Debug, Clone, Copy)]
pub struct Promised {
    /// The minimum class size that the model promises, in rows, or in entities if the request
    /// counts entities.
    pub class_size: u64,
}

impl Ask {
    /// Returns a sentence for each column that violates the requirement.
    pub(super) fn of_columns(self, columns: &[Looked]) -> Result<Vec<String>> {
        let mut found = vec![];
        for column in columns {
            found.extend(match self {
                Ask::SafeHarbor => breach(column)?,
                Ask::Direct(paragraph) => direct(column, paragraph),
                Ask::Classes(..) => None,
            });
        }
        Ok(found)
    }

    /// Returns the requirement as a sentence if no model promises to satisfy it; `None` if a model
    /// does, or if the requirement is not about models.
    pub(super) fn of_models(self, promised: &[Promised]) -> Option<String> {
        let Ask::Classes(paragraph, rows) = self else {
            return None;
        };
        let is_kept = promised.iter().any(|promise| promise.class_size >= rows);
        (!is_kept).then(|| {
            format!("every class has at least {rows} persons ({paragraph}); write SATISFYING k_anonymity({rows}) or max_risk(1/{rows})")
        })
    }
}

/// Returns a sentence about a column if Safe Harbor does not allow its released form; `None`
/// otherwise.
fn breach(column: &Looked) -> Result<Option<String>> {
    let facts = &column.facts;
    let limited = match &column.treated {
        Treated::Generalized(_) | Treated::Unseen => Limited::of(facts),
        Treated::Unchanged | Treated::Masked(_) => Limited::of_unchanged(facts),
    };
    let name = ident(&facts.name);
    let said = |limited: Limited, instead: String| {
        Some(format!(
            "Column {name}: {} (45 CFR 164.514(b)(2)(i)({})); {instead}",
            limited.what(),
            limited.paragraph()
        ))
    };
    let drop = || "name it in IDENTIFIERS without a mask, which drops it".to_string();
    Ok(match (&column.treated, limited) {
        // A mask of codes, and any mask of a limited column, releases texts that are derived from
        // the original values.
        (Treated::Masked(kind), limited) if kind.is_code() || limited.is_some() => {
            let limited = limited.unwrap_or(Limited::Identifier("an identifier by its name (Safe Harbor 18)"));
            said(limited, format!("{} is derived from its values; {}", kind.noun, drop()))
        }
        (_, None) | (Treated::Masked(_), _) => None,
        (Treated::Unchanged | Treated::Unseen, Some(limited @ Limited::Identifier(_))) => said(limited, drop()),
        (Treated::Unchanged, Some(limited)) => said(limited, generalize(column)),
        (Treated::Unseen, Some(_)) => None,
        (Treated::Generalized(labelled), Some(limited)) => match labelled.keeps(limited)? {
            true => None,
            false => said(limited, generalize(column)),
        },
    })
}

/// Returns a sentence about a column if it is a direct identifier and its values are released:
/// unchanged, drawn from the column, or as labels that are equal to values.
fn direct(column: &Looked, paragraph: &str) -> Option<String> {
    let is_told = match &column.treated {
        Treated::Unchanged => true,
        // Values that are drawn from names are names as well.
        Treated::Masked(kind) => kind.is_drawn(),
        Treated::Generalized(labelled) => labelled.level == 0 || labelled.has_a_value().unwrap_or(true),
        Treated::Unseen => false,
    };
    let limited = Limited::of_direct(&column.facts).filter(|_| is_told)?;
    let what = limited.what().split(" (Safe Harbor").next().unwrap_or_default();
    Some(format!(
        "Column {}: {what} ({paragraph}); name it in IDENTIFIERS, which drops it",
        ident(&column.facts.name)
    ))
}

/// Returns the advice on how to generalize a column.
fn generalize(column: &Looked) -> String {
    let (name, proposal) = (ident(&column.facts.name), propose(&column.facts));
    let Some(rule) = proposal.hierarchy else {
        return "drop it in IDENTIFIERS".into();
    };
    let levels = proposal.levels.map(|(low, high)| format!(" LEVELS {low} TO {high}"));
    format!(
        "CREATE HIERARCHY h {rule}, and name it in QUASI IDENTIFIERS ({name} USING h{})",
        levels.unwrap_or_default()
    )
}
