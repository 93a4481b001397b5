//! What a drawn mask knows of its column.

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
    /// [`Reads::Ranks`](super::Reads::Ranks) it is by the value, NULL after all values, and rows with
    /// equal values are ranked by their other columns. For any other mask it only tells rows apart.
    pub ranks: String,
}

impl Survey {
    /// Returns the number of rows that have a value.
    pub(super) fn rows(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns an error of the data about the column, which says what to do.
    pub(super) fn unfit(&self, why: &str) -> Error {
        Error::data(format!("column {}: {why}", self.column))
    }

    /// Returns the number of rows that have a value up to each value, which ascends.
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
