//! Checks that masks fit their columns and the promises of a request.

use super::Purpose;
use crate::base::error::{Error, Result};
use crate::base::quoting::ident;
use crate::method::masks::has_text;
use crate::release::job::{Existing, Job, MaskOf};

/// Fails if a mask does not accept the type of its column, if a model or a metric evaluates the
/// values of the column, or if the column that the mask's clause names does not exist or is not an
/// identifier or the entity. Fails also if several people may have the same masked value of the
/// entity. For a release, the secret of every mask is read.
pub(super) fn check(job: &Job, purpose: Purpose) -> Result<()> {
    let columns = job.input.source.columns();
    let shared = |of: &&MaskOf| !of.clause.kind.tells_apart;
    if let Some(entity) = &job.input.entity
        && let Some(of) = job.roles.mask(entity).filter(shared)
    {
        return Err(Error::usage(format!(
            "ENTITY ({}): two people may share {}, and would be counted as one; release it as HASH WITH SECRET 'env:NAME', or \
             drop it",
            ident(entity),
            of.clause.kind.noun
        )));
    }
    for of in &job.roles.masks {
        let column = &of.column;
        let field = job.input.source.rows.schema().field_with_unqualified_name(column)?;
        let named = |e: Error| e.context(format!("column {}", ident(column)));
        of.mask.data_type(field.data_type()).map_err(named)?;
        is_of_no_promise(job, column, of).map_err(named)?;
        let Some(entity) = of.clause.entity() else {
            continue;
        };
        if !columns.contains(&entity) {
            return Err(named(Error::unknown("column", entity, columns.iter().copied())));
        }
        let field = job.input.source.rows.schema().field_with_unqualified_name(entity)?;
        has_text(of.clause.kind.clause.start, field.data_type())
            .map_err(|e| e.context(format!("column {}", ident(entity))))?;
        is_by_person(job, column, entity, of.clause.kind.clause.start).map_err(named)?;
    }
    if purpose == Purpose::Release {
        for of in &job.roles.masks {
            of.with_secret()
                .map_err(|e| e.context(format!("column {}", ident(&of.column))))?;
        }
    }
    Ok(())
}

/// Fails if a model or a metric evaluates the values that the mask replaces. The model or metric
/// would evaluate the values in the source, but the release contains other values. Fails also for
/// APPEND with a mask that is drawn at random, because the masks of the released rows were drawn
/// from other rows.
fn is_of_no_promise(job: &Job, column: &str, of: &MaskOf) -> Result<()> {
    let start = of.clause.kind.clause.start;
    if let Some(constraint) = job
        .guarantees
        .constraints
        .iter()
        .find(|c| c.attribute.as_deref() == Some(column))
    {
        return Err(Error::usage(format!(
            "{} is a promise about the values of {}, and {start} releases others; leave out the promise or the mask",
            constraint.describe(&job.roles.quasi_identifiers),
            ident(column)
        )));
    }
    let is_first = job.roles.sensitive.first().is_some_and(|s| s.column == column);
    if job.goal.metrics().iter().any(|metric| metric.reads().attribute) && is_first {
        return Err(Error::usage(format!(
            "{} measures the values of {} in each class, and {start} releases others; minimize another metric, or leave out \
             the mask",
            job.goal.metric_name,
            ident(column)
        )));
    }
    let adds = job
        .output
        .target
        .as_ref()
        .is_some_and(|target| target.existing == Existing::Append);
    match adds && of.clause.kind.is_drawn() {
        true => Err(Error::usage(format!(
            "{start} is drawn from all rows of a release together, and APPEND has only new ones; write a release of its own, \
             or leave out the mask"
        ))),
        false => Ok(()),
    }
}

/// Fails unless the column `entity`, which the clause of the mask names, is an identifier, or is
/// the entity and has no other role. The mask is computed from the raw values of this column, so a
/// mask that depends on a quasi-identifier or a sensitive attribute would distinguish rows in the
/// same class.
fn is_by_person(job: &Job, column: &str, entity: &str, start: &str) -> Result<()> {
    if column == entity {
        return Err(Error::usage(format!(
            "{start} the column itself leaves no interval as it was; write {start} the column of the person"
        )));
    }
    let is_identifier = job.roles.identifiers.iter().any(|i| i == entity);
    let is_entity_alone = job.input.entity.as_deref() == Some(entity) && !job.roles.releases(entity);
    if is_identifier || is_entity_alone {
        return Ok(());
    }
    let is_kept = job.roles.keep.iter().any(|kept| kept == entity);
    let entity = ident(entity);
    Err(Error::usage(match is_kept {
        true => format!(
            "{start} {entity} takes a column of the person that is not released as it is, and {entity} is in KEEP; move it to \
             IDENTIFIERS, as {entity} HASH WITH SECRET 'env:NAME' if its rows are to stay linked"
        ),
        false => format!(
            "{start} {entity} would tell apart rows whose {entity} the release makes one; name a column of the person that is \
             in IDENTIFIERS, or ENTITY"
        ),
    }))
}
