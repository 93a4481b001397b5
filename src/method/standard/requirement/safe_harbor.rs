//! The identifiers of 45 CFR 164.514(b)(2)(i) are removed, except for the parts of dates and
//! geographic units that Safe Harbor allows.
//!
//! [`Limited`] recognizes the identifiers, and says what of them may be kept. VERIFY applies the
//! hierarchies of the manifest to every value that Safe Harbor limits, because a manifest contains
//! no values.

use super::columns;
use super::entry::{Promised, Requirement};
use crate::base::error::Result;
use crate::base::quoting::ident;
use crate::method::standard::looked::{Looked, LowestLabels, Treated};
use crate::method::standard::recorded::{RecordedLabels, RecordedRelease, ReleaseCheck, Remark};
use crate::method::suggest::{Facts, Limited, REST, named_as_identifier, propose};
use arrow::array::{ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;

/// The list of the identifiers.
const LIST: &str = "45 CFR 164.514(b)(2)(i)";

/// The eighteen identifiers are removed, except for the parts of dates and geographic units that
/// Safe Harbor allows.
#[derive(Debug)]
pub struct SafeHarbor;

impl Requirement for SafeHarbor {
    fn reads_values(&self) -> bool {
        true
    }

    fn siblings(&self, facts: &Facts, values: &ArrayRef) -> Result<Option<ArrayRef>> {
        let limited = Limited::of(facts);
        limited.map(|limited| limited.with_siblings(values)).transpose()
    }

    fn forbidden(&self, columns: &[Looked]) -> Result<Vec<String>> {
        let mut found = vec![];
        for column in columns {
            found.extend(breach(column)?);
        }
        Ok(found)
    }

    fn missing(&self, _: &[Promised]) -> Option<String> {
        None
    }

    fn compared(&self, standard: &str, release: &RecordedRelease) -> Result<ReleaseCheck> {
        columns::compared(self, (standard, release), |facts, recorded, remarks| {
            labels(standard, (facts, recorded), remarks)
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
            "Column {name}: {} ({LIST}({})); {instead}",
            limited.what(),
            limited.paragraph()
        ))
    };
    let drop = || "name it in IDENTIFIERS without a mask, which drops it".to_string();
    Ok(match (&column.treated, limited) {
        // A mask of codes, and any mask of a limited column, releases texts that are derived from
        // the original values.
        (Treated::Masked(kind), limited) if kind.is_code() || limited.is_some() => {
            let limited = limited.unwrap_or_else(|| {
                let named = named_as_identifier(&facts.name, facts.kind);
                Limited::Identifier(named.unwrap_or("codes in place of its values (Safe Harbor 18)"))
            });
            said(limited, format!("{} is derived from its values; {}", kind.noun, drop()))
        }
        (_, None) | (Treated::Masked(_), _) => None,
        (Treated::Unchanged | Treated::Unseen, Some(limited @ Limited::Identifier(_))) => said(limited, drop()),
        (Treated::Unchanged, Some(limited)) => said(limited, generalize(column)),
        (Treated::Unseen, Some(_)) => None,
        (Treated::Generalized(labelled), Some(limited)) => match keeps(labelled, limited)? {
            true => None,
            false => said(limited, generalize(column)),
        },
    })
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

/// Returns the labels that the hierarchy of a quasi-identifier gives to every value that Safe
/// Harbor limits, if Safe Harbor allows these labels. Returns `None` if the column has no limit, or
/// if the release does not show whether the labels are allowed; in the latter case, also adds a
/// remark.
fn labels(
    standard: &str,
    (facts, recorded): (&Facts, &RecordedLabels),
    remarks: &mut Vec<Remark>,
) -> Result<Option<LowestLabels>> {
    let Some(limited) = Limited::of(facts) else {
        return Ok(None);
    };
    let name = &facts.name;
    let Some(labels) = recorded.of_values(|of_type| limited.domain(of_type))? else {
        remarks.push(Remark::Unchecked(format!(
            "whether {standard} allows the labels of {name} (the manifest does not hold the values of its hierarchy, or the \
             form of its dates)"
        )));
        return Ok(None);
    };
    if keeps(&labels, limited)? {
        return Ok(Some(labels));
    }
    // The manifest does not show whether the source has the values about which the labels reveal
    // too much.
    remarks.push(Remark::Gap(format!(
        "whether {standard} allows the labels of {name} (for other values its hierarchy reveals more, and only the \
         source shows which values exist)"
    )));
    Ok(None)
}

/// Returns true if the labels reveal no more about the values than Safe Harbor allows.
fn keeps(labels: &LowestLabels, limited: Limited) -> Result<bool> {
    let Some(groups) = limited.groups(&labels.values)? else {
        return Ok(labels.level > 0 && !labels.computed);
    };
    // A value that is computed from dates or codes is itself a date or a code, and a value that is
    // computed from withheld values reveals them.
    let is_of_numbers = matches!(limited, Limited::Ages | Limited::BirthYears);
    if labels.computed && (!is_of_numbers || groups.iter().any(Option::is_some)) {
        return Ok(false);
    }
    // A value that is equal to its label is revealed, even if it is the only value in its group.
    let values = cast(&labels.values, &DataType::Utf8)?;
    let own = values.as_string::<i32>().iter().zip(&labels.texts).zip(&groups);
    let is_told = |((value, label), group): ((Option<&str>, Option<&str>), &Option<i64>)| {
        group.is_some() && value == label && value.is_some_and(|value| limited.is_too_fine(value))
    };
    if own.into_iter().any(is_told) {
        return Ok(false);
    }
    let mut withheld = groups
        .iter()
        .zip(&labels.texts)
        .filter(|(group, _)| **group == Some(REST));
    Ok(labels.gathers(&groups) && withheld.all(|(_, text)| text.is_none_or(|text| limited.withholds(text))))
}
