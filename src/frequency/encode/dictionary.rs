//! Values to codes: one dictionary a column, shared by the partitions of a scan.

use crate::error::{Error, Result};
use arrow::array::{Array, ArrayRef, AsArray, Float64Array, UInt32Array, new_empty_array};
use arrow::compute::{SortOptions, cast, concat, sort_to_indices, take};
use arrow::datatypes::{DataType, Float16Type, Float32Type, Float64Type, UInt32Type};
use arrow::row::{RowConverter, SortField};
use hashbrown::HashMap;
use parking_lot::Mutex;
use std::sync::Arc;

/// The codes of one column, given in order of first appearance, which depends on the threads; [`Shared::finish`]
/// answers the values in ascending order, which does not.
#[derive(Debug)]
pub(crate) struct Shared {
    column: String,
    data_type: DataType,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    codes: HashMap<Key, u32>,
    chunks: Vec<ArrayRef>,
    bytes: usize,
}

/// What tells two values of one column apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Null,
    Integer(i64),
    Bytes(Box<[u8]>),
}

/// The values of a column, ascending and NULL last, and for each code of the scan the rank of its value.
#[derive(Debug, Clone)]
pub(crate) struct Dictionary {
    pub(crate) values: ArrayRef,
    pub(crate) ranks: Vec<u32>,
}

impl Shared {
    /// A dictionary for column `column`, whose batches have type `data_type`.
    pub(crate) fn new(column: &str, data_type: &DataType) -> Result<Self> {
        let data_type = match data_type {
            DataType::Dictionary(_, values) => values.as_ref(),
            other => other,
        };
        if data_type.is_nested() {
            return Err(Error::usage(format!(
                "column {column} is nested ({data_type}); only flat columns can be quasi-identifiers, sensitive \
                 attributes or entities: select its parts in a query first"
            )));
        }
        Ok(Self {
            column: column.into(),
            data_type: data_type.clone(),
            state: Mutex::default(),
        })
    }

    /// Memory held, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.state.lock().bytes
    }

    /// The codes of values that a partition has not seen: `rows` of `values`, with their keys.
    fn intern(&self, values: &ArrayRef, rows: &[u32], keys: Vec<Key>) -> Result<Vec<u32>> {
        let mut state = self.state.lock();
        let mut fresh = vec![];
        let mut codes = Vec::with_capacity(keys.len());
        for (row, key) in rows.iter().zip(keys) {
            let next = u32::try_from(state.codes.len())
                .map_err(|_| Error::data(format!("column {} has more than 2^32 distinct values", self.column)))?;
            let held = if let Key::Bytes(bytes) = &key { bytes.len() } else { 0 };
            codes.push(*state.codes.entry(key).or_insert(next));
            if state.codes.len() as u64 > u64::from(next) {
                fresh.push(*row);
                state.bytes += 48 + 2 * held;
            }
        }
        if !fresh.is_empty() {
            let chunk = take(values, &UInt32Array::from(fresh), None)?;
            // Values of a dictionary may come as another type of string than the table's.
            state.chunks.push(cast(&chunk, &self.data_type)?);
        }
        Ok(codes)
    }

    /// The values that were seen, in ascending order.
    pub(crate) fn finish(&self) -> Result<Dictionary> {
        let state = self.state.lock();
        let chunks: Vec<&dyn Array> = state.chunks.iter().map(AsRef::as_ref).collect();
        let seen = if chunks.is_empty() {
            new_empty_array(&self.data_type)
        } else {
            concat(&chunks)?
        };
        let order = sort_to_indices(
            &seen,
            Some(SortOptions {
                descending: false,
                nulls_first: false,
            }),
            None,
        )?;
        let mut ranks = vec![0; seen.len()];
        for (rank, code) in order.values().iter().enumerate() {
            ranks[*code as usize] = rank as u32;
        }
        Ok(Dictionary {
            values: take(&seen, &order, None)?,
            ranks,
        })
    }
}

/// The values of a dictionary array, and the codes of those that a row has had. A value that no row has is none of the
/// column's: a filter leaves it in the dictionary.
#[derive(Debug)]
struct Last {
    values: ArrayRef,
    codes: Vec<u32>,
    unseen: usize,
}

/// In place of the code of a value that no row has had.
const UNSEEN: u32 = u32::MAX;

/// A partition's view of a [`Shared`] dictionary: what it has met before is answered without a lock.
#[derive(Debug)]
pub(crate) struct Local {
    shared: Arc<Shared>,
    reject_not_finite: bool,
    null: Option<u32>,
    integers: HashMap<i64, u32>,
    bytes: HashMap<Box<[u8]>, u32>,
    /// The last dictionary: batches of one row group share it.
    last: Option<Last>,
    converter: Option<RowConverter>,
}

impl Local {
    /// A view of `shared`. NaN and infinity are errors when `reject_not_finite`: they have no place in a hierarchy.
    pub(crate) fn new(shared: Arc<Shared>, reject_not_finite: bool) -> Self {
        Self {
            shared,
            reject_not_finite,
            null: None,
            integers: HashMap::new(),
            bytes: HashMap::new(),
            last: None,
            converter: None,
        }
    }

    /// Memory held, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.integers.capacity() * 24 + self.bytes.capacity() * 48
    }

    /// The code of every row of `array`.
    pub(crate) fn encode(&mut self, array: &ArrayRef) -> Result<Vec<u32>> {
        let DataType::Dictionary(_, _) = array.data_type() else {
            return self.encode_flat(array);
        };
        let dictionary = array.as_any_dictionary();
        let values = dictionary.values();
        let keys = cast(
            &arrow::array::make_array(dictionary.keys().to_data()),
            &DataType::UInt32,
        )?;
        let keys = keys.as_primitive::<UInt32Type>();
        let last = self.last.take().filter(|last| same_buffers(&last.values, values));
        let mut last = last.unwrap_or_else(|| Last {
            values: Arc::clone(values),
            codes: vec![UNSEEN; values.len()],
            unseen: values.len(),
        });
        if last.unseen > 0 {
            self.meet(&mut last, keys)?;
        }
        let null = if array.null_count() > 0 {
            self.null_code(array)?
        } else {
            0
        };
        let codes = &self.last.insert(last).codes;
        if array.null_count() == 0 {
            return Ok(keys.values().iter().map(|k| codes[*k as usize]).collect());
        }
        Ok(keys.iter().map(|k| k.map_or(null, |k| codes[k as usize])).collect())
    }

    /// Gives codes to the values of a dictionary that rows have for the first time.
    fn meet(&mut self, last: &mut Last, keys: &UInt32Array) -> Result<()> {
        let mut fresh: Vec<u32> = keys
            .iter()
            .flatten()
            .filter(|k| last.codes[*k as usize] == UNSEEN)
            .collect();
        if fresh.is_empty() {
            return Ok(());
        }
        fresh.sort_unstable();
        fresh.dedup();
        last.unseen -= fresh.len();
        let fresh = UInt32Array::from(fresh);
        let codes = self.encode_flat(&take(&last.values, &fresh, None)?)?;
        for (key, code) in fresh.values().iter().zip(codes) {
            last.codes[*key as usize] = code;
        }
        Ok(())
    }

    fn null_code(&mut self, array: &ArrayRef) -> Result<u32> {
        if let Some(code) = self.null {
            return Ok(code);
        }
        let null = arrow::array::new_null_array(&self.shared.data_type, array.len().min(1));
        let code = self.shared.intern(&null, &[0], vec![Key::Null])?[0];
        self.null = Some(code);
        Ok(code)
    }

    fn encode_flat(&mut self, array: &ArrayRef) -> Result<Vec<u32>> {
        match array.data_type() {
            DataType::Utf8 => self.encode_bytes(array, array.as_string::<i32>().iter().map(|v| v.map(str::as_bytes))),
            DataType::LargeUtf8 => {
                self.encode_bytes(array, array.as_string::<i64>().iter().map(|v| v.map(str::as_bytes)))
            }
            DataType::Utf8View => self.encode_bytes(array, array.as_string_view().iter().map(|v| v.map(str::as_bytes))),
            DataType::Binary => self.encode_bytes(array, array.as_binary::<i32>().iter()),
            DataType::Float16 => {
                let bits = array.as_primitive::<Float16Type>().iter().map(|v| v.map(f64::from));
                self.encode_floats(array, bits)
            }
            DataType::Float32 => self.encode_floats(
                array,
                array.as_primitive::<Float32Type>().iter().map(|v| v.map(f64::from)),
            ),
            DataType::Float64 => self.encode_floats(array, array.as_primitive::<Float64Type>().iter()),
            DataType::UInt64 | DataType::Null => self.encode_rows(array),
            data_type if data_type.is_integer() || data_type == &DataType::Boolean || is_time(data_type) => {
                let integers = cast(array, &DataType::Int64)?;
                let integers = integers.as_primitive::<arrow::datatypes::Int64Type>();
                self.encode_integers(array, integers.iter())
            }
            _ => self.encode_rows(array),
        }
    }

    fn encode_floats(&mut self, array: &ArrayRef, values: impl Iterator<Item = Option<f64>>) -> Result<Vec<u32>> {
        // One zero, whichever comes first.
        let values: Vec<Option<f64>> = values.map(|v| v.map(|v| v + 0.0)).collect();
        let array = one_zero(array)?;
        if self.reject_not_finite && values.iter().flatten().any(|v| !v.is_finite()) {
            return Err(Error::data(format!(
                "column {} holds NaN or infinity, which no hierarchy can place; filter or replace them in a query, or \
                 give the column another role",
                self.shared.column
            )));
        }
        self.encode_integers(&array, values.into_iter().map(|v| v.map(|v| v.to_bits() as i64)))
    }

    fn encode_integers(&mut self, array: &ArrayRef, values: impl Iterator<Item = Option<i64>>) -> Result<Vec<u32>> {
        self.encode_with(
            array,
            values,
            |local, value| local.integers.get(value).copied(),
            |value| Key::Integer(*value),
            |local, value, code| {
                local.integers.insert(value, code);
            },
        )
    }

    fn encode_bytes<'a>(
        &mut self,
        array: &ArrayRef,
        values: impl Iterator<Item = Option<&'a [u8]>>,
    ) -> Result<Vec<u32>> {
        self.encode_with(
            array,
            values,
            |local, value| local.bytes.get(*value).copied(),
            |value| Key::Bytes(Box::from(*value)),
            |local, value, code| {
                local.bytes.insert(Box::from(value), code);
            },
        )
    }

    /// Any other flat type, by its comparable row form.
    fn encode_rows(&mut self, array: &ArrayRef) -> Result<Vec<u32>> {
        let converter = match self.converter.take() {
            Some(converter) => converter,
            None => RowConverter::new(vec![SortField::new(array.data_type().clone())])?,
        };
        let rows = converter.convert_columns(std::slice::from_ref(array))?;
        self.converter = Some(converter);
        let values = (0..array.len()).map(|i| (!array.is_null(i)).then(|| rows.row(i).data()));
        self.encode_bytes(array, values)
    }

    /// Looks every value up, and asks the shared dictionary once for all that were not known.
    fn encode_with<V: Copy>(
        &mut self,
        array: &ArrayRef,
        values: impl Iterator<Item = Option<V>>,
        find: impl Fn(&Self, &V) -> Option<u32>,
        key: impl Fn(&V) -> Key,
        learn: impl Fn(&mut Self, V, u32),
    ) -> Result<Vec<u32>> {
        let mut codes = Vec::with_capacity(array.len());
        let mut missed: Vec<(u32, V)> = vec![];
        for (row, value) in values.enumerate() {
            let code = match &value {
                Some(value) => find(self, value),
                None => Some(self.null_code(array)?),
            };
            if let (None, Some(value)) = (code, value) {
                missed.push((row as u32, value));
            }
            codes.push(code.unwrap_or(0));
        }
        if missed.is_empty() {
            return Ok(codes);
        }
        let rows: Vec<u32> = missed.iter().map(|(row, _)| *row).collect();
        let keys = missed.iter().map(|(_, value)| key(value)).collect();
        for ((row, value), code) in missed.iter().zip(self.shared.intern(array, &rows, keys)?) {
            codes[*row as usize] = code;
            learn(self, *value, code);
        }
        Ok(codes)
    }
}

/// The same values with one zero: the two zeros of floating point are one value of a quasi-identifier, as they are to SQL.
pub(crate) fn one_zero(array: &ArrayRef) -> Result<ArrayRef> {
    if !array.data_type().is_floating() {
        return Ok(Arc::clone(array));
    }
    let wide = cast(array, &DataType::Float64)?;
    let wide = wide.as_primitive::<Float64Type>();
    if !wide.values().iter().any(|v| *v == 0.0 && v.is_sign_negative()) {
        return Ok(Arc::clone(array));
    }
    let positive: Float64Array = wide.unary(|v| v + 0.0);
    Ok(cast(&positive, array.data_type())?)
}

fn is_time(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Date32
            | DataType::Date64
            | DataType::Timestamp(..)
            | DataType::Time32(_)
            | DataType::Time64(_)
            | DataType::Duration(_)
    )
}

/// Whether two arrays are the same memory.
fn same_buffers(a: &ArrayRef, b: &ArrayRef) -> bool {
    a.len() == b.len() && (Arc::ptr_eq(a, b) || a.to_data().ptr_eq(&b.to_data()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{
        BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float64Array, Int64Array, StringArray,
        StringViewArray, UInt64Array,
    };
    use arrow::datatypes::Int32Type;

    fn encode(array: ArrayRef) -> (Vec<u32>, ArrayRef) {
        let shared = Arc::new(Shared::new("c", array.data_type()).unwrap());
        let mut one = Local::new(Arc::clone(&shared), true);
        let mut two = Local::new(Arc::clone(&shared), true);
        let codes = one.encode(&array).unwrap();
        assert_eq!(codes, two.encode(&array).unwrap(), "partitions agree");
        assert_eq!(codes, one.encode(&array).unwrap(), "and so do batches");
        let dictionary = shared.finish().unwrap();
        (
            codes.iter().map(|c| dictionary.ranks[*c as usize]).collect(),
            dictionary.values,
        )
    }

    #[test]
    fn every_flat_type_is_ranked_with_null_last() {
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(StringArray::from(vec![Some("b"), None, Some("a"), Some("b")])),
            Arc::new(StringViewArray::from(vec![Some("b"), None, Some("a"), Some("b")])),
            Arc::new(Int64Array::from(vec![Some(5), None, Some(-5), Some(5)])),
            Arc::new(UInt64Array::from(vec![Some(u64::MAX), None, Some(1), Some(u64::MAX)])),
            Arc::new(Float64Array::from(vec![Some(0.5), None, Some(-0.5), Some(0.5)])),
            Arc::new(Date32Array::from(vec![Some(9), None, Some(-9), Some(9)])),
            Arc::new(BooleanArray::from(vec![Some(true), None, Some(false), Some(true)])),
            Arc::new(Decimal128Array::from(vec![Some(15), None, Some(-15), Some(15)])),
            Arc::new(
                [Some("b"), None, Some("a"), Some("b")]
                    .into_iter()
                    .collect::<DictionaryArray<Int32Type>>(),
            ),
        ];
        for array in arrays {
            let name = array.data_type().to_string();
            let (ranks, values) = encode(array);
            assert_eq!(ranks, [1, 2, 0, 1], "{name}");
            assert_eq!(
                (values.len(), values.null_count(), values.is_null(2)),
                (3, 1, true),
                "{name}"
            );
        }
    }

    #[test]
    fn a_value_that_no_row_has_is_none_of_the_column() {
        let values: ArrayRef = Arc::new(StringArray::from(vec!["rare", "b", "a"]));
        let keys = arrow::array::Int32Array::from(vec![Some(2), None, Some(1)]);
        let array: ArrayRef = Arc::new(DictionaryArray::try_new(keys, values).unwrap());
        let (ranks, values) = encode(array);
        assert_eq!(ranks, [0, 2, 1]);
        assert_eq!(values.len(), 3, "a, b and NULL");
    }

    #[test]
    fn what_has_no_place_is_refused() {
        let array: ArrayRef = Arc::new(Float64Array::from(vec![f64::NAN]));
        let shared = Arc::new(Shared::new("bmi", array.data_type()).unwrap());
        let e = Local::new(shared, true).encode(&array).unwrap_err();
        assert!(e.to_string().contains("column bmi holds NaN"), "{e}");
        let nested = DataType::new_list(DataType::Int32, true);
        assert!(Shared::new("tags", &nested).unwrap_err().to_string().contains("nested"));
    }
}
