//! How much of a column a hierarchy knows: what CHECK HIERARCHY answers, and what is refused before a run.

use super::exceptions::{OnNull, OnUnmapped};
use super::ground;
use super::lookup::Lookup;
use super::named::Hierarchy;
use crate::error::{Error, Result};
use arrow::array::{Array, ArrayRef};

/// Distinct values and rows of a column, by what a hierarchy makes of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Coverage {
    /// Distinct values with labels.
    pub values_mapped: u64,
    /// Rows with those values.
    pub rows_mapped: u64,
    /// Distinct values without labels; NULL is not one of them.
    pub values_unmapped: u64,
    /// Rows with those values.
    pub rows_unmapped: u64,
    /// Rows that are NULL.
    pub rows_null: u64,
}

impl Coverage {
    fn count(values: &ArrayRef, counts: &[u64], is_unmapped: impl Fn(usize) -> bool) -> Result<Self> {
        let values = ground::plain(values)?;
        if values.len() != counts.len() {
            return Err(Error::internal(format!(
                "{} values have {} counts",
                values.len(),
                counts.len()
            )));
        }
        let mut coverage = Self::default();
        for (i, rows) in counts.iter().enumerate() {
            if values.is_null(i) {
                coverage.rows_null += rows;
            } else if is_unmapped(i) {
                coverage.values_unmapped += 1;
                coverage.rows_unmapped += rows;
            } else {
                coverage.values_mapped += 1;
                coverage.rows_mapped += rows;
            }
        }
        Ok(coverage)
    }
}

impl Lookup {
    /// How much of the bound column is mapped; `counts` are the rows of each of its values.
    pub fn coverage(&self, counts: &[u64]) -> Result<Coverage> {
        Coverage::count(self.values(), counts, |code| self.is_unmapped(code))
    }
}

impl Hierarchy {
    /// How much of a column with these distinct values, of so many rows each, is mapped. NaN and infinity are not.
    pub fn coverage(&self, values: &ArrayRef, counts: &[u64]) -> Result<Coverage> {
        let told = |e: Error| e.context(format!("hierarchy {}", self.name()));
        self.rule().accepts(values.data_type()).map_err(told)?;
        let finite = ground::finite(values)?;
        let labels = self.rule().labels(values).map_err(told)?;
        let unmapped = |i: usize| !finite(i) || labels.first().is_some_and(|l| l.is_null(i));
        Coverage::count(values, counts, unmapped)
    }

    /// Refuses a column that ON UNMAPPED ERROR or NULLS ERROR rules out; the error counts values and rows.
    pub fn admit(&self, column: &str, coverage: &Coverage) -> Result<()> {
        if self.on_unmapped() == OnUnmapped::Error && coverage.values_unmapped > 0 {
            return Err(Error::data(format!(
                "hierarchy {} does not map {} values ({} rows) of column {column}; add them, or say ON UNMAPPED \
                 SUPPRESS or ON UNMAPPED TOP when creating it",
                self.name(),
                coverage.values_unmapped,
                coverage.rows_unmapped
            )));
        }
        if self.on_null() == OnNull::Error && coverage.rows_null > 0 {
            return Err(Error::data(format!(
                "column {column} is NULL in {} rows, which hierarchy {} does not allow (NULLS ERROR)",
                coverage.rows_null,
                self.name()
            )));
        }
        Ok(())
    }
}
