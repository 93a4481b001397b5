//! Formats values as text for readers.

use crate::error::Result;
use arrow::array::Array;
use arrow::datatypes::DataType;
use arrow::record_batch::RecordBatch;
use arrow::util::display::FormatOptions;

pub use arrow::util::display::ArrayFormatter as Formatter;

/// Returns true if columns of this type are aligned to the right.
pub fn is_number(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, value) => value.is_numeric(),
        other => other.is_numeric(),
    }
}

/// Returns a formatter for each column of a batch. NULL becomes `null`.
pub fn formatters<'a>(batch: &'a RecordBatch, null: &'a str) -> Result<Vec<Formatter<'a>>> {
    let format = |column: &'a dyn Array| {
        // A value that cannot be formatted, such as a date out of range, is replaced by its error.
        let options = FormatOptions::new().with_display_error(true).with_null(null);
        Formatter::try_new(column, &options).map_err(super::sink::unshown)
    };
    batch.columns().iter().map(|c| format(c.as_ref())).collect()
}

/// Formats each row of a statement without a result as a note of one line.
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
