//! Prints results on standard output in the requested format.

mod cell;
mod csv;
mod format;
mod json;
mod markdown;
mod sink;
mod table;
mod terminal;
mod wrap;

pub use format::Format;

use crate::error::{Error, Result};
use crate::session::Answer;
use arrow::datatypes::SchemaRef;
use futures::StreamExt;
use sink::{Out, Sink};
use std::io::{BufWriter, ErrorKind, IsTerminal, Stdout, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// The settings of printing.
#[derive(Debug, Clone, Copy)]
pub struct Printing {
    /// The format of results.
    pub format: Format,
    /// The largest number of rows of a table that are printed.
    pub max_rows: Option<usize>,
    /// The width of the terminal in columns, if standard output is a terminal.
    pub width: Option<usize>,
    /// Whether errors while reading may quote the data.
    pub show_values: bool,
}

impl Printing {
    /// Prints an answer while it is computed, and returns the number of rows.
    pub async fn print(&self, answer: Answer) -> Result<u64> {
        let mut stream = answer.rows;
        // CREATE, DROP and the like return no columns, so there is nothing to print.
        let mut sink = match answer.schema.fields().is_empty() {
            true => None,
            false => Some(self.sink(&answer.schema, self.standard_output())?),
        };
        let mut rows = 0;
        while let Some(batch) = stream.next().await {
            let batch = batch.map_err(|e| {
                if self.show_values {
                    Error::from(e)
                } else {
                    Error::from_data(e)
                }
            })?;
            rows += batch.num_rows() as u64;
            if let Some(sink) = &mut sink {
                sink.write(&batch)?;
            }
        }
        if let Some(sink) = sink {
            sink.finish()?;
        }
        Ok(rows)
    }

    fn standard_output(&self) -> Out {
        let out = BufWriter::new(StandardOutput(std::io::stdout()));
        match std::io::stdout().is_terminal() {
            true => Box::new(terminal::Spelled::new(out, self.format)),
            false => Box::new(out),
        }
    }

    fn sink(&self, schema: &SchemaRef, out: Out) -> Result<Box<dyn Sink>> {
        Ok(match self.format {
            Format::Table => Box::new(table::Table::new(schema, out, self.max_rows, self.width)),
            Format::Csv => Box::new(csv::Csv::new(schema, out)?),
            Format::Json => Box::new(json::array(out)),
            Format::Ndjson => Box::new(json::lines(out)),
            Format::Markdown => Box::new(markdown::Markdown::new(schema, out)?),
        })
    }
}

/// Standard output that records when its reader has closed it.
struct StandardOutput(Stdout);

static READER_GONE: AtomicBool = AtomicBool::new(false);

/// Returns true if the reader of standard output, such as `head`, has closed it, which is not an error.
pub fn reader_gone() -> bool {
    READER_GONE.load(Ordering::Relaxed)
}

impl StandardOutput {
    fn note<T>(result: std::io::Result<T>) -> std::io::Result<T> {
        if matches!(&result, Err(e) if e.kind() == ErrorKind::BrokenPipe) {
            READER_GONE.store(true, Ordering::Relaxed);
        }
        result
    }
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Self::note(self.0.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Self::note(self.0.flush())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, Float64Array, Int64Array, ListArray, StringArray};
    use arrow::datatypes::Int32Type;
    use arrow::record_batch::RecordBatch;
    use std::sync::Arc;

    /// Output in memory.
    #[derive(Clone, Default)]
    struct Kept(Arc<parking_lot::Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn printed(format: Format, max_rows: Option<usize>, width: Option<usize>, batches: &[RecordBatch]) -> String {
        let kept = Kept::default();
        let printing = Printing {
            format,
            max_rows,
            width,
            show_values: false,
        };
        let mut sink = printing.sink(&batches[0].schema(), Box::new(kept.clone())).unwrap();
        for batch in batches {
            sink.write(batch).unwrap();
        }
        sink.finish().unwrap();
        let bytes = kept.0.lock().clone();
        String::from_utf8(bytes).unwrap()
    }

    fn batch() -> RecordBatch {
        let name: ArrayRef = Arc::new(StringArray::from(vec![Some("a,|b"), None, Some("é\n\u{1b}[31m")]));
        let n: ArrayRef = Arc::new(Int64Array::from(vec![Some(7), Some(-1234), None]));
        RecordBatch::try_from_iter([("name", name), ("n", n)]).unwrap()
    }

    #[test]
    fn a_table_is_aligned_and_safe_to_look_at() {
        let shown = printed(Format::Table, None, None, &[batch()]);
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
        let shown = printed(Format::Table, Some(4), None, &[batch(), batch()]);
        assert!(shown.ends_with("... 4 of 6 rows\n"), "{shown}");
        assert_eq!(shown.lines().filter(|l| l.starts_with('|')).count(), 5);
        let shown = printed(Format::Table, Some(6), None, &[batch(), batch()]);
        assert!(!shown.contains("..."), "{shown}");
    }

    #[test]
    fn a_wide_table_is_turned_on_its_side() {
        let shown = printed(Format::Table, None, Some(20), &[batch()]);
        assert!(shown.starts_with("-[ row 1 ]"), "{shown}");
        assert!(shown.contains("\nname | a,|b\nn    | 7\n"), "{shown}");
    }

    #[test]
    fn prose_is_wrapped_before_a_table_is_turned() {
        let item: ArrayRef = Arc::new(StringArray::from(vec!["pruning", "metric"]));
        let detail: ArrayRef = Arc::new(StringArray::from(vec!["what fails at a node fails below it", "glm"]));
        let batch = RecordBatch::try_from_iter([("item", item), ("detail", detail)]).unwrap();
        let answer = Answer::of(batch.clone()).unwrap().prose(&["detail"]);
        let kept = Kept::default();
        let mut sink = table::Table::new(&answer.schema, Box::new(kept.clone()), None, Some(36));
        sink.write(&batch).unwrap();
        Box::new(sink).finish().unwrap();
        let shown = String::from_utf8(kept.0.lock().clone()).unwrap();
        let expected = "\
+---------+------------------------+
| item    | detail                 |
+---------+------------------------+
| pruning | what fails at a node   |
|         | fails below it         |
| metric  | glm                    |
+---------+------------------------+
";
        assert_eq!(shown, expected);
        // The same rows for a program are as they are.
        assert!(
            printed(Format::Csv, None, Some(36), &[batch]).contains("pruning,what fails at a node fails below it\n")
        );
    }

    #[test]
    fn csv_has_one_header() {
        let shown = printed(Format::Csv, None, None, &[batch(), batch()]);
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
        assert_eq!(printed(Format::Csv, None, None, &[batch]), "l\n\"[1, 2]\"\n");
    }

    #[test]
    fn json_is_read_back() {
        let all: serde_json::Value =
            serde_json::from_str(&printed(Format::Json, None, None, &[batch(), batch()])).unwrap();
        assert_eq!(all.as_array().unwrap().len(), 6);
        assert_eq!(all[1], serde_json::json!({"name": null, "n": -1234}));
        let lines = printed(Format::Ndjson, None, None, &[batch()]);
        assert_eq!(lines.lines().next().unwrap(), r#"{"name":"a,|b","n":7}"#);
        let nan: ArrayRef = Arc::new(Float64Array::from(vec![f64::NAN]));
        let nan = RecordBatch::try_from_iter([("x", nan)]).unwrap();
        assert_eq!(printed(Format::Ndjson, None, None, &[nan]), "{\"x\":null}\n");
    }

    #[test]
    fn json_of_no_rows_is_an_empty_array() {
        let shown = printed(Format::Json, None, None, &[RecordBatch::new_empty(batch().schema())]);
        assert_eq!(shown, "[]\n");
    }

    #[test]
    fn markdown_escapes_its_own_signs() {
        let wanted = "| name | n |\n| --- | ---: |\n| a,\\|b | 7 |\n| NULL | -1234 |\n| é\\n\\u{1b}[31m | NULL |\n";
        assert_eq!(printed(Format::Markdown, None, None, &[batch()]), wanted);
    }
}
