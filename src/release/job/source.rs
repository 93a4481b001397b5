//! The table that a job reads.

use crate::data::drift::SourceColumn;
use crate::data::source::Pins;
use crate::method::canonical::bare;
use crate::method::hierarchy::plain_type;
use arrow::datatypes::{DataType, Field};
use datafusion::dataframe::DataFrame;
use datafusion::execution::SessionState;
use std::path::PathBuf;
use std::sync::Arc;

/// A table that a job reads.
#[derive(Clone)]
pub struct SourceTable {
    /// The name of the table in the statement.
    pub name: String,
    /// The rows, unchanged except for values with several spellings: see `canonical`.
    pub rows: DataFrame,
    /// The local files that the table reads, if they are known. The target must not contain them.
    pub files: Vec<PathBuf>,
    /// Why a row of the table may depend on other rows of the table's input, and what to write
    /// instead.
    pub depends: Option<&'static str>,
    /// The state of the files and tables when the request was bound.
    pub pins: Pins,
}

impl SourceTable {
    /// Returns the names of the columns.
    pub fn columns(&self) -> Vec<&str> {
        self.rows.schema().fields().iter().map(|f| f.name().as_str()).collect()
    }

    /// Returns the names of the columns with the types of their values.
    pub fn typed_columns(&self) -> Vec<SourceColumn> {
        let typed = |field: &Arc<Field>| {
            let data_type = match plain_type(field.data_type()) {
                DataType::Utf8View | DataType::LargeUtf8 => &DataType::Utf8,
                DataType::BinaryView | DataType::LargeBinary => &DataType::Binary,
                other => other,
            };
            SourceColumn::new(field.name(), bare(data_type).to_string())
        };
        self.rows.schema().fields().iter().map(typed).collect()
    }

    /// Returns the state of the session that reads the table.
    pub(crate) fn state(&self) -> SessionState {
        self.rows.clone().into_parts().0
    }
}
