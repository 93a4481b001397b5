//! Encodes the values of a column as dense codes. Values are equal if DataFusion's grouping treats
//! them as equal.

use super::last_dictionary::LastDictionary;
use crate::base::error::{Error, Result};
use arrow::array::{Array, ArrayRef, UInt32Array, new_empty_array};
use arrow::compute::{SortColumn, SortOptions, cast, lexsort_to_indices, take};
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::logical_expr::EmitTo;
use datafusion::physical_plan::aggregates::group_values::{GroupValues, new_group_values};
use datafusion::physical_plan::aggregates::order::GroupOrdering;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

/// Assigns codes to the values of one column: 0, 1, 2, ... in order of first appearance. NULL is a
/// value, and positive and negative zero are the same value.
pub(crate) struct Interner {
    /// The lock is never contended. It makes the interner `Sync`, because `GroupValues` is `Send`
    /// only.
    groups: Mutex<Box<dyn GroupValues>>,
    data_type: DataType,
    last: LastDictionary,
    numbers: Vec<usize>,
}

impl Interner {
    /// Creates an interner for a column of this type, or of dictionaries with values of this type.
    pub(crate) fn new(data_type: &DataType) -> Result<Self> {
        let data_type = match data_type {
            DataType::Dictionary(_, values) => values.as_ref(),
            other => other,
        };
        let schema = Schema::new(vec![Field::new("values", grouped_as(data_type).clone(), true)]);
        let groups = new_group_values(Arc::new(schema), &GroupOrdering::None)?;
        Ok(Self {
            groups: Mutex::new(groups),
            data_type: data_type.clone(),
            last: LastDictionary::default(),
            numbers: vec![],
        })
    }

    /// Returns the code of every row of `column`.
    pub(crate) fn intern(&mut self, column: &ArrayRef) -> Result<Vec<u32>> {
        let mut last = std::mem::take(&mut self.last);
        let mut numbers = std::mem::take(&mut self.numbers);
        let codes = last.encode(column, |values| {
            self.number(values, &mut numbers)?;
            Ok(numbers.iter().map(|n| *n as u32).collect())
        });
        (self.last, self.numbers) = (last, numbers);
        codes
    }

    /// Replaces the content of `numbers` with the code of every row of `column`, which is not a
    /// dictionary array.
    pub(super) fn number(&mut self, column: &ArrayRef, numbers: &mut Vec<usize>) -> Result<()> {
        let data_type = grouped_as(&self.data_type);
        let groups = self.groups.get_mut();
        match column.data_type() == data_type {
            true => groups.intern(std::slice::from_ref(column), numbers)?,
            false => groups.intern(&[cast(column, data_type)?], numbers)?,
        }
        Ok(())
    }

    /// Returns the number of distinct values.
    pub(crate) fn len(&self) -> usize {
        self.groups.lock().len()
    }

    /// Returns the memory of the interner in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.groups.lock().size()
    }

    /// Returns the values in the order of their codes.
    pub(crate) fn into_values(self) -> Result<ArrayRef> {
        let mut groups = self.groups.into_inner();
        let values = match groups.is_empty() {
            true => None,
            false => groups.emit(EmitTo::All)?.into_iter().next(),
        };
        match values {
            Some(values) => Ok(cast(&values, &self.data_type)?),
            None => Ok(new_empty_array(&self.data_type)),
        }
    }

    /// Adds values to an empty interner, so that their codes are 0, 1, 2, ... Fails if two of the
    /// values are equal.
    pub(super) fn restore(&mut self, values: &ArrayRef) -> Result<()> {
        let mut codes = vec![];
        self.number(values, &mut codes)?;
        match codes.iter().copied().eq(0..values.len()) {
            true => Ok(()),
            false => Err(Error::internal("the values of a column were numbered in another order")),
        }
    }
}

impl fmt::Debug for Interner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interner")
            .field("data_type", &self.data_type)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

/// Returns the type as which values are grouped. DataFusion's grouping panics if the 32-bit offsets
/// of a type overflow at 2 GiB. With the types that have 64-bit offsets, only the cast back to the
/// column's type can fail, and this cast returns an error.
fn grouped_as(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Utf8 => &DataType::LargeUtf8,
        DataType::Binary => &DataType::LargeBinary,
        other => other,
    }
}

/// Returns the rows of `columns` in ascending order with NULL last, and the rank of each input row.
pub(crate) fn ranked(columns: &[ArrayRef]) -> Result<(Vec<ArrayRef>, Vec<u32>)> {
    let options = SortOptions {
        descending: false,
        nulls_first: false,
    };
    let sorted = columns.iter().map(|values| SortColumn {
        values: Arc::clone(values),
        options: Some(options),
    });
    let order: UInt32Array = lexsort_to_indices(&sorted.collect::<Vec<_>>(), None)?;
    let mut ranks = vec![0; order.len()];
    for (rank, number) in order.values().iter().enumerate() {
        ranks[*number as usize] = rank as u32;
    }
    let sorted = columns.iter().map(|values| take(values, &order, None));
    Ok((sorted.collect::<Result<_, _>>()?, ranks))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{
        AsArray, BinaryArray, DictionaryArray, FixedSizeBinaryArray, Float64Array, Int32Array, NullArray, StringArray,
        StringViewArray,
    };
    use arrow::compute::interleave;
    use arrow::datatypes::{Float64Type, Int32Type};
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// The index of the array form for dictionary arrays.
    const DICTIONARY: usize = 6;

    /// Returns these numbers as an array in the form with index `form`.
    fn column(form: usize, rows: &[Option<u8>]) -> ArrayRef {
        let text = |v: u8| format!("{v} is told apart from {}", v ^ 1);
        match form {
            0 => Arc::new(rows.iter().map(|r| r.map(text)).collect::<StringArray>()),
            1 => Arc::new(rows.iter().map(|r| r.map(text)).collect::<StringViewArray>()),
            2 => Arc::new(rows.iter().map(|r| r.map(i32::from)).collect::<Int32Array>()),
            3 => Arc::new(rows.iter().map(|r| r.map(f64::from)).collect::<Float64Array>()),
            4 => Arc::new(rows.iter().map(|r| r.map(|v| vec![v])).collect::<BinaryArray>()),
            5 => {
                let values = rows.iter().map(|r| r.map(|v| [v, 1, 2]));
                Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(values, 3).unwrap())
            }
            _ => {
                let values: ArrayRef = Arc::new(StringArray::from_iter_values((0..12u8).rev().map(text)));
                let keys: Int32Array = rows.iter().map(|r| r.map(|v| 11 - i32::from(v))).collect();
                Arc::new(DictionaryArray::<Int32Type>::try_new(keys, values).unwrap())
            }
        }
    }

    /// Returns the values of an interner, which are taken from it and restored.
    fn restored(interner: &mut Interner) -> ArrayRef {
        let empty = Interner::new(&interner.data_type).unwrap();
        let values = std::mem::replace(interner, empty).into_values().unwrap();
        interner.restore(&values).unwrap();
        values
    }

    proptest! {
        #[test]
        fn values_are_numbered_like_a_map(
            rows in prop::collection::vec(prop::option::of(0u8..12), 1..200),
            form in 0usize..=DICTIONARY,
            batch in 1usize..60,
        ) {
            let mut interner = Interner::new(column(form, &rows).data_type()).unwrap();
            let mut map: HashMap<Option<u8>, u32> = HashMap::new();
            for rows in rows.chunks(batch) {
                for (row, code) in rows.iter().zip(interner.intern(&column(form, rows)).unwrap()) {
                    // The new values of a dictionary get their codes in the order of the
                    // dictionary.
                    let next = if form < DICTIONARY { map.len() as u32 } else { code };
                    prop_assert_eq!(*map.entry(*row).or_insert(next), code);
                }
                prop_assert_eq!(interner.len(), map.len());
            }
            let whole = cast(&column(form, &rows), &interner.data_type).unwrap();
            let of_row = |values: &ArrayRef, interner: &mut Interner| {
                let codes = interner.intern(&column(form, &rows)).unwrap();
                let codes: Vec<(usize, usize)> = codes.iter().map(|c| (0, *c as usize)).collect();
                interleave(&[values.as_ref()], &codes).unwrap()
            };
            // The values equal the values of the rows, and restoring them does not change the
            // codes.
            for _ in 0..2 {
                let values = restored(&mut interner);
                prop_assert_eq!(&of_row(&values, &mut interner), &whole);
            }
            prop_assert_eq!(&restored(&mut interner), &interner.into_values().unwrap());
        }
    }

    #[test]
    fn zeros_are_one_value_and_so_are_nulls() {
        let zeros: ArrayRef = Arc::new(Float64Array::from(vec![-0.0, 1.0, 0.0]));
        let mut interner = Interner::new(&DataType::Float64).unwrap();
        assert_eq!(interner.intern(&zeros).unwrap(), [0, 1, 0]);
        let values = interner.into_values().unwrap();
        assert!(values.as_primitive::<Float64Type>().value(0).is_sign_positive());
        let mut interner = Interner::new(&DataType::Null).unwrap();
        let nulls: ArrayRef = Arc::new(NullArray::new(3));
        assert_eq!(interner.intern(&nulls).unwrap(), [0, 0, 0]);
        assert_eq!(restored(&mut interner).len(), 1);
        assert!(restored(&mut Interner::new(&DataType::Utf8).unwrap()).is_empty());
    }

    #[test]
    fn ranks_ascend_with_null_last() {
        let column: ArrayRef = Arc::new(StringArray::from(vec![Some("b"), None, Some("a")]));
        let (sorted, ranks) = ranked(&[column]).unwrap();
        assert_eq!(ranks, [1, 2, 0]);
        assert_eq!(
            sorted[0].as_string::<i32>(),
            &StringArray::from(vec![Some("a"), Some("b"), None])
        );
    }
}
