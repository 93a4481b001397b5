//! Reads labels in the form LABELS BOUNDS: a struct of `low` and `high` is recounted as the text of
//! its range.

use super::sql::label_text;
use crate::base::error::Result;
use crate::base::quoting::quote;
use arrow::datatypes::DataType;
use datafusion::prelude::SessionContext;

/// Replaces structs of `low` and `high` in these columns of a table with the texts of their ranges.
/// Equal bounds give equal texts.
pub(crate) async fn bounds_as_text(session: &SessionContext, table: &str, columns: &[String]) -> Result<()> {
    let rows = session.table(table).await?;
    let fields = rows.schema().fields().clone();
    let is_bounds = |name: &String, data_type: &DataType| columns.contains(name) && is_bounds(data_type);
    if !fields.iter().any(|f| is_bounds(f.name(), f.data_type())) {
        return Ok(());
    }
    let select = fields.iter().map(|f| match is_bounds(f.name(), f.data_type()) {
        true => format!("{} AS {}", label_text(&quote(f.name()), f.data_type()), quote(f.name())),
        false => quote(f.name()),
    });
    let select: Vec<String> = select.collect();
    let sql = format!("SELECT {} FROM {}", select.join(", "), quote(table));
    let rows = session.sql(&sql).await?;
    session.deregister_table(table)?;
    session.register_table(table, rows.into_view())?;
    Ok(())
}

/// Returns true if values of this type are bounds.
pub(crate) fn is_bounds(data_type: &DataType) -> bool {
    match data_type {
        DataType::Struct(fields) => fields.iter().map(|f| f.name().as_str()).eq(["low", "high"]),
        _ => false,
    }
}
