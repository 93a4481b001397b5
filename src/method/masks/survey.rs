//! The data about a column that a drawn mask needs.

use crate::base::error::{Error, Result};
use crate::method::canonical::plain;
use arrow::array::{Array, ArrayRef, AsArray, Float64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};

/// The values in the source of the rows that are released with a value in the column of a drawn
/// mask. The values of suppressed rows are not part of it, unless they are released, too.
#[derive(Debug, Clone)]
pub struct Survey {
    /// The name of the column.
    pub column: String,
    /// The distinct values in ascending order, without NULL.
    pub values: ArrayRef,
    /// For each of `values`, the number of these rows.
    pub counts: Vec<u64>,
    /// For a mask that reads [`Reads::Ranks`](super::Reads::Ranks), the ids of the rows with a
    /// value, ordered by their value and then by the id of the first row equal to them; empty for
    /// any other mask.
    pub order: Vec<u64>,
}

impl Survey {
    /// Returns the number of rows that have a value.
    pub(super) fn rows(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns a data error for the column. `why` is the reason, followed by advice on what to do.
    pub(super) fn unfit(&self, why: &str) -> Error {
        Error::data(format!("column {}: {why}", self.column))
    }

    /// Returns the standard deviation of the column over all rows with a value. Returns `None` if
    /// the column does not contain numbers, dates or timestamps, if it contains NaN or infinity, if
    /// fewer than two values differ, or if 64-bit floats cannot compute the standard deviation.
    pub(super) fn deviation(&self) -> Result<Option<f64>> {
        let Some(values) = numbers(&self.values)? else {
            return Ok(None);
        };
        let deviation = self.deviation_of(values.values());
        Ok(Some(deviation).filter(|deviation| deviation.is_finite() && *deviation > 0.0))
    }

    /// Returns the standard deviation: the square root of the sum of (x - mean)^2 divided by n - 1,
    /// over all n rows. `values` are the distinct values as numbers. They are added in ascending
    /// order, so the result does not depend on the number of threads.
    pub(super) fn deviation_of(&self, values: &[f64]) -> f64 {
        let n = self.rows() as f64;
        let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
            let terms = values.iter().zip(&self.counts);
            terms.map(|(x, count)| of(*x) * *count as f64).sum()
        };
        let mean = sum(&|x| x / n);
        f64::sqrt(sum(&|x| (x - mean) * (x - mean)) / (n - 1.0))
    }

    /// Fails unless there is one count per value and no value is NULL.
    pub(super) fn check(&self) -> Result<()> {
        match self.values.len() == self.counts.len() && self.values.logical_null_count() == 0 {
            true => Ok(()),
            false => Err(Error::internal("a survey whose values and counts do not match")),
        }
    }
}

/// Converts numbers, dates or timestamps to floating-point numbers; dates and timestamps are in the
/// unit of their type. Returns `None` for values of another type.
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
