//! Warns of a released column with a different value in nearly every row.

use super::evidence::{Evidence, Examined, Fate};
use super::warned::{Warning, WarningKind};
use super::words::{fate, values};
use crate::base::quoting::ident;
use crate::method::suggest::Identifying;

pub(super) fn warnings(evidence: &Evidence) -> Vec<Warning> {
    evidence.columns.iter().filter_map(warning).collect()
}

fn warning(column: &Examined) -> Option<Warning> {
    let (facts, name) = (&column.facts, &column.facts.name);
    let text = match column.fate {
        Fate::Masked(kind) if kind.is_pseudonym && facts.is_unique() => format!(
            "nearly every row has {} of {name} of its own ({}): it connects no rows, and leads anyone who has the \
             secret to the person; IDENTIFIERS ({}) without {} leaves it out",
            kind.noun,
            values(facts),
            ident(name),
            kind.clause.start
        ),
        _ if column.is_plain() && column.identifying == Some(Identifying::Unique) => format!(
            "{name} is {}, and nearly every row has a value of its own ({}), which leads anyone who knows it to the \
             row; IDENTIFIERS ({}) leaves it out",
            fate(column.fate),
            values(facts),
            ident(name)
        ),
        _ => return None,
    };
    Some(Warning::new(WarningKind::Unique, vec![name.clone()], text))
}
