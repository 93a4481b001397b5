//! The formats of results.

use clap::ValueEnum;

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// A table for people
    Table,
    /// Comma-separated values with a header
    Csv,
    /// An array of objects
    Json,
    /// One object per line
    Ndjson,
    /// A Markdown table
    Markdown,
}

impl OutputFormat {
    /// Returns true if programs read the results, so that other text must not be printed between
    /// them.
    pub fn is_for_programs(self) -> bool {
        matches!(self, Self::Csv | Self::Json | Self::Ndjson)
    }

    /// Returns true if two consecutive results are not a valid text of this format.
    pub fn is_one_result(self) -> bool {
        matches!(self, Self::Csv | Self::Json)
    }
}
