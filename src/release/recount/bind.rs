//! Binds a hierarchy to the values of a column in a table of the session.

use super::sql::{type_of, with_one_zero};
use crate::base::error::Result;
use crate::base::quoting::quote;
use crate::data::frequency::distinct_values;
use crate::method::hierarchy::{Hierarchy, Lookup};
use arrow::array::{Array, ArrayRef};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// Returns the distinct values of a column of `table`, and the hierarchy bound to them.
pub(crate) async fn bind(
    session: &SessionContext,
    table: &str,
    column: &str,
    hierarchy: &Hierarchy,
) -> Result<(ArrayRef, Lookup)> {
    let (values, lookup, _) = counted(session, table, column, hierarchy).await?;
    Ok((values, lookup))
}

/// Fails with `ErrorKind::Data` if ON UNMAPPED ERROR or NULLS ERROR of the hierarchy rules out a
/// value in a column of the population's table `table`.
pub(crate) async fn admit_people(
    session: &SessionContext,
    table: &str,
    column: &str,
    hierarchy: &Hierarchy,
) -> Result<()> {
    let (_, lookup, counts) = counted(session, table, column, hierarchy).await?;
    let admitted = hierarchy.admit(column, &lookup.coverage(&counts)?);
    admitted.map_err(|e| e.context("POPULATION"))
}

/// Returns the distinct values of a column of `table`, the hierarchy bound to them, and the number
/// of rows of each value.
async fn counted(
    session: &SessionContext,
    table: &str,
    column: &str,
    hierarchy: &Hierarchy,
) -> Result<(ArrayRef, Lookup, Vec<u64>)> {
    let value = with_one_zero(&quote(column), &type_of(session, table, column).await?);
    let (values, counts) = distinct_values(session, &value, &quote(table)).await?;
    let values = match values.data_type() {
        DataType::Dictionary(_, inner) => cast(&values, inner)?,
        _ => values,
    };
    let lookup = hierarchy
        .bind(Arc::clone(&values))
        .map_err(|e| e.context(format!("column {column}")))?;
    Ok((values, lookup, counts))
}
