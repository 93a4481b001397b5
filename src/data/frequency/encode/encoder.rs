//! Encodes values as the codes of a lookup table, for the second scan.

use super::dictionary::require_finite;
use super::interner::Interner;
use crate::base::error::{Error, Result};
use arrow::array::{Array, ArrayRef};

/// Encodes a column's values as the ground codes of its lookup table.
#[derive(Debug)]
pub struct Encoder {
    values: Interner,
    column: String,
    /// The position of the value in the lookup table, by code of the interner.
    positions: Vec<u32>,
}

impl Encoder {
    /// Creates an encoder for a column. The code of a value is its index in `values`.
    pub fn new(column: &str, values: &ArrayRef) -> Result<Self> {
        let mut interner = Interner::new(values.data_type())?;
        let codes = interner.intern(values)?;
        let mut positions = vec![0; codes.len()];
        for (position, code) in codes.into_iter().enumerate() {
            positions[code as usize] = position as u32;
        }
        Ok(Self {
            values: interner,
            column: column.into(),
            positions,
        })
    }

    /// Returns the code of every row. Fails with `ErrorKind::Data` if a value did not occur in the
    /// first scan, because the source has then changed.
    pub fn encode(&mut self, array: &ArrayRef) -> Result<Vec<u32>> {
        let mut codes = self.values.intern(array)?;
        for code in &mut codes {
            match self.positions.get(*code as usize) {
                Some(position) => *code = *position,
                None => {
                    require_finite(&self.column, array)?;
                    return Err(Error::data(format!(
                        "column {} contains values that the first scan did not read: the source changed during the \
                         run",
                        self.column
                    )));
                }
            }
        }
        Ok(codes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Float64Array, StringArray};
    use std::sync::Arc;

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
    #[test]
    fn a_number_that_is_not_finite_is_named_as_such() {
        let values: ArrayRef = Arc::new(Float64Array::from(vec![0.5, 1.0]));
        let mut encoder = Encoder::new("bmi", &values).unwrap();
        let changed: ArrayRef = Arc::new(Float64Array::from(vec![1.0, f64::NAN]));
        let e = encoder.encode(&changed).unwrap_err();
        assert!(e.to_string().contains("column bmi contains NaN"), "{e}");
    }
}
