//! Warns of a date that is released unchanged beside another date, which is shifted by a number of
//! days for each person.

use super::evidence::{Evidence, Examined, Fate};
use super::warned::{Warning, WarningKind};
use super::words::fate;
use crate::base::quoting::ident;
use crate::method::suggest::ValueKind;

pub(super) fn warnings(evidence: &Evidence) -> Vec<Warning> {
    let is_date = |c: &&Examined| c.facts.kind == ValueKind::Date;
    let is_moved = |c: &&Examined| matches!(c.fate, Fate::Masked(kind) if kind.is_of_person());
    let dates = || evidence.columns.iter().filter(is_date);
    let Some(moved) = dates().find(is_moved) else {
        return vec![];
    };
    dates()
        .filter(|c| c.is_plain())
        .map(|plain| warning(plain, &moved.facts.name))
        .collect()
}

fn warning(plain: &Examined, moved: &str) -> Warning {
    let name = ident(&plain.facts.name);
    let text = format!(
        "{name} is {}, and {} is moved by the days of a person: anyone who knows how far the two dates are apart \
         knows these days, and with them every moved date of the person; write the clause of {} after {name}, too, \
         or IDENTIFIERS ({name})",
        fate(plain.fate),
        ident(moved),
        ident(moved),
    );
    Warning::new(WarningKind::Shifted, vec![plain.facts.name.clone()], text)
}
