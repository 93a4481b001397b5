//! CREATE, DROP, SHOW and CHECK HIERARCHY.

use super::answer::Answer;
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
use crate::hierarchy::{Hierarchy, Ladder, Number, OnNull, OnUnmapped};
use crate::quoting::quote;
use crate::sql::TableName;
use crate::sql::ast::{CreateHierarchy, Definition, Nulls, Unmapped};
use arrow::array::{ArrayRef, AsArray, StringArray, UInt8Array, UInt64Array};
use arrow::compute::concat_batches;
use arrow::datatypes::{Int64Type, SchemaRef};
use arrow::record_batch::RecordBatch;
use std::sync::Arc;

impl AnonContext {
    /// The hierarchy called `name`.
    pub(super) fn hierarchy(&self, name: &str) -> Result<Arc<Hierarchy>> {
        let hierarchies = self.hierarchies.read();
        let found = hierarchies.get(name).cloned();
        found.ok_or_else(|| Error::unknown("hierarchy", name, hierarchies.keys().map(String::as_str)))
    }

    pub(super) async fn create_hierarchy(&self, create: CreateHierarchy) -> Result<Answer> {
        let exists = self.hierarchies.read().contains_key(&create.name);
        if exists && create.if_not_exists {
            return Answer::done(format!("hierarchy {} exists already", create.name));
        }
        if exists && !create.or_replace {
            return Err(Error::usage(format!(
                "hierarchy {} exists already; use CREATE OR REPLACE HIERARCHY or IF NOT EXISTS",
                create.name
            )));
        }
        let ladder = self
            .ladder(&create.definition)
            .await
            .map_err(|e| e.context(format!("hierarchy {}", create.name)))?;
        let on_unmapped = match create.unmapped.unwrap_or_default() {
            Unmapped::Error => OnUnmapped::Error,
            Unmapped::Suppress => OnUnmapped::Suppress,
            Unmapped::Top => OnUnmapped::Top,
        };
        let on_null = match create.nulls.unwrap_or_default() {
            Nulls::Value => OnNull::Value,
            Nulls::Top => OnNull::Top,
            Nulls::Error => OnNull::Error,
        };
        let hierarchy = Arc::new(Hierarchy::new(create.name.clone(), ladder, on_unmapped, on_null)?);
        let levels = hierarchy.height();
        self.hierarchies.write().insert(create.name.clone(), hierarchy);
        Answer::done(format!("hierarchy {} created: levels 0 to {levels}", create.name))
    }

    async fn ladder(&self, definition: &Definition) -> Result<Arc<dyn Ladder>> {
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
    async fn value_counts(&self, table: &TableName, column: &str) -> Result<(ArrayRef, Vec<u64>)> {
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

    pub(super) fn drop_hierarchy(&self, name: &str, if_exists: bool) -> Result<Answer> {
        if self.hierarchies.write().remove(name).is_some() {
            return Answer::done(format!("hierarchy {name} dropped"));
        }
        if if_exists {
            return Answer::done(format!("there is no hierarchy {name}"));
        }
        self.hierarchy(name).and_then(|_| Answer::done(""))
    }

    /// One row per hierarchy, with the statement that makes it again: saved as a script, a session's hierarchies load
    /// in the next.
    pub(super) fn show_hierarchies(&self) -> Result<Answer> {
        let hierarchies = self.hierarchies.read();
        let names: StringArray = hierarchies.keys().map(Some).collect();
        let kinds: StringArray = hierarchies.values().map(|h| Some(h.kind())).collect();
        let heights: UInt8Array = hierarchies.values().map(|h| Some(h.height())).collect();
        let statements: StringArray = hierarchies
            .values()
            .map(|h| {
                Some(format!(
                    "CREATE HIERARCHY {} {};",
                    crate::sql::ident(h.name()),
                    h.definition()
                ))
            })
            .collect();
        Answer::of(RecordBatch::try_from_iter([
            ("name", Arc::new(names) as ArrayRef),
            ("kind", Arc::new(kinds)),
            ("top_level", Arc::new(heights)),
            ("statement", Arc::new(statements)),
        ])?)
    }

    pub(super) async fn check_hierarchy(&self, name: &str, table: &TableName, column: &str) -> Result<Answer> {
        let hierarchy = self.hierarchy(name)?;
        let (values, counts) = self.value_counts(table, column).await?;
        let coverage = hierarchy.coverage(&values, &counts)?;
        let count = |n: u64| Arc::new(UInt64Array::from(vec![n])) as ArrayRef;
        Answer::of(RecordBatch::try_from_iter([
            ("hierarchy", Arc::new(StringArray::from(vec![name])) as ArrayRef),
            ("column", Arc::new(StringArray::from(vec![column]))),
            ("values_mapped", count(coverage.values_mapped)),
            ("rows_mapped", count(coverage.rows_mapped)),
            ("values_unmapped", count(coverage.values_unmapped)),
            ("rows_unmapped", count(coverage.rows_unmapped)),
            ("rows_null", count(coverage.rows_null)),
        ])?)
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
