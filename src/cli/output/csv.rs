//! Comma-separated values.

use super::{Out, Sink, cell, unshown, unwritable};
use crate::error::Result;
use arrow::array::{Array, ArrayRef, StringArray};
use arrow::csv::Writer;
use arrow::datatypes::{Field, Schema, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use std::io::Write;
use std::sync::Arc;

/// Writes CSV with a header. Nested columns, which CSV does not have, are written as text.
pub struct Csv {
    writer: Writer<Out>,
    schema: SchemaRef,
}

impl Csv {
    /// Writes the header.
    pub fn new(schema: &SchemaRef, out: Out) -> Result<Self> {
        let fields: Vec<Field> = schema
            .fields()
            .iter()
            .map(|f| match f.data_type().is_nested() {
                true => Field::new(f.name(), arrow::datatypes::DataType::Utf8, true),
                false => f.as_ref().clone().with_nullable(true),
            })
            .collect();
        let mut csv = Self {
            writer: Writer::new(out),
            schema: Arc::new(Schema::new(fields)),
        };
        // An empty batch makes the header appear when there are no rows.
        csv.writer
            .write(&RecordBatch::new_empty(Arc::clone(&csv.schema)))
            .map_err(unshown)?;
        Ok(csv)
    }
}

impl Sink for Csv {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
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
        let flat = RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns.collect(), &options);
        self.writer.write(&flat.map_err(unshown)?).map_err(unshown)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.writer.into_inner().flush().map_err(unwritable)
    }
}
