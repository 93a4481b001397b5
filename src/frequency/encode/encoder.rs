//! Values to the codes of a lookup table, for the second scan.

use super::dictionary::{Local, Shared};
use crate::error::{Error, Result};
use arrow::array::{Array, ArrayRef};
use std::sync::Arc;

/// Answers the ground codes of a column's values.
#[derive(Debug)]
pub struct Encoder {
    local: Local,
    column: String,
    /// For each code that the dictionary gave, the value's position.
    positions: Vec<u32>,
}

impl Encoder {
    /// An encoder whose code of a value is its position in `values`.
    pub fn new(column: &str, values: &ArrayRef) -> Result<Self> {
        let shared = Arc::new(Shared::new(column, values.data_type())?);
        let mut local = Local::new(shared, true)?;
        let codes = local.encode(values)?;
        let mut positions = vec![0; codes.len()];
        for (position, code) in codes.into_iter().enumerate() {
            positions[code as usize] = position as u32;
        }
        Ok(Self {
            local,
            column: column.into(),
            positions,
        })
    }

    /// The code of every row. A value that was not there in the first scan is an error: the source has changed.
    pub fn encode(&mut self, array: &ArrayRef) -> Result<Vec<u32>> {
        let mut codes = self.local.encode(array)?;
        for code in &mut codes {
            let position = self.positions.get(*code as usize).ok_or_else(|| {
                Error::data(format!(
                    "column {} holds values that it did not hold in the first scan: the source changed during the run",
                    self.column
                ))
            })?;
            *code = *position;
        }
        Ok(codes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::StringArray;

    #[test]
    fn codes_are_positions_also_with_null() {
        let values: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), Some("b"), None]));
        let mut encoder = Encoder::new("c", &values).unwrap();
        let rows: ArrayRef = Arc::new(StringArray::from(vec![None, Some("b"), Some("a"), None]));
        assert_eq!(encoder.encode(&rows).unwrap(), [2, 1, 0, 2]);
        let changed: ArrayRef = Arc::new(StringArray::from(vec!["z"]));
        assert!(
            encoder
                .encode(&changed)
                .unwrap_err()
                .to_string()
                .contains("source changed")
        );
    }
}
