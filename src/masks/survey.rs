//! The data about a column that a drawn mask uses.

use crate::canonical::plain;
use crate::error::{Error, Result};
use arrow::array::{Array, ArrayRef, AsArray, Float64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};

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
    /// [`Reads::Ranks`](super::Reads::Ranks), rows are ranked by the value, with NULL last, and
    /// then by their other columns. For any other mask the rank only distinguishes rows.
    pub ranks: String,
}

impl Survey {
    /// Returns the number of rows that have a value.
    pub(super) fn rows(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns a data error for the column. `why` gives the reason and says what to do.
    pub(super) fn unfit(&self, why: &str) -> Error {
        Error::data(format!("column {}: {why}", self.column))
    }

    /// Returns, for each value in ascending order, the number of rows with this value or a smaller
    /// one.
    pub(super) fn ends(&self) -> Vec<u64> {
        let sums = self.counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        sums.collect()
    }

    /// Returns the standard deviation of a column of numbers, dates or timestamps, over all rows
    /// with a value. Returns `None` for a column that has none: of another type, with NaN or
    /// infinity, or with one value in all rows.
    pub(super) fn deviation(&self) -> Result<Option<f64>> {
        let Some(values) = numbers(&self.values)? else {
            return Ok(None);
        };
        let deviation = self.deviation_of(values.values());
        Ok(Some(deviation).filter(|deviation| deviation.is_finite() && *deviation > 0.0))
    }

    /// Returns the square root of the sum of (x - mean)^2 divided by n - 1, where `values` are the
    /// values as numbers. The values are added in ascending order, so the result does not depend on
    /// threads.
    pub(super) fn deviation_of(&self, values: &[f64]) -> f64 {
        let n = self.rows() as f64;
        let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
            let terms = values.iter().zip(&self.counts);
            terms.map(|(x, count)| of(*x) * *count as f64).sum()
        };
        let mean = sum(&|x| x / n);
        f64::sqrt(sum(&|x| (x - mean) * (x - mean)) / (n - 1.0))
    }

    /// Fails unless each value has a count.
    pub(super) fn check(&self) -> Result<()> {
        match self.values.len() == self.counts.len() && self.values.logical_null_count() == 0 {
            true => Ok(()),
            false => Err(Error::internal("a survey whose values and counts do not match")),
        }
    }
}

/// Returns numbers, dates or timestamps as numbers, in the unit of their type; `None` for values of
/// another type.
pub(super) fn numbers(values: &ArrayRef) -> Result<Option<Float64Array>> {
    let values = match plain(values.data_type()) {
        of if of.is_numeric() => cast(values, &of)?,
        of @ (DataType::Date32 | DataType::Date64 | DataType::Timestamp(..)) => {
            cast(&cast(values, &of)?, &DataType::Int64)?
        }
        _ => return Ok(None),
    };
    let numbers = cast(&values, &DataType::Float64)?;
    Ok(Some(numbers.as_primitive::<Float64Type>().clone()))
}
