//! Encodes dictionary arrays. Each value of a dictionary is looked up once, not once per row.

use crate::base::error::Result;
use arrow::array::{Array, ArrayRef, AsArray, UInt32Array, make_array, new_null_array};
use arrow::compute::{cast, take};
use arrow::datatypes::{DataType, UInt32Type};
use std::sync::Arc;

/// The dictionary of the last batch. Batches of one row group share their dictionary.
#[derive(Debug, Default)]
pub(super) struct LastDictionary {
    known: Option<Known>,
    null: Option<u32>,
}

/// The values of a dictionary, with the codes of the values that have occurred in a row. After a
/// filter, the dictionary may contain values that do not occur in any row. Such values do not count
/// as values of the column.
#[derive(Debug)]
struct Known {
    values: ArrayRef,
    codes: Vec<u32>,
    unseen: usize,
}

/// The code of a value that has not occurred in a row yet.
const UNSEEN: u32 = u32::MAX;

impl LastDictionary {
    /// Returns the code of every row of `array`. `encode` returns the codes of an array that is not
    /// a dictionary array, and must return the same code for a value each time.
    pub(super) fn encode(
        &mut self,
        array: &ArrayRef,
        mut encode: impl FnMut(&ArrayRef) -> Result<Vec<u32>>,
    ) -> Result<Vec<u32>> {
        let DataType::Dictionary(_, data_type) = array.data_type() else {
            return encode(array);
        };
        let dictionary = array.as_any_dictionary();
        let values = dictionary.values();
        let keys = cast(&make_array(dictionary.keys().to_data()), &DataType::UInt32)?;
        let keys = keys.as_primitive::<UInt32Type>();
        let known = self.known.take().filter(|known| same_buffers(&known.values, values));
        let mut known = known.unwrap_or_else(|| Known {
            values: Arc::clone(values),
            codes: vec![UNSEEN; values.len()],
            unseen: values.len(),
        });
        if known.unseen > 0 {
            known.meet(keys, &mut encode)?;
        }
        let codes = &self.known.insert(known).codes;
        if keys.null_count() == 0 {
            return Ok(keys.values().iter().map(|k| codes[*k as usize]).collect());
        }
        let null = match self.null {
            Some(null) => null,
            None => encode(&new_null_array(data_type, 1))?[0],
        };
        self.null = Some(null);
        Ok(keys.iter().map(|k| k.map_or(null, |k| codes[k as usize])).collect())
    }
}

impl Known {
    /// Encodes those values that occur in a row for the first time.
    fn meet(&mut self, keys: &UInt32Array, encode: &mut impl FnMut(&ArrayRef) -> Result<Vec<u32>>) -> Result<()> {
        let unseen = |key: &u32| self.codes[*key as usize] == UNSEEN;
        let mut fresh: Vec<u32> = keys.iter().flatten().filter(unseen).collect();
        if fresh.is_empty() {
            return Ok(());
        }
        fresh.sort_unstable();
        fresh.dedup();
        self.unseen -= fresh.len();
        let fresh = UInt32Array::from(fresh);
        let codes = encode(&take(&self.values, &fresh, None)?)?;
        for (key, code) in fresh.values().iter().zip(codes) {
            self.codes[*key as usize] = code;
        }
        Ok(())
    }
}

/// Returns true if two arrays share their memory.
fn same_buffers(a: &ArrayRef, b: &ArrayRef) -> bool {
    a.len() == b.len() && (Arc::ptr_eq(a, b) || a.to_data().ptr_eq(&b.to_data()))
}
