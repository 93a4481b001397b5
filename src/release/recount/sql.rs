//! Queries to DataFusion that return numbers, and workarounds for wrong results.

use crate::base::error::{Error, Result};
use crate::base::quoting::literal;
use crate::method::canonical::sql_text_of;
use crate::method::hierarchy::{in_utc, plain_type};
use crate::method::risk::Histogram;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float64Type, UInt64Type};
use datafusion::datasource::MemTable;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::sync::Arc;

/// Disables optimizations of DataFusion 55.2 that give wrong results:
/// - Files and row groups are skipped by the maximum that a plain column has reached, even if the
///   same query asks for the maximum of an expression. `max(a + b), max(c)` is then too small.
/// - If a query reads a field of a struct, a computed column of a subquery is replaced by the raw
///   column if it has the name of a raw column: in
///   `SELECT name, s['x'] FROM (SELECT md5(name) AS name, s FROM t)` the names are raw
///   (apache/datafusion issue 25414).
///
/// Two more problems cannot be solved by a setting. DataFusion believes the claims of a table, a
/// file or a node about its rows, even if they are false. So the plans of a session forget these
/// claims ([`crate::data::source::forget_claims`]). DataFusion parses clauses such as TABLESAMPLE
/// and then ignores them. So the parser of this crate refuses them (`crate::language::sql`,
/// `unheard.rs`).
///
/// Returns true if one of the optimizations was enabled.
pub(crate) fn answer_rightly(config: &mut SessionConfig) -> bool {
    let optimizer = &mut config.options_mut().optimizer;
    let maxima = std::mem::take(&mut optimizer.enable_aggregate_dynamic_filter_pushdown);
    let leaves = std::mem::take(&mut optimizer.enable_leaf_expression_pushdown);
    maxima || leaves
}

/// Returns the type of a column in a table of the session.
pub(crate) async fn type_of(session: &SessionContext, table: &str, column: &str) -> Result<DataType> {
    let table = session.table(table).await?;
    let (_, field) = table.schema().qualified_field_with_unqualified_name(column)?;
    Ok(field.data_type().clone())
}

/// Returns the SQL for `expression`, of type `data_type`, in which both zeros of floating point are
/// the same value, as in a quasi-identifier.
pub(crate) fn with_one_zero(expression: &str, data_type: &DataType) -> String {
    let data_type = plain_type(data_type);
    match data_type.is_floating() {
        true => format!("arrow_cast(arrow_cast({expression}, 'Float64') + 0.0, '{data_type}')"),
        false => expression.to_string(),
    }
}

/// Returns the SQL for the text of a released label. Bounds, which are structs of `low` and `high`,
/// have the text `[low, high]`, as in [`crate::method::hierarchy::spelled`].
pub(crate) fn label_text(expression: &str, data_type: &DataType) -> String {
    let DataType::Struct(ends) = data_type else {
        return sql_text_of(&with_one_zero(expression, data_type));
    };
    let ends = ends.iter().map(|end| {
        let value = format!("get_field({expression}, '{}')", end.name());
        let value = match in_utc(end.data_type()) {
            written if written == *end.data_type() => value,
            written => format!("arrow_cast({value}, {})", literal(&written.to_string())),
        };
        format!("coalesce(arrow_cast({value}, 'Utf8'), '')")
    });
    let ends: Vec<String> = ends.collect();
    format!(
        "CASE WHEN {expression} IS NULL THEN NULL ELSE '[' || {} || ']' END",
        ends.join(" || ', ' || ")
    )
}

/// Returns the only number in a query's result; `None` if the result is NULL or has no rows.
pub(super) async fn number(session: &SessionContext, sql: &str) -> Result<Option<f64>> {
    let batches = session.sql(sql).await?.collect().await.map_err(Error::from_data)?;
    let Some(batch) = batches.iter().find(|b| b.num_rows() > 0) else {
        return Ok(None);
    };
    let values = arrow::compute::cast(batch.column(0), &DataType::Float64)?;
    let values = values.as_primitive::<Float64Type>();
    Ok((!values.is_null(0)).then(|| values.value(0)))
}

/// Rounds a measured number for the manifest: fractions to nine significant digits, whole numbers
/// not at all. Sums of floating-point numbers differ in their last digits with the order of the
/// rows, which depends on the threads.
pub(crate) fn steady(value: f64) -> f64 {
    match value.fract() == 0.0 {
        true => value,
        false => format!("{value:.8e}").parse().unwrap_or(value),
    }
}

/// Returns the only number in a query's result as a count, or 0 if the result is NULL.
pub(crate) async fn count(session: &SessionContext, sql: &str) -> Result<u64> {
    Ok(number(session, sql).await?.unwrap_or(0.0) as u64)
}

/// Returns how often each size occurs among the values of the column `f` that a query returns.
pub(super) async fn histogram(session: &SessionContext, sizes: &str) -> Result<Histogram> {
    let counts = numbers(session, &format!("SELECT f, count(*) FROM ({sizes}) GROUP BY f")).await?;
    Ok(counts.into_iter().map(|row| (row[0], row[1])).collect())
}

/// Returns the rows of a query that returns whole numbers.
pub(crate) async fn numbers(session: &SessionContext, sql: &str) -> Result<Vec<Vec<u64>>> {
    let batches = session.sql(sql).await?.collect().await.map_err(Error::from_data)?;
    let mut rows = vec![];
    for batch in batches {
        let columns = batch
            .columns()
            .iter()
            .map(|c| arrow::compute::cast(c, &DataType::UInt64));
        let columns = columns.collect::<Result<Vec<Arc<dyn Array>>, _>>()?;
        let value = |row: usize| {
            columns
                .iter()
                .map(|c| c.as_primitive::<UInt64Type>().value(row))
                .collect()
        };
        rows.extend((0..batch.num_rows()).map(value));
    }
    Ok(rows)
}

/// Registers a table with these columns, and replaces a table of the same name.
pub(crate) fn register(session: &SessionContext, name: &str, columns: Vec<(&str, ArrayRef)>) -> Result<()> {
    let columns = columns.into_iter().map(|(name, values)| (name, values, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns)?;
    let table = MemTable::try_new(batch.schema(), vec![vec![batch]])?;
    session.deregister_table(name)?;
    session.register_table(name, Arc::new(table))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::steady;

    #[test]
    fn what_differs_in_the_last_digits_is_written_alike() {
        assert_eq!(steady(0.998_699_999_999_999_9), steady(0.9987));
        assert_eq!(steady(0.1 + 0.2), 0.3);
        assert_eq!(steady(12_345_678_901.0), 12_345_678_901.0);
        assert!(steady(1.0 / 3.0) < 1.0 / 3.0 && steady(f64::NAN).is_nan());
    }
}
