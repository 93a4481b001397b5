//! Prints JSON: an array of objects, or one object per line.

use super::sink::{Out, ResultSink, unshown, unwritable};
use crate::base::error::Result;
use crate::method::hierarchy::with_times_as_texts;
use arrow::json::WriterBuilder;
use arrow::json::writer::{JsonArray, JsonFormat, LineDelimited, Writer};
use arrow::record_batch::RecordBatch;
use std::io::Write;

/// A writer for JSON. Every object contains all columns.
pub struct Json<F: JsonFormat> {
    writer: Writer<Out, F>,
    /// The text after the last row.
    end: &'static str,
}

/// Creates a writer for an array of objects, which ends with a line break.
pub fn array(out: Out) -> Json<JsonArray> {
    new(out, "\n")
}

/// Creates a writer for objects, one per line.
pub fn lines(out: Out) -> Json<LineDelimited> {
    new(out, "")
}

fn new<F: JsonFormat>(out: Out, end: &'static str) -> Json<F> {
    let writer = WriterBuilder::new().with_explicit_nulls(true).build(out);
    Json { writer, end }
}

impl<F: JsonFormat + Send> ResultSink for Json<F> {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(&with_times_as_texts(batch)?).map_err(unshown)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.writer.finish().map_err(unshown)?;
        let mut out = self.writer.into_inner();
        out.write_all(self.end.as_bytes())
            .and_then(|()| out.flush())
            .map_err(unwritable)
    }
}
