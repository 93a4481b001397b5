//! The coverage of a column by a hierarchy: the number of values and rows that have labels. CHECK
//! HIERARCHY returns the coverage. A statement that uses the hierarchy fails if the column contains
//! unmapped values or NULL that the options of the hierarchy forbid.

use super::exceptions::{OnNull, OnUnmapped};
use super::ground;
use super::lookup::Lookup;
use super::named::Hierarchy;
use crate::base::error::{Error, Result};
use crate::base::quoting::ident;
use arrow::array::{Array, ArrayRef};

/// The numbers of distinct values and of rows of a column, with and without labels in a hierarchy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Coverage {
    /// The number of distinct values with labels.
    pub values_mapped: u64,
    /// The number of rows whose values have labels.
    pub rows_mapped: u64,
    /// The number of distinct values without labels, not counting NULL.
    pub values_unmapped: u64,
    /// The number of rows whose values have no labels, not counting NULL.
    pub rows_unmapped: u64,
    /// The number of rows in which the column is NULL.
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
        // A value without rows comes from another table to which the hierarchy is bound at the same
        // time.
        for (i, rows) in counts.iter().enumerate().filter(|(_, rows)| **rows > 0) {
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
    /// Returns the coverage of the bound column. `counts` contains the number of rows with each
    /// value.
    pub fn coverage(&self, counts: &[u64]) -> Result<Coverage> {
        Coverage::count(self.values(), counts, |code| self.is_unmapped(code))
    }
}

impl Hierarchy {
    /// Returns the coverage of a column. `values` contains the distinct values, and `counts` the
    /// number of rows with each value. NaN and infinity count as unmapped.
    pub fn coverage(&self, values: &ArrayRef, counts: &[u64]) -> Result<Coverage> {
        let is_unmapped = self.unmapped(values)?;
        Coverage::count(values, counts, |i| is_unmapped[i])
    }

    /// Returns, for each distinct value of a column, true if the value has no label or is NaN or
    /// infinite. The result for NULL is unspecified.
    pub fn unmapped(&self, values: &ArrayRef) -> Result<Vec<bool>> {
        let told = |e: Error| e.context(format!("hierarchy {}", self.name()));
        self.rule().accepts(values.data_type()).map_err(told)?;
        let finite = ground::finite(values)?;
        let labels = self.rule().labels(values).map_err(told)?;
        let is_unmapped = |i: usize| !finite(i) || labels.first().is_some_and(|l| l.is_null(i));
        Ok((0..values.len()).map(is_unmapped).collect())
    }

    /// Fails if ON UNMAPPED ERROR or NULLS ERROR forbids values of the column. The error message
    /// states the number of rows, and for unmapped values also the number of values.
    pub fn admit(&self, column: &str, coverage: &Coverage) -> Result<()> {
        if self.on_unmapped() == OnUnmapped::Error && coverage.values_unmapped > 0 {
            return Err(Error::data(format!(
                "hierarchy {0} does not map {1} values ({2} rows) of column {column}; add them, or write ON UNMAPPED \
                 SUPPRESS or ON UNMAPPED TOP when you create it; CHECK HIERARCHY {0} FOR table.{3} LIST UNMAPPED \
                 lists the missing values",
                self.name(),
                coverage.values_unmapped,
                coverage.rows_unmapped,
                ident(column)
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
