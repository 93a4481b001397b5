//! Warns of several rows that belong to one person while the models count them as several people,
//! and of rows in which the entity is NULL.

use super::evidence::{Evidence, Examined, Fate};
use super::warned::{Warning, WarningKind};
use super::words::values;
use crate::base::quoting::ident;
use crate::method::suggest::{Identifying, is_entity, may_be_entity};

pub(super) fn warnings(evidence: &Evidence) -> Vec<Warning> {
    if evidence.has_entity {
        return evidence.without_entity.iter().map(without).collect();
    }
    let is_code = |c: &&Examined| {
        let identifies = matches!(c.fate, Fate::Dropped | Fate::Masked(_)) || c.identifying.is_some();
        identifies
            && c.identifying != Some(Identifying::FreeText)
            && is_entity(&c.facts)
            && may_be_entity(&c.facts.name)
    };
    // If several columns are codes, the column with the fewest distinct values is taken as the code
    // of the person.
    let code = evidence.columns.iter().filter(is_code).min_by_key(|c| c.facts.distinct);
    code.map(warning).into_iter().collect()
}

/// Returns the warning about rows in which the entity is NULL.
fn without((entity, rows): &(String, u64)) -> Warning {
    Warning::new(
        WarningKind::Entity,
        vec![entity.clone()],
        format!(
            "{entity} is NULL in {rows} rows, which count as one more person in each class, although they may belong \
             to anybody; leave them out, (SELECT * FROM ... WHERE {} IS NOT NULL), or give them codes",
            ident(entity)
        ),
    )
}

fn warning(code: &Examined) -> Warning {
    let name = &code.facts.name;
    Warning::new(
        WarningKind::Entity,
        vec![name.clone()],
        format!(
            "a person seems to have several rows, as {name} has {}, and the models count rows; ENTITY ({}) counts people",
            values(&code.facts),
            ident(name)
        ),
    )
}
