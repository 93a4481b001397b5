//! Prints a table for people: aligned columns, or one line per value if the terminal is too narrow.

use super::cell;
use super::sink::{Out, Sink, unwritable};
use super::wrap;
use crate::error::Result;
use crate::plain;
use crate::session::is_prose;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use console::measure_text_width;
use std::io::Write;

/// Collects the rows to print, because the widest value of a column decides its width.
pub struct Table {
    out: Out,
    header: Vec<String>,
    numeric: Vec<bool>,
    /// Whether a column holds sentences, which are wrapped where a line would be too long.
    prose: Vec<bool>,
    rows: Vec<Vec<String>>,
    total: usize,
    max_rows: usize,
    width: Option<usize>,
}

impl Table {
    /// Creates a table of at most `max_rows` rows, on a terminal of `width` columns.
    pub fn new(schema: &SchemaRef, out: Out, max_rows: Option<usize>, width: Option<usize>) -> Self {
        Self {
            out,
            header: schema.fields().iter().map(|f| plain::line(f.name())).collect(),
            numeric: schema.fields().iter().map(|f| cell::is_number(f.data_type())).collect(),
            prose: schema.fields().iter().map(|f| is_prose(f)).collect(),
            rows: vec![],
            total: 0,
            max_rows: max_rows.unwrap_or(usize::MAX),
            width,
        }
    }

    /// Returns the width of each column.
    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.header.iter().map(|h| measure_text_width(h)).collect();
        for row in &self.rows {
            for (width, text) in widths.iter_mut().zip(row) {
                *width = (*width).max(measure_text_width(text));
            }
        }
        widths
    }

    fn aligned(&mut self, widths: &[usize]) -> std::io::Result<()> {
        let rule: String = widths.iter().map(|w| format!("+{}", "-".repeat(w + 2))).collect();
        let line = |cells: &[String]| -> String {
            let mut line = String::new();
            for ((text, width), numeric) in cells.iter().zip(widths).zip(&self.numeric) {
                let gap = " ".repeat(width.saturating_sub(measure_text_width(text)));
                let (left, right) = if *numeric {
                    (gap.as_str(), "")
                } else {
                    ("", gap.as_str())
                };
                line.extend(["| ", left, text, right, " "]);
            }
            line + "|"
        };
        writeln!(self.out, "{rule}+\n{}\n{rule}+", line(&self.header))?;
        for row in &self.rows {
            let mut wrapped: Vec<_> = row
                .iter()
                .zip(widths)
                .map(|(text, width)| wrap::lines(text, *width).into_iter())
                .collect();
            let lines = wrapped.iter().map(|cell| cell.len()).max().unwrap_or(0);
            for _ in 0..lines {
                let cells: Vec<String> = wrapped.iter_mut().map(|cell| cell.next().unwrap_or_default()).collect();
                writeln!(self.out, "{}", line(&cells))?;
            }
        }
        if !self.rows.is_empty() {
            writeln!(self.out, "{rule}+")?;
        }
        Ok(())
    }

    fn on_its_side(&mut self) -> std::io::Result<()> {
        let width = self.header.iter().map(|h| measure_text_width(h)).max().unwrap_or(0);
        for (i, row) in self.rows.iter().enumerate() {
            writeln!(self.out, "-[ row {} ]{}", i + 1, "-".repeat(width.max(20)))?;
            for ((name, text), prose) in self.header.iter().zip(row).zip(&self.prose) {
                let left = self.width.map_or(usize::MAX, |w| w.saturating_sub(width + 3).max(1));
                let lines = match prose {
                    true => wrap::lines(text, left),
                    false => vec![text.clone()],
                };
                for (i, text) in lines.iter().enumerate() {
                    let name = if i == 0 { name } else { "" };
                    let gap = " ".repeat(width.saturating_sub(measure_text_width(name)));
                    writeln!(self.out, "{name}{gap} | {text}")?;
                }
            }
        }
        Ok(())
    }
}

impl Sink for Table {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.total += batch.num_rows();
        let kept = batch.num_rows().min(self.max_rows.saturating_sub(self.rows.len()));
        let formatters = cell::formatters(batch, "NULL")?;
        for row in 0..kept {
            self.rows.push(
                formatters
                    .iter()
                    .map(|f| plain::line(&f.value(row).to_string()))
                    .collect(),
            );
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        let mut widths = self.widths();
        let needed = widths.iter().map(|w| w + 3).sum::<usize>() + 1;
        let fits = self
            .width
            .is_none_or(|width| wrap::narrow(&mut widths, &self.prose, needed, width));
        let narrow = !fits && !self.rows.is_empty();
        let shown = if narrow {
            self.on_its_side()
        } else {
            self.aligned(&widths)
        };
        shown.map_err(unwritable)?;
        if self.total > self.rows.len() {
            writeln!(self.out, "... {} of {} rows", self.rows.len(), self.total).map_err(unwritable)?;
        }
        self.out.flush().map_err(unwritable)
    }
}
