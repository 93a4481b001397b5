//! Warns of a released column that looks like an identifier.

use super::evidence::{Evidence, Examined};
use super::warned::{Warning, WarningKind};
use super::words::{fate, values};
use crate::base::quoting::ident;
use crate::method::suggest::Identifying;

pub(super) fn warnings(evidence: &Evidence) -> Vec<Warning> {
    evidence.columns.iter().filter_map(warning).collect()
}

fn warning(column: &Examined) -> Option<Warning> {
    let why = match column.identifying.filter(|_| column.is_plain())? {
        Identifying::Form(form) => format!("its values have the form of {form}"),
        Identifying::Name(what) => format!("it is named as {what}"),
        Identifying::FreeText => "it holds free text, which may name anybody".into(),
        Identifying::Unseen => "it holds bytes or nested values, which were not examined".into(),
        Identifying::Unique => return None,
    };
    let name = &column.facts.name;
    let counts = match column.identifying {
        Some(Identifying::Unseen) => String::new(),
        // Without counted rows, the warning follows from the name alone and has no counts.
        _ if column.facts.rows == 0 => String::new(),
        _ => format!(" ({})", values(&column.facts)),
    };
    Some(Warning::new(
        WarningKind::Identifier,
        vec![name.clone()],
        format!(
            "{name} is {}, and {why}{counts}; IDENTIFIERS ({}) leaves it out",
            fate(column.fate),
            ident(name)
        ),
    ))
}
