//! Checks the labels of columns: their forms (LABELS), and that persons are not counted by them.

use crate::base::error::{Error, Result};
use crate::base::quoting::ident;
use crate::method::hierarchy::{LabelForm, has_order, plain_type};
use crate::release::job::{Format, Job, Output, QuasiIdentifier};

/// Fails if the entity is a quasi-identifier, or if a form cannot be computed for its column, or
/// cannot be written to the target.
pub(super) fn check(job: &Job) -> Result<()> {
    tells_persons_apart(job)?;
    for q in job
        .roles
        .quasi_identifiers
        .iter()
        .filter(|q| q.labels != LabelForm::Text)
    {
        is_computable(job, q)?;
        is_writable(&job.output, q)?;
    }
    Ok(())
}

/// Fails if the entity is a quasi-identifier. Released persons are counted by the values of the
/// entity, and a label stands for several persons.
fn tells_persons_apart(job: &Job) -> Result<()> {
    let named = job.input.entity.as_ref();
    let mut quasi_identifiers = job.roles.quasi_identifiers.iter();
    match named.filter(|entity| quasi_identifiers.any(|q| q.column == **entity)) {
        None => Ok(()),
        Some(entity) => Err(Error::usage(format!(
            "ENTITY ({0}): the column is also a quasi-identifier, and persons with the same label would be counted as one; \
             count persons by a copy of it that is dropped: FROM (SELECT *, {0} AS copied FROM ...) ... ENTITY (copied) \
             IDENTIFIERS (copied)",
            ident(entity)
        ))),
    }
}

fn is_computable(job: &Job, q: &QuasiIdentifier) -> Result<()> {
    let QuasiIdentifier {
        column, labels: form, ..
    } = q;
    let field = job.input.source.rows.schema().field_with_unqualified_name(column)?;
    let data_type = plain_type(field.data_type());
    if form.needs_order() && !has_order(data_type) {
        return Err(Error::usage(format!(
            "column {column}: LABELS {form} computes with numbers, dates and timestamps, and the column has the type \
             {data_type}; write LABELS MODE or LABELS TEXT, or cast the column in a query"
        )));
    }
    if let Some(c) = job.guarantees.constraints.iter().find(|c| c.model.reads().labels) {
        return Err(Error::usage(format!(
            "column {column}: {} counts the values under each label of a hierarchy's level, and LABELS {form} does not \
             release those labels; write LABELS TEXT",
            c.call
        )));
    }
    if let Some(c) = job.guarantees.constraints.iter().find(|c| c.model.reads().supersets) {
        return Err(Error::usage(format!(
            "column {column}: {} is recounted by the more general labels of each released label, and LABELS {form} does \
             not release those labels; write LABELS TEXT",
            c.call
        )));
    }
    if !form.is_of_class() {
        return Ok(());
    }
    if let Some(codes) = q.hierarchy.rule().codes() {
        return Err(Error::usage(format!(
            "column {column}: LABELS {form} is computed from values that {codes} of hierarchy {} hides; write LABELS BOUNDS \
             or MIDPOINT, which follow from the label, or LABELS TEXT",
            q.hierarchy.name()
        )));
    }
    // A value that is computed from a class distinguishes classes that have the same label in the
    // column.
    if let Some(c) = job.guarantees.constraints.iter().find(|c| !c.is_of_classes()) {
        return Err(Error::usage(format!(
            "column {column}: {} is about groups of classes, and LABELS {form} tells the classes of a group apart; write \
             LABELS TEXT, BOUNDS or MIDPOINT",
            c.describe(&job.roles.quasi_identifiers)
        )));
    }
    if let Some((low, high)) = q.levels.filter(|(low, _)| *low > 0) {
        return Err(Error::usage(format!(
            "column {column}: LABELS {form} is computed from the values of a class, which are not counted below level \
             {low}; write LEVELS 0 TO {high}, or LABELS MIDPOINT, which follows from the label"
        )));
    }
    match job.guarantees.constraints.iter().find(|c| c.model.reads().population) {
        Some(c) => Err(Error::usage(format!(
            "column {column}: {} counts the rows of a population that have the same labels, and LABELS {form} does not \
             label the rows of a population; write LABELS TEXT, BOUNDS or MIDPOINT",
            c.call
        ))),
        None => Ok(()),
    }
}

fn is_writable(output: &Output, q: &QuasiIdentifier) -> Result<()> {
    let (Some(target), LabelForm::Bounds, column) = (&output.target, q.labels, &q.column) else {
        return Ok(());
    };
    if target.format == Format::Csv {
        return Err(Error::usage(format!(
            "column {column}: LABELS BOUNDS is a struct of low and high, which CSV cannot hold; write STORED AS PARQUET, or \
             LABELS MIDPOINT"
        )));
    }
    match target.partitioned_by.contains(column) {
        true => Err(Error::usage(format!(
            "column {column}: LABELS BOUNDS is a struct of low and high, which cannot be the name of a folder; \
             PARTITIONED BY another column, or write LABELS TEXT"
        ))),
        false => Ok(()),
    }
}
