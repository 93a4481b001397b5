//! The dialect of a CSV file.

use csv::{Reader, ReaderBuilder, Trim};
use datafusion::datasource::physical_plan::CsvSource;
use std::io::Read;

/// The dialect of a CSV file: its delimiter, its quote, and whether its first line names the
/// columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
    pub(crate) quote: u8,
    /// The escape character: in a quoted field, a quote after it is part of the text. A doubled
    /// quote also stands for a quote in the text.
    pub(crate) escape: Option<u8>,
    /// The first character of comment lines, which are skipped.
    pub(crate) comment: Option<u8>,
    pub(crate) has_header: bool,
    /// Whether blanks around a field are removed.
    pub(crate) trim: bool,
}

impl Dialect {
    /// Returns the dialect with which DataFusion reads a file.
    pub(crate) fn of(source: &CsvSource) -> Self {
        Self {
            delimiter: source.delimiter(),
            quote: source.quote(),
            escape: source.escape(),
            comment: source.comment(),
            has_header: source.has_header(),
            trim: false,
        }
    }

    /// Returns a reader of all records. If the file has a header, the header is the first record.
    pub(super) fn records<R: Read>(&self, from: R) -> Reader<R> {
        ReaderBuilder::new()
            .delimiter(self.delimiter)
            .quote(self.quote)
            .escape(self.escape)
            .comment(self.comment)
            .has_headers(false)
            .flexible(true)
            .trim(if self.trim { Trim::All } else { Trim::None })
            .from_reader(from)
    }

    /// Returns the delimiter as it is written in a statement, such as `';'`.
    pub(super) fn delimiter_text(delimiter: u8) -> String {
        match delimiter {
            b'\t' => r"'\t'".into(),
            other => crate::base::quoting::literal(&char::from(other).to_string()),
        }
    }
}
