//! The data about a column that a drawn mask uses.

use crate::error::{Error, Result};
use arrow::array::{Array, ArrayRef};

/// The values of the column of a drawn mask in the rows of the source.
#[derive(Debug, Clone)]
pub struct Survey {
    /// The name of the column.
    pub column: String,
    /// The distinct values, ascending, without NULL.
    pub values: ArrayRef,
    /// The number of rows of each value.
    pub counts: Vec<u64>,
    /// The column of the rank of each row, from 1 on. For a mask that reads
    /// [`Reads::Ranks`](super::Reads::Ranks), rows are ranked by the value, with NULL after all
    /// values, and rows with equal values are ranked by their other columns. For any other mask the
    /// rank only distinguishes rows.
    pub ranks: String,
}

impl Survey {
    /// Returns the number of rows that have a value.
    pub(super) fn rows(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns a data error for the column. `why` is the reason, and says what to do.
    pub(super) fn unfit(&self, why: &str) -> Error {
        Error::data(format!("column {}: {why}", self.column))
    }

    /// Returns for each value, in ascending order, the number of rows with a value up to it.
    pub(super) fn ends(&self) -> Vec<u64> {
        let sums = self.counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        sums.collect()
    }

    /// Fails unless there is a count for each value.
    pub(super) fn check(&self) -> Result<()> {
        match self.values.len() == self.counts.len() && self.values.logical_null_count() == 0 {
            true => Ok(()),
            false => Err(Error::internal("a survey whose values are not those that it counts")),
        }
    }
}
