//! The number of rows that each row of a batch represents.

use super::ROWS;
use crate::base::error::{Error, Result};
use arrow::array::AsArray;
use arrow::buffer::ScalarBuffer;
use arrow::datatypes::UInt64Type;
use arrow::record_batch::RecordBatch;

/// The number of rows that each row of a batch represents: the number in the column [`ROWS`], or 1
/// if the batch has no such column.
#[derive(Debug, Default)]
pub(super) struct RowWeights(Option<ScalarBuffer<u64>>);

impl RowWeights {
    /// Returns the weights of the rows of a batch.
    pub(super) fn of(batch: &RecordBatch) -> Result<Self> {
        let Some(column) = batch.column_by_name(ROWS) else {
            return Ok(Self(None));
        };
        let counts = column.as_primitive_opt::<UInt64Type>();
        let counts = counts.ok_or_else(|| Error::internal("rows that were counted before have no counts"))?;
        Ok(Self(Some(counts.values().clone())))
    }

    /// Returns the number of rows that the row with index `row` represents.
    pub(super) fn of_row(&self, row: usize) -> u64 {
        self.0.as_ref().map_or(1, |counts| counts[row])
    }

    /// Returns the number of rows that a batch of `rows` rows represents.
    pub(super) fn sum(&self, rows: usize) -> u64 {
        self.0.as_ref().map_or(rows as u64, |counts| counts.iter().sum())
    }

    /// Returns the number of rows that each row represents; `None` if each row represents one row.
    pub(super) fn as_counts(&self) -> Option<&[u64]> {
        self.0.as_deref()
    }
}
