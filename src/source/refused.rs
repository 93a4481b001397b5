//! The reasons for which the rows of a text may be refused.

use crate::error::Error;
use arrow::error::ArrowError;
use datafusion::error::DataFusionError;

/// The reason why texts are not turned into rows.
#[derive(Debug)]
pub(crate) enum Refused<U> {
    /// The reader failed.
    Failed(ArrowError),
    /// A text is not a value of the type of its column.
    Unlike(U),
}

impl<U> Refused<U> {
    /// Returns the error; `say` writes the error for a text.
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
