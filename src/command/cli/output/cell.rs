//! Formats values as text for human readers.

use crate::base::error::Result;
use arrow::array::Array;
use arrow::datatypes::DataType;
use arrow::record_batch::RecordBatch;
use arrow::util::display::FormatOptions;

pub use arrow::util::display::ArrayFormatter as Formatter;

/// Returns true if columns of this type are right-aligned.
pub fn is_number(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, value) => value.is_numeric(),
        other => other.is_numeric(),
    }
}

/// Returns a formatter for each column of a batch. `null` is the text for NULL.
pub fn formatters<'a>(batch: &'a RecordBatch, null: &'a str) -> Result<Vec<Formatter<'a>>> {
    let format = |column: &'a dyn Array| {
        // If a value cannot be formatted, such as a date that is out of range, the error is shown
        // in its place.
        let options = FormatOptions::new().with_display_error(true).with_null(null);
        Formatter::try_new(column, &options).map_err(super::sink::unshown)
    };
    batch.columns().iter().map(|c| format(c.as_ref())).collect()
}

/// Formats each row of a statement that has no result as a one-line note.
pub fn notes(batch: &RecordBatch) -> Result<Vec<String>> {
    let (schema, formatters) = (batch.schema(), formatters(batch, "NULL")?);
    let note = |row| {
        let cells = schema
            .fields()
            .iter()
            .zip(&formatters)
            .map(|(field, cell)| match field.name().as_str() {
                "count" => format!("rows written: {}", cell.value(row)),
                _ => cell.value(row).to_string(),
            });
        cells.collect::<Vec<_>>().join(", ")
    };
    Ok((0..batch.num_rows()).map(note).collect())
}
