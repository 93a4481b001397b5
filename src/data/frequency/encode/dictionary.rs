//! Encodes values as codes: one dictionary per column, shared by the partitions of a scan.

use super::interner::{Interner, ranked};
use super::last_dictionary::LastDictionary;
use crate::base::error::{Error, Result};
use arrow::array::{Array, ArrayRef, AsArray, UInt32Array};
use arrow::compute::{cast, take};
use arrow::datatypes::{DataType, Float64Type};
use parking_lot::Mutex;
use std::sync::Arc;

/// The codes of one column. Codes are assigned in order of first appearance, which depends on the
/// scheduling of threads. [`Shared::finish`] returns the values in ascending order, which does not
/// depend on the threads.
#[derive(Debug)]
pub(crate) struct Shared {
    column: String,
    data_type: DataType,
    /// The values seen so far; empty after [`Shared::finish`], until a row is encoded again.
    values: Mutex<Interner>,
    /// The result of the last call of [`Shared::finish`].
    finished: Mutex<Option<Dictionary>>,
}

/// The values of a column in ascending order with NULL last. `ranks` contains the rank of the value
/// for each code of the scan.
#[derive(Debug, Clone)]
pub(crate) struct Dictionary {
    pub(crate) values: ArrayRef,
    pub(crate) ranks: Vec<u32>,
}

impl Shared {
    /// Creates the dictionary of column `column`, whose batches have type `data_type`. Fails for a
    /// nested type.
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
            values: Mutex::new(Interner::new(data_type)?),
            finished: Mutex::default(),
        })
    }

    /// Returns the memory of the dictionary in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let (values, finished) = (self.values.lock(), self.finished.lock());
        values.bytes() + finished.as_ref().map_or(0, Dictionary::bytes)
    }

    /// Returns the codes of values that are new to a partition. Fails with `ErrorKind::Data` if the
    /// column has too many values for 32-bit codes.
    fn intern(&self, values: &ArrayRef) -> Result<Vec<u32>> {
        let mut interner = self.values.lock();
        if interner.len() == 0
            && let Some(dictionary) = self.finished.lock().as_ref()
        {
            interner.restore(&dictionary.in_order_of_codes()?)?;
        }
        let codes = interner.intern(values)?;
        match u32::try_from(interner.len()) {
            Ok(_) => Ok(codes),
            Err(_) => Err(Error::data(format!(
                "column {} has more than 2^32 distinct values",
                self.column
            ))),
        }
    }

    /// Returns the values seen so far in ascending order, and the rank of the value of each code.
    pub(crate) fn finish(&self) -> Result<Dictionary> {
        let (mut values, mut finished) = (self.values.lock(), self.finished.lock());
        // Values are only added, so their number shows whether there are new ones.
        let is_finished = |d: &&Dictionary| [0, d.ranks.len()].contains(&values.len());
        if let Some(dictionary) = finished.as_ref().filter(is_finished) {
            return Ok(dictionary.clone());
        }
        let empty = Interner::new(&self.data_type)?;
        let seen = std::mem::replace(&mut *values, empty);
        let dictionary = Dictionary::of(seen.into_values()?)?;
        *finished = Some(dictionary.clone());
        Ok(dictionary)
    }

    /// Returns the values like [`Shared::finish`], and removes them. This takes less memory if no
    /// other row will be encoded.
    pub(crate) fn take(&self) -> Result<Dictionary> {
        let dictionary = self.finish()?;
        (*self.values.lock(), *self.finished.lock()) = (Interner::new(&self.data_type)?, None);
        Ok(dictionary)
    }
}

impl Dictionary {
    /// Sorts values, which are given in the order of their codes.
    fn of(seen: ArrayRef) -> Result<Self> {
        let (sorted, ranks) = ranked(std::slice::from_ref(&seen))?;
        // The result has one column, because the input has one column.
        let values = sorted.into_iter().next().unwrap_or(seen);
        Ok(Self { values, ranks })
    }

    /// Returns the values in the order of their codes.
    fn in_order_of_codes(&self) -> Result<ArrayRef> {
        Ok(take(&self.values, &UInt32Array::from(self.ranks.clone()), None)?)
    }

    /// Returns the memory of the dictionary in bytes.
    fn bytes(&self) -> usize {
        self.values.get_array_memory_size() + 4 * self.ranks.capacity()
    }
}

/// A partition's view of a [`Shared`] dictionary. Values that the partition has seen before are
/// encoded without a lock. After an error, the view must not be used again.
#[derive(Debug)]
pub(crate) struct Local {
    shared: Arc<Shared>,
    reject_not_finite: bool,
    last: LastDictionary,
    /// `None` once nearly all rows had a new value. Every row is then looked up in the shared
    /// dictionary alone, which takes less time and memory than a lookup here first.
    met: Option<Met>,
}

/// The number of rows after which a partition decides whether it keeps the values that it has seen.
const MANY: usize = 1 << 15;

/// The values that a partition has seen, with their codes.
#[derive(Debug)]
struct Met {
    values: Interner,
    /// The shared code of each value, by the value's code in this partition.
    codes: Vec<u32>,
    /// True if every code of this partition equals the shared code, as in a scan of one partition.
    /// Then no code has to be translated.
    is_shared: bool,
    numbers: Vec<usize>,
    /// The number of encoded rows.
    rows: usize,
}

impl Local {
    /// Creates a view of each of these dictionaries.
    pub(crate) fn views<'a>(
        shared: impl IntoIterator<Item = &'a Arc<Shared>>,
        reject_not_finite: bool,
    ) -> Result<Vec<Self>> {
        let views = shared.into_iter().map(|s| Self::new(Arc::clone(s), reject_not_finite));
        views.collect()
    }

    /// Creates a view of `shared`. If `reject_not_finite` is true, encoding NaN or infinity fails,
    /// because no hierarchy can contain these values.
    pub(crate) fn new(shared: Arc<Shared>, reject_not_finite: bool) -> Result<Self> {
        Ok(Self {
            met: Some(Met {
                values: Interner::new(&shared.data_type)?,
                codes: vec![],
                is_shared: true,
                numbers: vec![],
                rows: 0,
            }),
            shared,
            reject_not_finite,
            last: LastDictionary::default(),
        })
    }

    /// Returns the memory of the view in bytes.
    pub(crate) fn memory(&self) -> usize {
        let bytes = |met: &Met| met.values.bytes() + met.codes.capacity() * 4;
        self.met.as_ref().map_or(0, bytes)
    }

    /// Returns the code of every row of `array`.
    pub(crate) fn encode(&mut self, array: &ArrayRef) -> Result<Vec<u32>> {
        let Self {
            shared,
            reject_not_finite,
            last,
            met,
        } = self;
        let encode = |values: &ArrayRef| {
            if *reject_not_finite {
                require_finite(&shared.column, values)?;
            }
            shared.intern(values)
        };
        last.encode(array, |values| {
            let Some(own) = met else {
                return encode(values);
            };
            let codes = own.encode(values, encode)?;
            if own.is_nearly_all_new() {
                *met = None;
            }
            Ok(codes)
        })
    }
}

impl Met {
    /// Returns the code of every row of `array`, which is not a dictionary array. If there are new
    /// values, calls `meet` once with all of them.
    fn encode(&mut self, array: &ArrayRef, meet: impl FnOnce(&ArrayRef) -> Result<Vec<u32>>) -> Result<Vec<u32>> {
        let known = self.codes.len();
        if self.values.len() != known {
            return Err(Error::internal("a column is encoded further after an error"));
        }
        self.values.number(array, &mut self.numbers)?;
        self.rows += array.len();
        let fresh = self.values.len() - known;
        if fresh > 0 {
            let mut rows = vec![0; fresh];
            for (row, number) in self.numbers.iter().enumerate() {
                // Any row with the new value can be passed to `meet`.
                if let Some(fresh) = number.checked_sub(known) {
                    rows[fresh] = row as u32;
                }
            }
            let codes = meet(&take(array, &UInt32Array::from(rows), None)?)?;
            self.is_shared &= codes.iter().zip(known..).all(|(code, number)| *code as usize == number);
            self.codes.extend(codes);
        }
        Ok(match self.is_shared {
            true => self.numbers.iter().map(|number| *number as u32).collect(),
            false => self.numbers.iter().map(|number| self.codes[*number]).collect(),
        })
    }

    /// Returns true if there were many rows, and at most one in 16 had a value that was known.
    fn is_nearly_all_new(&self) -> bool {
        self.rows >= MANY && self.codes.len() >= self.rows / 16 * 15
    }
}

/// Fails with `ErrorKind::Data` if `values` of `column` contain NaN or infinity, which no hierarchy
/// can contain.
pub(super) fn require_finite(column: &str, values: &ArrayRef) -> Result<()> {
    let data_type = match values.data_type() {
        DataType::Dictionary(_, data_type) => data_type.as_ref(),
        other => other,
    };
    if !data_type.is_floating() {
        return Ok(());
    }
    let wide = cast(values, &DataType::Float64)?;
    match wide.as_primitive::<Float64Type>().iter().flatten().all(f64::is_finite) {
        true => Ok(()),
        false => Err(Error::data(format!(
            "column {column} contains NaN or infinity, which a hierarchy cannot have as values; filter or replace \
             them in a query, or give the column another role"
        ))),
    }
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
        let mut one = Local::new(Arc::clone(&shared), true).unwrap();
        let mut two = Local::new(Arc::clone(&shared), true).unwrap();
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
    fn a_partition_whose_values_are_all_new_agrees_with_the_others() {
        let rows = |from: i64| -> ArrayRef { Arc::new((from..from + MANY as i64).collect::<Int64Array>()) };
        let shared = Arc::new(Shared::new("id", &DataType::Int64).unwrap());
        let views = [Arc::clone(&shared), Arc::clone(&shared)];
        let [mut one, mut two] = views.map(|shared| Local::new(shared, true).unwrap());
        let (first, second) = (one.encode(&rows(0)).unwrap(), one.encode(&rows(10)).unwrap());
        assert_eq!(one.memory(), 0, "the first rows had only new values");
        assert_eq!(first[10..], second[..MANY - 10]);
        let again = two.encode(&rows(10).slice(0, 5)).unwrap();
        assert_eq!((again.as_slice(), two.memory() > 0), (&second[..5], true));
        assert_eq!(shared.finish().unwrap().values.len(), MANY + 10);
    }

    #[test]
    fn a_finished_dictionary_is_sorted_again_after_new_values() {
        let shared = Arc::new(Shared::new("c", &DataType::Int64).unwrap());
        let mut local = Local::new(Arc::clone(&shared), true).unwrap();
        let mut ranks = |values: Vec<i64>| {
            local.encode(&(Arc::new(Int64Array::from(values)) as ArrayRef)).unwrap();
            assert_eq!(shared.finish().unwrap().ranks, shared.finish().unwrap().ranks);
            shared.finish().unwrap().ranks
        };
        assert_eq!(ranks(vec![5, 3]), [1, 0]);
        assert_eq!(ranks(vec![5, 4]), [2, 0, 1]);
        assert_eq!(shared.take().unwrap().ranks, [2, 0, 1]);
        assert_eq!(shared.finish().unwrap().ranks.len(), 0);
    }

    #[test]
    fn what_has_no_place_is_refused() {
        let array: ArrayRef = Arc::new(Float64Array::from(vec![f64::NAN]));
        let shared = Arc::new(Shared::new("bmi", array.data_type()).unwrap());
        let e = Local::new(shared, true).unwrap().encode(&array).unwrap_err();
        assert!(e.to_string().contains("column bmi contains NaN"), "{e}");
        let nested = DataType::new_list(DataType::Int32, true);
        assert!(Shared::new("tags", &nested).unwrap_err().to_string().contains("nested"));
    }
}
