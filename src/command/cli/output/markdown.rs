//! Prints a Markdown table.

use super::cell;
use super::sink::{Out, ResultSink, unwritable};
use crate::base::error::Result;
use crate::base::plain;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use std::io::Write;

/// A writer for a Markdown table. It writes rows without padding as soon as they arrive.
pub struct Markdown {
    out: Out,
}

impl Markdown {
    /// Creates the writer, and writes the header.
    pub fn new(schema: &SchemaRef, out: Out) -> Result<Self> {
        let mut markdown = Self { out };
        markdown.line(schema.fields().iter().map(|f| f.name().clone()))?;
        let rule = |numeric| if numeric { "---:" } else { "---" };
        let rules: Vec<&str> = schema
            .fields()
            .iter()
            .map(|f| rule(cell::is_number(f.data_type())))
            .collect();
        writeln!(markdown.out, "| {} |", rules.join(" | ")).map_err(unwritable)?;
        Ok(markdown)
    }

    fn line(&mut self, cells: impl Iterator<Item = String>) -> Result<()> {
        let cells: Vec<String> = cells.map(|c| plain::line(&c).replace('|', "\\|")).collect();
        writeln!(self.out, "| {} |", cells.join(" | ")).map_err(unwritable)
    }
}

impl ResultSink for Markdown {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let formatters = cell::formatters(batch, "NULL")?;
        (0..batch.num_rows()).try_for_each(|row| self.line(formatters.iter().map(|f| f.value(row).to_string())))
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.out.flush().map_err(unwritable)
    }
}
