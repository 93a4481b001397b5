//! Refusals of masks of values that they do not take.

use super::Purpose;
use crate::error::{Error, Result};
use crate::job::{Job, MaskOf};
use crate::masks::has_text;
use crate::quoting::ident;

/// Refuses a mask of a type that it does not take, one by a column that is not there or is released
/// as it is, and an entity that is counted by masks which people may share. Before a release, reads
/// every secret.
pub(super) fn check(job: &Job, purpose: Purpose) -> Result<()> {
    let columns = job.source.columns();
    let shared = |of: &&MaskOf| !of.clause.kind.tells_apart;
    if let Some(entity) = &job.entity
        && let Some(of) = job.mask(entity).filter(shared)
    {
        return Err(Error::usage(format!(
            "ENTITY ({}): two people may share {}, and would be counted as one; release it as HASH WITH SECRET 'env:NAME', or \
             drop it",
            ident(entity),
            of.clause.kind.noun
        )));
    }
    for (column, of) in job.masks() {
        let field = job.source.rows.schema().field_with_unqualified_name(column)?;
        let named = |e: Error| e.context(format!("column {}", ident(column)));
        of.mask.data_type(field.data_type()).map_err(named)?;
        let Some(entity) = of.clause.entity() else {
            continue;
        };
        if !columns.contains(&entity) {
            return Err(named(Error::unknown("column", entity, columns.iter().copied())));
        }
        let field = job.source.rows.schema().field_with_unqualified_name(entity)?;
        has_text(of.clause.kind.clause.start, field.data_type())
            .map_err(|e| e.context(format!("column {}", ident(entity))))?;
        is_by_person(job, column, entity, of.clause.kind.clause.start).map_err(named)?;
    }
    if purpose == Purpose::Release {
        for (column, of) in job.masks() {
            of.with_secret()
                .map_err(|e| e.context(format!("column {}", ident(column))))?;
        }
    }
    Ok(())
}

/// Refuses a mask by a column that is no identifier and not the entity alone. What a mask is made of
/// is a raw value: by a quasi-identifier or a sensitive attribute, it would tell apart the rows of a
/// class.
fn is_by_person(job: &Job, column: &str, entity: &str, start: &str) -> Result<()> {
    if column == entity {
        return Err(Error::usage(format!(
            "{start} the column itself leaves no interval as it was; write {start} the column of the person"
        )));
    }
    let is_identifier = job.identifiers.iter().any(|i| i.column == entity);
    let is_entity_alone = job.entity.as_deref() == Some(entity) && !job.releases(entity);
    match is_identifier || is_entity_alone {
        true => Ok(()),
        false => Err(Error::usage(format!(
            "{start} {} would tell apart rows whose {} the release makes one; name a column of the person that is in \
             IDENTIFIERS, or ENTITY",
            ident(entity),
            ident(entity)
        ))),
    }
}
