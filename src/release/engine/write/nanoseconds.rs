//! Decides which columns of a release keep their times in nanoseconds. Spark 3 and other tools
//! cannot read nanoseconds from Parquet, so times are written in microseconds unless microseconds
//! would change a value.

use super::stored::{exactly, has_nanoseconds, in_microseconds};
use crate::base::error::{Error, Result};
use crate::base::quoting::quote;
use crate::data::recode::{ColumnTreatment, ORDER_PREFIX, Released};
use crate::method::hierarchy::{LabelForm, plain_type};
use crate::release::engine::apply::{Rewrite, plan, recoding_among};
use crate::release::engine::decide::Decision;
use crate::release::job::{Format, Job, Roles, Target};
use crate::release::observe::Observer;
use arrow::datatypes::{DataType, FieldRef};
use datafusion::physical_plan::execute_stream;
use futures::StreamExt;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Returns the released columns whose times are stored in nanoseconds, and informs the observer of
/// each of these columns in a Parquet file. Reads each column of the source with times in
/// nanoseconds until a released value that needs nanoseconds is found.
///
/// A type must not depend on rows that are not in a release. Suppressed rows are therefore left
/// out. Nothing is read for a release of a sample: its columns keep their types. Computed labels
/// keep their types, too.
pub(super) async fn nanoseconds(
    job: &Job,
    decision: &Decision,
    target: &Target,
    rewrite: &Rewrite,
    observer: &dyn Observer,
) -> Result<Vec<String>> {
    let schema = rewrite.plan.schema();
    let is_released =
        |field: &&FieldRef| !field.name().starts_with(ORDER_PREFIX) && !rewrite.hidden.contains(field.name());
    let typed: Vec<&FieldRef> = schema
        .fields()
        .iter()
        .filter(|field| has_nanoseconds(field.data_type()))
        .filter(is_released)
        .collect();
    let names = typed.iter().map(|field| field.name().clone());
    match target.format {
        // The table decides the types. A value that its type cannot store exactly is an error.
        Format::Table(_) => return Ok(vec![]),
        Format::Csv => return Ok(names.collect()),
        Format::Parquet => {}
    }
    let read = match job.guarantees.sampling() {
        Some(_) => BTreeSet::new(),
        None => names.clone().filter(|name| is_as_read(&job.roles, name)).collect(),
    };
    let found = with_nanoseconds(job, decision, &read).await?;
    let kept = |field: &&&FieldRef| !read.contains(field.name()) || found.contains(field.name());
    let kept: Vec<&FieldRef> = typed.iter().filter(kept).copied().collect();
    kept.iter().for_each(|field| observer.advised(&note(field)));
    Ok(kept.into_iter().map(|field| field.name().clone()).collect())
}

/// Returns true if the released values of a column are values of the source, or texts.
fn is_as_read(roles: &Roles, column: &str) -> bool {
    match roles.quasi_identifiers.iter().find(|q| q.column == column) {
        Some(q) => matches!(q.labels, LabelForm::Text | LabelForm::Mode),
        None => true,
    }
}

/// Returns the columns with a released value that microseconds cannot express.
async fn with_nanoseconds(job: &Job, decision: &Decision, columns: &BTreeSet<String>) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    if columns.is_empty() {
        return Ok(found);
    }
    let read = columns.iter().map(|name| Released {
        name: name.clone(),
        treatment: match job.roles.protects(name) {
            true => ColumnTreatment::Protect,
            false => ColumnTreatment::Keep,
        },
    });
    let recoding = recoding_among(
        &job.roles,
        decision,
        &decision.verdict.kept,
        job.guarantees.starred,
        read.collect(),
    )?;
    let rows = plan::recoded(&job.input.source.rows, Arc::new(recoding)).await?;
    let mut rows = execute_stream(rows, job.input.source.rows.task_ctx().into()).map_err(Error::from_data)?;
    while found.len() < columns.len()
        && let Some(batch) = rows.next().await
    {
        let batch = batch.map_err(Error::from_data)?;
        for (field, values) in batch.schema().fields().iter().zip(batch.columns()) {
            if !columns.contains(field.name()) || found.contains(field.name()) {
                continue;
            }
            let in_microseconds = in_microseconds(values.data_type());
            if exactly(values, &in_microseconds).is_err() {
                found.insert(field.name().clone());
            }
        }
        tokio::task::consume_budget().await;
    }
    Ok(found)
}

fn note(field: &FieldRef) -> String {
    let (name, plain) = (field.name(), plain_type(field.data_type()));
    let instead = match plain {
        DataType::Timestamp(..) => format!(
            "write arrow_cast({}, '{}') in a query",
            quote(name),
            in_microseconds(plain)
        ),
        _ => "round them in a query".to_string(),
    };
    format!(
        "column {name}: its times are in nanoseconds, which Spark 3 cannot read from Parquet; if microseconds are enough, {instead}"
    )
}
