//! The reasons why rows of a text file are rejected.

use crate::base::error::Error;
use arrow::error::ArrowError;
use datafusion::error::DataFusionError;

/// The reason why texts cannot be converted to rows.
#[derive(Debug)]
pub(crate) enum Refused<U> {
    /// The Arrow reader failed.
    Failed(ArrowError),
    /// A text is not a value of its column's type.
    Unlike(U),
}

impl<U> Refused<U> {
    /// Returns the error for the reason. `say` creates the error for a text that is not a value.
    pub(crate) fn error(self, say: impl FnOnce(U) -> Error) -> DataFusionError {
        match self {
            Self::Failed(error) => error.into(),
            Self::Unlike(unlike) => say(unlike).into(),
        }
    }
}

impl<U> From<ArrowError> for Refused<U> {
    fn from(error: ArrowError) -> Self {
        Self::Failed(error)
    }
}
