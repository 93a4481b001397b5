//! Prints comma-separated values (CSV).

use super::cell;
use super::sink::{Out, ResultSink, unshown, unwritable};
use crate::base::error::Result;
use crate::method::hierarchy::with_times_as_texts;
use arrow::array::{Array, ArrayRef, StringArray};
use arrow::csv::Writer;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use std::io::Write;
use std::sync::Arc;

/// A writer for CSV with a header. Nested columns are written as text, because CSV does not support
/// them.
pub struct Csv {
    writer: Writer<Out>,
}

impl Csv {
    /// Creates the writer, and writes the header.
    pub fn new(schema: &SchemaRef, out: Out) -> Result<Self> {
        let mut csv = Self {
            writer: Writer::new(out),
        };
        // Writing an empty batch writes the header, even if no rows follow.
        csv.writer
            .write(&RecordBatch::new_empty(flat(schema)))
            .map_err(unshown)?;
        Ok(csv)
    }
}

/// Returns the schema of the written columns.
fn flat(schema: &Schema) -> SchemaRef {
    let fields = schema.fields().iter().map(|f| match f.data_type().is_nested() {
        true => Field::new(f.name(), DataType::Utf8, true),
        false => f.as_ref().clone().with_nullable(true),
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

impl ResultSink for Csv {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let batch = &with_times_as_texts(batch)?;
        let formatters = cell::formatters(batch, "")?;
        let columns = batch
            .columns()
            .iter()
            .zip(&formatters)
            .map(|(column, formatter)| -> ArrayRef {
                if !column.data_type().is_nested() {
                    return Arc::clone(column);
                }
                let text = |i| column.is_valid(i).then(|| formatter.value(i).to_string());
                Arc::new((0..column.len()).map(text).collect::<StringArray>())
            });
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        // The schema is taken from the batch, because its string types may differ from those in the
        // plan.
        let flat = RecordBatch::try_new_with_options(flat(&batch.schema()), columns.collect(), &options);
        self.writer.write(&flat.map_err(unshown)?).map_err(unshown)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.writer.into_inner().flush().map_err(unwritable)
    }
}
