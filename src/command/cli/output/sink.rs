//! The interface of the writers for results, one for each format, and their errors.

use crate::base::error::{Error, Result};
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;
use std::io::Write;

/// A writer for the batches of one result.
pub trait ResultSink: Send {
    /// Writes a batch of rows.
    fn write(&mut self, batch: &RecordBatch) -> Result<()>;
    /// Writes the text after the last row, and flushes the output.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// The stream to which a result is written.
pub type Out = Box<dyn Write + Send>;

/// Returns the error for a failed write to standard output.
pub fn unwritable(error: std::io::Error) -> Error {
    Error::io("standard output", error)
}

/// Converts an error of an Arrow writer. The cause is either a failed write, or a column that the
/// writer cannot print.
pub fn unshown(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, e) => unwritable(e),
        other => Error::from(other),
    }
}
