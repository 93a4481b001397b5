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
    /// Returns true if the results are meant for programs, so that no other text may be printed
    /// between them.
    pub fn is_for_programs(self) -> bool {
        matches!(self, Self::Csv | Self::Json | Self::Ndjson)
    }

    /// Returns true if two consecutive results would not form a valid text in this format.
    pub fn is_one_result(self) -> bool {
        matches!(self, Self::Csv | Self::Json)
    }
}
