//! The table that a job reads.

use crate::source::Pins;
use datafusion::dataframe::DataFrame;
use datafusion::execution::SessionState;
use std::path::PathBuf;

/// Where the rows come from.
#[derive(Clone)]
pub struct SourceTable {
    /// How the statement names it.
    pub name: String,
    /// The rows, unchanged.
    pub rows: DataFrame,
    /// The local files it reads, where they are known; the target may not be among them.
    pub files: Vec<PathBuf>,
    /// What it was when it was named.
    pub pins: Pins,
}

impl SourceTable {
    /// The names of its columns.
    pub fn columns(&self) -> Vec<&str> {
        self.rows.schema().fields().iter().map(|f| f.name().as_str()).collect()
    }

    /// The session that it is read in.
    pub(crate) fn state(&self) -> SessionState {
        self.rows.clone().into_parts().0
    }
}
