//! The formats of results.

use clap::ValueEnum;

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table for people
    Table,
    /// Comma-separated values with a header
    Csv,
    /// An array of objects
    Json,
    /// One object a line
    Ndjson,
    /// A Markdown table
    Markdown,
}
