//! The table that a job reads.

use crate::source::Pins;
use datafusion::dataframe::DataFrame;
use datafusion::execution::SessionState;
use std::path::PathBuf;

/// A table that a job reads.
#[derive(Clone)]
pub struct SourceTable {
    /// The name of the table in the statement.
    pub name: String,
    /// The rows, unchanged.
    pub rows: DataFrame,
    /// The local files that the table reads, if they are known. The target must not contain them.
    pub files: Vec<PathBuf>,
    /// The state of the files and tables when the request was bound.
    pub pins: Pins,
}

impl SourceTable {
    /// Returns the names of the columns.
    pub fn columns(&self) -> Vec<&str> {
        self.rows.schema().fields().iter().map(|f| f.name().as_str()).collect()
    }

    /// Returns the state of the session that reads the table.
    pub(crate) fn state(&self) -> SessionState {
        self.rows.clone().into_parts().0
    }
}
