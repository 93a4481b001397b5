//! Warns of kept columns that, together with the quasi-identifiers, identify single rows.
//!
//! A model counts the rows with equal quasi-identifiers. An attacker who also knows a kept column
//! of a person finds fewer such rows. Sensitive columns are not counted here, because their role
//! means that their values are unknown to an attacker.

use super::evidence::{Evidence, Examined, FEW_ROWS, Fate, Links};
use super::warned::{Warning, WarningKind};
use super::words::{counted, rows};
use crate::method::suggest::ValueKind;

/// The minimum share of unique rows among the released rows required for a warning. Almost every
/// table has a few rows with rare values.
const SHARE: f64 = 0.01;

/// Returns the kept columns whose links are worth counting in a release with `classes` classes and
/// `released` rows. Columns that identify people by themselves are left out. Returns an empty list
/// if the columns have too few values to single out many rows.
pub fn may_link(evidence: &Evidence, classes: u64, released: u64) -> Vec<String> {
    let kept = |c: &&Examined| {
        matches!(c.fate, Fate::Kept | Fate::ClassLabel)
            && c.identifying.is_none()
            && !matches!(c.facts.kind, ValueKind::Nested | ValueKind::Binary)
    };
    let kept: Vec<&Examined> = evidence.columns.iter().filter(kept).collect();
    // NULL is a value too.
    let combinations = kept.iter().map(|c| c.facts.distinct as f64 + 1.0).product::<f64>() * classes as f64;
    if kept.is_empty() || released < FEW_ROWS || combinations < SHARE * released as f64 {
        return vec![];
    }
    kept.iter().map(|c| c.facts.name.clone()).collect()
}

pub(super) fn warnings(evidence: &Evidence) -> Vec<Warning> {
    let many = |l: &&Links| l.alone > 0 && l.alone as f64 >= SHARE * l.rows as f64;
    evidence.links.iter().filter(many).map(warning).collect()
}

fn warning(links: &Links) -> Warning {
    let (one, estimated) = (links.alone, links.estimated);
    let alone = match links.of_people {
        true => format!(
            "{} of rows of one person in {}",
            counted(one, "group", estimated),
            rows(links.rows)
        ),
        false => format!("{} of {} alone", counted(one, "row", estimated), links.rows),
    };
    let text = format!(
        "anyone who knows {} beside the quasi-identifiers finds {alone}, because the models count no kept column; \
         name columns that others can know in QUASI IDENTIFIERS",
        links.columns.join(", ")
    );
    Warning::new(WarningKind::Linked, links.columns.clone(), text)
}
