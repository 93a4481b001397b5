//! Prints a table for human readers. The table is fitted to the width of a terminal: long texts are
//! wrapped or cut, columns in the middle are omitted, or each value is printed on its own line.

use super::cell;
use super::fit::{ColumnFit, FRAME, fit};
use super::number::rounded;
use super::screen::{Expanded, Screen};
use super::sink::{Out, ResultSink, unwritable};
use super::wrap::{cut, wrapped};
use crate::base::error::Result;
use crate::base::plain;
use arrow::array::Array;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use console::measure_text_width;
use std::io::Write;

/// A writer for a table. It collects all rows first, because the width of a column is determined by
/// its widest value.
pub struct TablePrinter {
    out: Out,
    header: Vec<String>,
    numeric: Vec<bool>,
    rows: Vec<Vec<String>>,
    total: usize,
    max_rows: usize,
    screen: Option<Screen>,
}

/// A line of a table row: one text for each shown column.
type Line = Vec<String>;

impl TablePrinter {
    /// Creates a writer for a table. If `max_rows` is `None`, all rows are printed. If `screen` is
    /// `None`, the table is not fitted to a terminal.
    pub fn new(schema: &SchemaRef, out: Out, max_rows: Option<usize>, screen: Option<Screen>) -> Self {
        Self {
            out,
            header: schema.fields().iter().map(|f| plain::line(f.name())).collect(),
            numeric: schema.fields().iter().map(|f| cell::is_number(f.data_type())).collect(),
            rows: vec![],
            total: 0,
            max_rows: max_rows.unwrap_or(usize::MAX),
            screen,
        }
    }

    /// Returns the natural widths and the minimum widths of the columns. At its natural width, a
    /// column is neither wrapped nor cut. The minimum width suffices for all digits of numbers, and
    /// for some letters of texts.
    fn widths(&self) -> (Vec<usize>, Vec<usize>) {
        let mut widths = vec![0; self.header.len()];
        for row in &self.rows {
            for (width, text) in widths.iter_mut().zip(row) {
                let widest = text.split('\n').map(measure_text_width).max();
                *width = (*width).max(widest.unwrap_or(0));
            }
        }
        let both = widths.iter().zip(&self.header).zip(&self.numeric);
        both.map(|((values, name), numeric)| {
            let natural = measure_text_width(name).max(*values);
            let least = natural.min(LEAST_COLUMN);
            (natural, if *numeric { least.max(*values) } else { least })
        })
        .unzip()
    }

    /// Returns the lines of the printed table, and the number of columns that are shown.
    fn laid_out(&self) -> (Vec<String>, usize) {
        let ((widths, least), all) = (self.widths(), self.header.len());
        let whole = |widths: &[usize]| ColumnFit {
            shown: widths.iter().copied().enumerate().collect(),
            gap: None,
        };
        let Some(screen) = &self.screen else {
            return (self.drawn(&whole(&widths), one_line), all);
        };
        let needed = widths.iter().map(|w| w + FRAME).sum::<usize>() + 1;
        let side = || self.on_its_side(screen.columns);
        if screen.expanded == Expanded::On && !self.rows.is_empty() {
            return (side(), all);
        }
        if needed <= screen.columns {
            return (self.drawn(&whole(&widths), wrapped), all);
        }
        // One line of the screen is needed for the prompt.
        let fits = |lines: &[String]| lines.len() < screen.lines;
        let fitted = fit(&widths, &least, screen.columns);
        if fitted.gap.is_none() {
            let lines = self.drawn(&fitted, wrapped);
            if fits(&lines) {
                return (lines, all);
            }
        } else if screen.expanded == Expanded::Auto && !self.rows.is_empty() {
            let lines = side();
            if fits(&lines) {
                return (lines, all);
            }
        }
        (
            self.drawn(&fitted, |text, width| vec![cut(&text.replace('\n', " "), width)]),
            fitted.shown.len(),
        )
    }

    /// Draws the shown columns in a frame. `broken` splits the text of a cell into lines of a given
    /// width.
    fn drawn(&self, fit: &ColumnFit, broken: impl Fn(&str, usize) -> Vec<String>) -> Vec<String> {
        let rule = joined(fit, |_, width| format!("+{}", "-".repeat(width + 2)), "+---") + "+";
        let frame = |cells: &[String]| -> Vec<String> {
            let cells: Vec<Vec<String>> = fit.shown.iter().map(|(i, width)| broken(&cells[*i], *width)).collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or(1);
            let line = |at: usize| -> Line { cells.iter().map(|c| c.get(at).cloned().unwrap_or_default()).collect() };
            (0..height).map(|at| self.framed(fit, &line(at))).collect()
        };
        let mut lines = vec![rule.clone()];
        lines.extend(frame(&self.header));
        lines.push(rule.clone());
        for row in &self.rows {
            lines.extend(frame(row));
        }
        if !self.rows.is_empty() {
            lines.push(rule);
        }
        lines
    }

    /// Returns a line of the table with its frame.
    fn framed(&self, fit: &ColumnFit, texts: &[String]) -> String {
        let mut texts = texts.iter();
        let cell = |i: usize, width: usize| {
            let text = texts.next().map_or("", String::as_str);
            let gap = " ".repeat(width.saturating_sub(measure_text_width(text)));
            match self.numeric[i] {
                true => format!("| {gap}{text} "),
                false => format!("| {text}{gap} "),
            }
        };
        joined(fit, cell, "| … ") + "|"
    }

    /// Returns the expanded form of the table, with one line for each value. Further lines of a
    /// long value are aligned with its first line.
    fn on_its_side(&self, columns: usize) -> Vec<String> {
        let width = self.header.iter().map(|h| measure_text_width(h)).max().unwrap_or(0);
        let width = width.min((columns / 2).max(1));
        let mut lines = vec![];
        for (i, row) in self.rows.iter().enumerate() {
            lines.push(format!("-[ row {} ]{}", i + 1, "-".repeat(width.max(20))));
            for (name, text) in self.header.iter().zip(row) {
                let mut name = cut(name, width);
                for part in wrapped(text, columns.saturating_sub(width + FRAME).max(LEAST_VALUE)) {
                    let gap = " ".repeat(width.saturating_sub(measure_text_width(&name)));
                    lines.push(format!("{name}{gap} | {part}"));
                    name.clear();
                }
            }
        }
        lines
    }

    /// Returns a line about the omitted rows and columns; `None` if nothing is omitted.
    fn missing(&self, columns: usize) -> Option<String> {
        let rows = (self.total > self.rows.len()).then(|| format!("{} of {} rows", self.rows.len(), self.total));
        let columns = (columns < self.header.len()).then(|| format!("{columns} of {} columns", self.header.len()));
        let told = columns.is_some() && self.screen.as_ref().is_some_and(|s| s.prompts);
        let hint = if told { "; \\x on shows every column" } else { "" };
        let parts: Vec<String> = rows.into_iter().chain(columns).collect();
        (!parts.is_empty()).then(|| format!("... {}{hint}", parts.join(", ")))
    }
}

/// The minimum width of a text column. If it cannot be reached, columns are omitted.
const LEAST_COLUMN: usize = 12;
/// The minimum width of a value in the expanded form, next to the name of its column.
const LEAST_VALUE: usize = 8;

/// Joins the shown columns into a line. `marker` is inserted in place of the omitted columns.
fn joined(fit: &ColumnFit, mut cell: impl FnMut(usize, usize) -> String, marker: &str) -> String {
    let mut line = String::new();
    for (at, (i, width)) in fit.shown.iter().enumerate() {
        if fit.gap == Some(at) {
            line.push_str(marker);
        }
        line.push_str(&cell(*i, *width));
    }
    if fit.gap == Some(fit.shown.len()) {
        line.push_str(marker);
    }
    line
}

fn one_line(text: &str, _: usize) -> Vec<String> {
    vec![text.to_string()]
}

impl ResultSink for TablePrinter {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.total += batch.num_rows();
        let kept = batch.num_rows().min(self.max_rows.saturating_sub(self.rows.len()));
        let formatters = cell::formatters(batch, "NULL")?;
        let Some(screen) = &self.screen else {
            let row = |row| {
                formatters
                    .iter()
                    .map(|f| plain::line(&f.value(row).to_string()))
                    .collect()
            };
            self.rows.extend((0..kept).map(row));
            return Ok(());
        };
        let nulls: Vec<_> = batch.columns().iter().map(|c| c.logical_nulls()).collect();
        for row in 0..kept {
            let text = |((column, formatter), nulls): ((&_, &cell::Formatter), &Option<arrow::buffer::NullBuffer>)| {
                let column: &arrow::array::ArrayRef = column;
                if nulls.as_ref().is_some_and(|n| n.is_null(row)) {
                    return screen.shown_null();
                }
                let text = formatter.value(row).to_string();
                match column.data_type().is_floating() {
                    true => rounded(&text),
                    // Without quotes, the text could not be distinguished from NULL.
                    false if text == screen.null => format!("'{}'", plain::line(&text)),
                    false => text.split('\n').map(plain::line).collect::<Vec<_>>().join("\n"),
                }
            };
            let cells = batch.columns().iter().zip(&formatters).zip(&nulls);
            self.rows.push(cells.map(text).collect());
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        let (mut lines, columns) = self.laid_out();
        lines.extend(self.missing(columns));
        for line in lines {
            writeln!(self.out, "{line}").map_err(unwritable)?;
        }
        self.out.flush().map_err(unwritable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::cli::output::testing::Kept;
    use arrow::array::{ArrayRef, Float64Array, Int64Array, StringArray};
    use std::sync::Arc;

    fn screen(columns: usize, lines: usize) -> Screen {
        Screen {
            columns,
            lines,
            expanded: Expanded::Auto,
            null: "NULL".into(),
            colours: false,
            prompts: true,
        }
    }

    fn shown(screen: Screen, columns: Vec<(&str, ArrayRef)>) -> Vec<String> {
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let kept = Kept::default();
        let out = Box::new(kept.clone());
        let mut table = Box::new(TablePrinter::new(&batch.schema(), out, None, Some(screen)));
        table.write(&batch).unwrap();
        table.finish().unwrap();
        kept.text().lines().map(String::from).collect()
    }

    fn texts(values: &[Option<&str>]) -> ArrayRef {
        Arc::new(StringArray::from(values.to_vec()))
    }

    fn wide(count: usize) -> Vec<(String, ArrayRef)> {
        let column = |i| {
            (
                format!("column{i}"),
                Arc::new(Int64Array::from(vec![i as i64; 3])) as ArrayRef,
            )
        };
        (0..count).map(column).collect()
    }

    #[test]
    fn of_many_columns_the_ends_are_shown() {
        let columns = wide(300);
        let lines = shown(
            screen(80, 24),
            columns.iter().map(|(n, c)| (n.as_str(), c.clone())).collect(),
        );
        assert!(lines.iter().all(|l| measure_text_width(l) <= 80), "{lines:?}");
        let header = &lines[1];
        assert!(header.starts_with("| column0 | column1 |"), "{header}");
        assert!(
            header.contains(" | … | ") && header.ends_with("| column299 |"),
            "{header}"
        );
        assert_eq!(lines.last().unwrap(), "... 6 of 300 columns; \\x on shows every column");
    }

    #[test]
    fn a_row_of_many_columns_is_turned_on_its_side_if_it_fits() {
        let columns = wide(20);
        let columns = || columns.iter().map(|(n, c)| (n.as_str(), c.slice(0, 1))).collect();
        let lines = shown(screen(80, 24), columns());
        assert!(lines[0].starts_with("-[ row 1 ]") && lines.len() == 21, "{lines:?}");
        assert!(lines[1].starts_with("column0  | 0"), "{lines:?}");
        let never = Screen {
            expanded: Expanded::Off,
            ..screen(80, 24)
        };
        assert!(shown(never, columns())[0].starts_with('+'));
        let always = Screen {
            expanded: Expanded::On,
            ..screen(800, 24)
        };
        assert!(shown(always, columns())[0].starts_with('-'));
    }

    #[test]
    fn long_texts_are_wrapped_if_there_is_room_and_else_cut() {
        let text = "what is wrapped between its words, ".repeat(4);
        let lines = shown(
            screen(40, 24),
            vec![("n", texts(&[Some("1")])), ("note", texts(&[Some(&text)]))],
        );
        assert!(lines.iter().all(|l| measure_text_width(l) == 40), "{lines:?}");
        assert!(lines.len() > 6 && !lines.concat().contains('…'), "{lines:?}");
        let many = vec![Some(text.as_str()); 30];
        let lines = shown(screen(40, 24), vec![("note", texts(&many))]);
        assert_eq!(lines.len(), 34);
        assert!(lines[3].ends_with("… |"), "{lines:?}");
    }

    #[test]
    fn lines_of_a_value_stay_lines() {
        let lines = shown(screen(80, 24), vec![("plan", texts(&[Some("Sort\n  Scan\u{1b}[31m")]))]);
        assert_eq!(lines[3..5], ["| Sort             |", "|   Scan\\u{1b}[31m |"]);
    }

    #[test]
    fn no_value_looks_like_null() {
        let values = || vec![("a", texts(&[None, Some("NULL"), Some("x")]))];
        let cells = |lines: Vec<String>| lines[3..6].to_vec();
        let plain = cells(shown(screen(80, 24), values()));
        assert_eq!(plain, ["| NULL   |", "| 'NULL' |", "| x      |"]);
        let coloured = Screen {
            colours: true,
            ..screen(80, 24)
        };
        assert!(cells(shown(coloured, values()))[0].starts_with("| \u{1b}[2mNULL\u{1b}[0m "));
        let named = Screen {
            null: "∅".into(),
            ..screen(80, 24)
        };
        assert_eq!(cells(shown(named, values())), ["| ∅    |", "| NULL |", "| x    |"]);
    }

    #[test]
    fn numbers_are_rounded_on_a_terminal_only() {
        let column: ArrayRef = Arc::new(Float64Array::from(vec![0.1 + 0.2]));
        assert_eq!(shown(screen(80, 24), vec![("x", column.clone())])[3], "| 0.3 |");
        let batch = RecordBatch::try_from_iter([("x", column)]).unwrap();
        let kept = Kept::default();
        let mut table = Box::new(TablePrinter::new(&batch.schema(), Box::new(kept.clone()), None, None));
        table.write(&batch).unwrap();
        table.finish().unwrap();
        assert!(kept.text().contains("0.30000000000000004"), "{}", kept.text());
    }
}
