//! From the definition of a hierarchy to its levels.

use super::context::AnonContext;
use crate::catalogue::Value;
use crate::error::{Error, Result};
use crate::hierarchy::file::{self, FileOptions};
use crate::hierarchy::intervals::Intervals;
use crate::hierarchy::prefix::{self, Prefix};
use crate::hierarchy::quantiles::Quantiles;
use crate::hierarchy::suppression::Suppression;
use crate::hierarchy::table::Table;
use crate::hierarchy::truncate::{Truncate, Unit};
use crate::hierarchy::{Ladder, Number};
use crate::quoting::quote;
use crate::sql::TableName;
use crate::sql::ast::Definition;
use arrow::array::{ArrayRef, AsArray};
use arrow::compute::concat_batches;
use arrow::datatypes::{Int64Type, SchemaRef};
use arrow::record_batch::RecordBatch;
use std::sync::Arc;

impl AnonContext {
    /// The levels that a definition makes.
    pub(super) async fn ladder(&self, definition: &Definition) -> Result<Arc<dyn Ladder>> {
        Ok(match definition {
            Definition::File { path, options } => {
                let mut read = FileOptions::default();
                for (name, value) in options {
                    read.set(name, &text(value))?;
                }
                Arc::new(file::read(path, &read)?)
            }
            Definition::Query(query) => Arc::new(Table::from_query(&self.rows(query).await?)?),
            Definition::Intervals {
                widths,
                origin,
                bottom,
                top,
            } => {
                let widths = widths.iter().map(number).collect::<Result<Vec<Number>>>()?;
                let origin = origin.as_ref().map_or(Ok(Number::ZERO), number)?;
                let bottom = bottom.as_ref().map(number).transpose()?;
                let top = top.as_ref().map(number).transpose()?;
                Arc::new(Intervals::try_new(&widths, origin, bottom, top)?)
            }
            Definition::Prefix { keep, mask } => {
                let keep: Vec<u64> = keep.iter().map(|k| u64::from(*k)).collect();
                Arc::new(Prefix::try_new(&keep, mask.as_deref().unwrap_or(prefix::MASK))?)
            }
            Definition::Truncate(units) => {
                let units = units.iter().map(|u| u.parse::<Unit>()).collect::<Result<Vec<Unit>>>()?;
                Arc::new(Truncate::try_new(&units)?)
            }
            Definition::Values(rows) => {
                let rows: Vec<Vec<Option<String>>> = rows
                    .iter()
                    .map(|row| row.iter().map(|v| v.as_ref().map(text)).collect())
                    .collect();
                Arc::new(Table::from_rows(&rows)?)
            }
            Definition::Quantiles { groups, table, column } => {
                let (values, counts) = self.value_counts(table, column).await?;
                Arc::new(Quantiles::of(groups, &values, &counts)?)
            }
            Definition::Bounds { groups, bounds } => {
                let bounds: Vec<String> = bounds.iter().map(text).collect();
                Arc::new(Quantiles::from_bounds(groups, &bounds)?)
            }
            Definition::Suppression => Arc::new(Suppression),
        })
    }

    /// All rows of a query as one batch.
    async fn rows(&self, query: &str) -> Result<RecordBatch> {
        let frame = self.session.sql(query).await?;
        let planned: SchemaRef = Arc::new(frame.schema().as_arrow().clone());
        let batches = frame.collect().await.map_err(Error::from_data)?;
        // Strings may come as another type of strings than was planned.
        let schema = batches.first().map_or(planned, RecordBatch::schema);
        Ok(concat_batches(&schema, &batches)?)
    }

    /// The distinct values of a column, ascending and NULL last, with their rows.
    pub(super) async fn value_counts(&self, table: &TableName, column: &str) -> Result<(ArrayRef, Vec<u64>)> {
        let schema = self.session.table(table.reference()).await?;
        if schema.schema().field_with_unqualified_name(column).is_err() {
            let names = schema.schema().fields().iter().map(|f| f.name().as_str());
            return Err(Error::unknown("column", column, names));
        }
        let name = quote(column);
        let batch = self
            .rows(&format!(
                "SELECT {name}, count(*) FROM {table} GROUP BY 1 ORDER BY 1 ASC NULLS LAST"
            ))
            .await?;
        let counts = batch
            .column(1)
            .as_primitive::<Int64Type>()
            .values()
            .iter()
            .map(|n| *n as u64)
            .collect();
        Ok((Arc::clone(batch.column(0)), counts))
    }
}

/// A literal as the text of a value.
fn text(value: &Value) -> String {
    match value {
        Value::Text(text) | Value::Word(text) => text.clone(),
        other => other.to_string(),
    }
}

fn number(value: &Value) -> Result<Number> {
    let text = text(value);
    Number::parse(&text).ok_or_else(|| Error::usage(format!("{text:?} is not a number")))
}
