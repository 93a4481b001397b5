//! Where the batches of a result go, and what can go wrong there.

use crate::error::{Error, Result};
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;
use std::io::Write;

/// Takes the batches of one result.
pub trait Sink: Send {
    /// The next rows.
    fn write(&mut self, batch: &RecordBatch) -> Result<()>;
    /// There are no more rows.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Where results go.
pub type Out = Box<dyn Write + Send>;

/// The error of a write to standard output.
pub fn unwritable(error: std::io::Error) -> Error {
    Error::io("standard output", error)
}

/// The error of an Arrow writer: a failed write, or a column it cannot show.
pub fn unshown(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, e) => unwritable(e),
        other => Error::from(other),
    }
}
