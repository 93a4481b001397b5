//! Prints results in the requested format to a destination, such as standard output.

mod cell;
mod csv;
mod file;
mod fit;
mod format;
mod held;
mod json;
mod markdown;
mod number;
mod pager;
mod screen;
mod sink;
mod standard;
mod table;
mod terminal;
mod wrap;

pub use file::OutputFile;
pub use format::OutputFormat;
pub use held::{Destination, Held};
pub use screen::{Expanded, Screen};
pub use standard::reader_gone;

use crate::base::error::{Error, Result};
use crate::language::session::Answer;
use arrow::datatypes::SchemaRef;
use futures::StreamExt;
use sink::{Out, ResultSink, unwritable};
use std::io::{BufWriter, IsTerminal};

/// The settings for printing results.
#[derive(Debug, Clone)]
pub struct Printing {
    /// The format of results.
    pub format: OutputFormat,
    /// The maximum number of rows that are printed of a table; `None` for all rows.
    pub max_rows: Option<usize>,
    /// The destination of results.
    pub to: Destination,
    /// The terminal; `None` if standard output is not a terminal.
    pub screen: Option<Screen>,
    /// Whether a pager may be used for text that is longer than the screen.
    pub pager: bool,
    /// Whether errors that occur while data is read may quote the data.
    pub show_values: bool,
    /// Whether printing is turned off.
    pub silent: bool,
}

/// The outcome of printing a result.
#[derive(Debug, Default)]
pub struct Printed {
    /// The number of rows in the result.
    pub rows: u64,
    /// Whether the rows were printed as a result, and not as notes.
    pub is_result: bool,
    /// The notes of a statement that has no result. They are not printed with the results.
    pub notes: Vec<String>,
}

impl Printing {
    /// Prints the rows of a statement while they are computed.
    pub async fn print(&self, answer: Answer) -> Result<Printed> {
        let is_note = answer.is_note && self.format.is_for_programs();
        let mut stream = answer.rows;
        // Statements such as CREATE and DROP return no columns, so nothing is printed.
        let mut sink = match answer.schema.fields().is_empty() || is_note || self.silent {
            true => None,
            false => Some(self.sink(&answer.schema, self.out())?),
        };
        let mut printed = Printed {
            is_result: sink.is_some(),
            ..Printed::default()
        };
        while let Some(batch) = stream.next().await {
            let batch = batch.map_err(|e| {
                if self.show_values {
                    Error::from(e)
                } else {
                    Error::from_data(e)
                }
            })?;
            printed.rows += batch.num_rows() as u64;
            if is_note && !self.silent {
                printed.notes.extend(cell::notes(&batch)?);
            }
            if let Some(sink) = &mut sink {
                sink.write(&batch)?;
            }
        }
        if let Some(sink) = sink {
            sink.finish()?;
        }
        Ok(printed)
    }

    /// Prints the output that is kept in memory, in a pager if it is longer than the screen.
    pub fn show_held(&self) -> Result<()> {
        let Destination::Held(held) = &self.to else {
            return Ok(());
        };
        match held.take() {
            text if text.is_empty() => Ok(()),
            text => pager::show(&text, self.screen.as_ref(), self.pager).map_err(unwritable),
        }
    }

    /// Prints a text, in a pager if it is longer than the screen.
    pub fn show(&self, text: &str) -> Result<()> {
        pager::show(text.as_bytes(), self.screen.as_ref(), self.pager).map_err(unwritable)
    }

    fn out(&self) -> Out {
        let out = BufWriter::new(self.to.writer());
        // A table escapes its cells itself, and contains escape sequences for colours.
        match self.to.is_standard() && std::io::stdout().is_terminal() && self.format != OutputFormat::Table {
            true => Box::new(terminal::Spelled::new(out, self.format)),
            false => Box::new(out),
        }
    }

    fn sink(&self, schema: &SchemaRef, out: Out) -> Result<Box<dyn ResultSink>> {
        let screen = || self.screen.clone().filter(|_| self.to.is_standard());
        Ok(match self.format {
            OutputFormat::Table => Box::new(table::TablePrinter::new(schema, out, self.max_rows, screen())),
            OutputFormat::Csv => Box::new(csv::Csv::new(schema, out)?),
            OutputFormat::Json => Box::new(json::array(out)),
            OutputFormat::Ndjson => Box::new(json::lines(out)),
            OutputFormat::Markdown => Box::new(markdown::Markdown::new(schema, out)?),
        })
    }
}

#[cfg(test)]
mod testing {
    use std::io::{Result, Write};
    use std::sync::Arc;

    /// A destination in memory, for tests.
    #[derive(Clone, Default)]
    pub struct Kept(Arc<parking_lot::Mutex<Vec<u8>>>);

    impl Kept {
        /// Returns the text that was written.
        pub fn text(&self) -> String {
            String::from_utf8(self.0.lock().clone()).unwrap()
        }
    }

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> Result<usize> {
            self.0.lock().write(bytes)
        }

        fn flush(&mut self) -> Result<()> {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, Float64Array, Int64Array, ListArray, StringArray};
    use arrow::datatypes::Int32Type;
    use arrow::record_batch::RecordBatch;
    use std::sync::Arc;
    use testing::Kept;

    fn printed(
        format: OutputFormat,
        max_rows: Option<usize>,
        screen: Option<Screen>,
        batches: &[RecordBatch],
    ) -> String {
        let kept = Kept::default();
        let printing = Printing {
            format,
            max_rows,
            to: Destination::Standard,
            screen,
            pager: false,
            show_values: false,
            silent: false,
        };
        let mut sink = printing.sink(&batches[0].schema(), Box::new(kept.clone())).unwrap();
        for batch in batches {
            sink.write(batch).unwrap();
        }
        sink.finish().unwrap();
        kept.text()
    }

    fn batch() -> RecordBatch {
        let name: ArrayRef = Arc::new(StringArray::from(vec![Some("a,|b"), None, Some("é\n\u{1b}[31m")]));
        let n: ArrayRef = Arc::new(Int64Array::from(vec![Some(7), Some(-1234), None]));
        RecordBatch::try_from_iter([("name", name), ("n", n)]).unwrap()
    }

    #[test]
    fn a_table_is_aligned_and_safe_to_look_at() {
        let shown = printed(OutputFormat::Table, None, None, &[batch()]);
        let rows: Vec<String> = shown
            .lines()
            .filter(|l| l.starts_with('|'))
            .map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        let wanted = [
            "| name | n |",
            "| a,|b | 7 |",
            "| NULL | -1234 |",
            "| é\\n\\u{1b}[31m | NULL |",
        ];
        assert_eq!(rows, wanted, "{shown}");
        let widths: Vec<usize> = shown.lines().map(|l| l.chars().count()).collect();
        assert!(widths.windows(2).all(|w| w[0] == w[1]), "{shown}");
    }

    #[test]
    fn a_long_table_says_how_many_rows_it_has() {
        let shown = printed(OutputFormat::Table, Some(4), None, &[batch(), batch()]);
        assert!(shown.ends_with("... 4 of 6 rows\n"), "{shown}");
        assert_eq!(shown.lines().filter(|l| l.starts_with('|')).count(), 5);
        let shown = printed(OutputFormat::Table, Some(6), None, &[batch(), batch()]);
        assert!(!shown.contains("..."), "{shown}");
    }

    #[test]
    fn csv_has_one_header() {
        let shown = printed(OutputFormat::Csv, None, None, &[batch(), batch()]);
        assert_eq!(shown.matches("name,n\n").count(), 1, "{shown}");
        assert!(shown.starts_with("name,n\n\"a,|b\",7\n,-1234\n"), "{shown}");
    }

    #[test]
    fn csv_shows_nested_columns_as_text() {
        let list: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([Some([
            Some(1),
            Some(2),
        ])]));
        let batch = RecordBatch::try_from_iter([("l", list)]).unwrap();
        assert_eq!(printed(OutputFormat::Csv, None, None, &[batch]), "l\n\"[1, 2]\"\n");
    }

    #[test]
    fn json_is_read_back() {
        let all: serde_json::Value =
            serde_json::from_str(&printed(OutputFormat::Json, None, None, &[batch(), batch()])).unwrap();
        assert_eq!(all.as_array().unwrap().len(), 6);
        assert_eq!(all[1], serde_json::json!({"name": null, "n": -1234}));
        let lines = printed(OutputFormat::Ndjson, None, None, &[batch()]);
        assert_eq!(lines.lines().next().unwrap(), r#"{"name":"a,|b","n":7}"#);
        let nan: ArrayRef = Arc::new(Float64Array::from(vec![f64::NAN]));
        let nan = RecordBatch::try_from_iter([("x", nan)]).unwrap();
        assert_eq!(printed(OutputFormat::Ndjson, None, None, &[nan]), "{\"x\":null}\n");
    }

    #[test]
    fn json_of_no_rows_is_an_empty_array() {
        let shown = printed(
            OutputFormat::Json,
            None,
            None,
            &[RecordBatch::new_empty(batch().schema())],
        );
        assert_eq!(shown, "[]\n");
    }

    #[test]
    fn markdown_escapes_its_own_signs() {
        let wanted = "| name | n |\n| --- | ---: |\n| a,\\|b | 7 |\n| NULL | -1234 |\n| é\\n\\u{1b}[31m | NULL |\n";
        assert_eq!(printed(OutputFormat::Markdown, None, None, &[batch()]), wanted);
    }
}
