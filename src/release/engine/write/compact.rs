//! Copies rows without hidden bytes of other rows.
//!
//! An Arrow array can contain more than its rows: a dictionary has labels that no row uses, a slice
//! or a view refers to the buffers of other rows, and a NULL can cover the value that was removed.
//! A reader of this array, or of a file written from it, can read those bytes too. [`compact`]
//! copies only the values of the rows.

use crate::base::error::Result;
use arrow::array::{
    Array, ArrayData, ArrayRef, ArrowNativeTypeOp, AsArray, BooleanArray, DictionaryArray, MutableArrayData,
    make_array, new_null_array,
};
use arrow::buffer::BooleanBuffer;
use arrow::compute::filter;
use arrow::datatypes::{ArrowDictionaryKeyType, ArrowNativeType, DataType};
use arrow::downcast_dictionary_array;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use std::sync::Arc;

/// Copies the rows into separate buffers, which contain no byte of another row.
pub(super) fn compact(rows: &RecordBatch) -> Result<RecordBatch> {
    let columns = rows.columns().iter().map(|column| own(column.as_ref()));
    let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
    Ok(RecordBatch::try_new_with_options(
        rows.schema(),
        columns.collect::<Result<_>>()?,
        &options,
    )?)
}

fn own(array: &dyn Array) -> Result<ArrayRef> {
    let data = copied(&array.to_data())?;
    match data.data_type() {
        DataType::Utf8View => return Ok(Arc::new(make_array(data).as_string_view().gc())),
        DataType::BinaryView => return Ok(Arc::new(make_array(data).as_binary_view().gc())),
        DataType::Dictionary(..) => return with_used_values(&make_array(data)),
        _ if data.child_data().is_empty() => return Ok(make_array(data)),
        _ => {}
    }
    // The copy contains no children of other rows. The remaining children are copied in the same
    // way.
    let children = data.child_data().iter();
    let children = children.map(|child| Ok(own(make_array(child.clone()).as_ref())?.to_data()));
    let children = children.collect::<Result<Vec<_>>>()?;
    Ok(make_array(data.into_builder().child_data(children).build()?))
}

/// Copies the rows of an array, without the values that NULLs cover.
fn copied(data: &ArrayData) -> Result<ArrayData> {
    let mut copy = MutableArrayData::new(vec![data], data.null_count() > 0, data.len());
    match data.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => copy.try_extend(0, 0, data.len())?,
        Some(nulls) => {
            let mut done = 0;
            for (start, end) in nulls.valid_slices() {
                copy.try_extend_nulls(start - done)?;
                copy.try_extend(0, start, end)?;
                done = end;
            }
            copy.try_extend_nulls(data.len() - done)?;
        }
    }
    Ok(copy.freeze())
}

fn with_used_values(array: &ArrayRef) -> Result<ArrayRef> {
    let array = array.as_ref();
    downcast_dictionary_array!(
        array => Ok(Arc::new(used(array)?)),
        _ => Ok(array.slice(0, array.len()))
    )
}

/// Returns the dictionary with only the values that occur in a row.
fn used<K: ArrowDictionaryKeyType>(array: &DictionaryArray<K>) -> Result<DictionaryArray<K>> {
    let is_used = occurring(array);
    if is_used.count_set_bits() == is_used.len() && !is_used.is_empty() {
        return Ok(DictionaryArray::try_new(
            array.keys().clone(),
            own(array.values().as_ref())?,
        )?);
    }
    let mut places = vec![K::Native::ZERO; is_used.len()];
    for (place, value) in is_used.set_indices().enumerate() {
        // There are no more positions than before, so the number fits the key type.
        places[value] = K::Native::from_usize(place).unwrap_or(K::Native::ZERO);
    }
    let place = |key: K::Native| places.get(key.as_usize()).copied().unwrap_or(K::Native::ZERO);
    let keys = array.keys().unary(place);
    let values = filter(array.values(), &BooleanArray::new(is_used, None))?;
    // Arrow's comparisons assume that a dictionary has a value, even if every row is NULL.
    let values = match values.is_empty() && !array.is_empty() {
        true => new_null_array(values.data_type(), 1),
        false => values,
    };
    Ok(DictionaryArray::try_new(keys, own(values.as_ref())?)?)
}

/// Returns for each value of the dictionary whether it occurs in a row. A flag of one byte per value
/// takes less time than a bit, because a flag is written without reading its neighbours.
fn occurring<K: ArrowDictionaryKeyType>(array: &DictionaryArray<K>) -> BooleanBuffer {
    let (keys, unused) = (array.keys().values(), array.values().len());
    // The last flag is that of all rows whose key is NULL.
    let mut flags = vec![false; unused + 1];
    match array.keys().nulls().filter(|nulls| nulls.null_count() > 0) {
        None => keys.iter().for_each(|key| flags[key.as_usize()] = true),
        Some(nulls) => {
            let rows = keys.iter().zip(nulls);
            rows.for_each(|(key, is_known)| flags[if is_known { key.as_usize() } else { unused }] = true);
        }
    }
    flags.pop();
    BooleanBuffer::from(flags)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{
        BinaryViewArray, FixedSizeListArray, Float64Array, Int32Array, ListArray, StringArray, StringViewArray,
        StructArray, UInt8Array,
    };
    use arrow::compute::nullif;
    use arrow::datatypes::{Field, Int32Type, UInt8Type};

    const SECRET: &str = "a rare value that nobody else has";

    /// Returns all bytes in the buffers of an array.
    fn bytes(data: &ArrayData) -> Vec<u8> {
        let mut all: Vec<u8> = data.buffers().iter().flat_map(|b| b.as_slice().to_vec()).collect();
        all.extend(data.child_data().iter().flat_map(bytes));
        all
    }

    fn holds(array: &dyn Array, needle: &[u8]) -> bool {
        memchr::memmem::find(&bytes(&array.to_data()), needle).is_some()
    }

    /// Checks that `array`, whose last row is left out or NULL, contains the needle before
    /// compaction and not after it.
    fn is_cleaned(array: ArrayRef, needle: &[u8]) {
        let taken_away = BooleanArray::from_iter((0..array.len()).map(|i| Some(i + 1 == array.len())));
        let shown = [array.slice(0, array.len() - 1), nullif(&array, &taken_away).unwrap()];
        for rows in shown {
            assert!(holds(&array, needle), "{:?}", array.data_type());
            let cleaned = own(rows.as_ref()).unwrap();
            assert_eq!(&cleaned, &rows);
            assert_eq!(cleaned.data_type(), rows.data_type());
            assert!(!holds(&cleaned, needle), "{:?}", rows.data_type());
        }
    }

    #[test]
    fn no_buffer_holds_what_no_row_shows() {
        let text = SECRET.as_bytes();
        let strings = || {
            StringArray::from(vec![
                Some("a"),
                None,
                Some("b and much more than fits a view"),
                Some(SECRET),
            ])
        };
        is_cleaned(Arc::new(strings()), text);
        is_cleaned(Arc::new(StringViewArray::from_iter(strings().iter())), text);
        is_cleaned(
            Arc::new(BinaryViewArray::from_iter(
                strings().iter().map(|s| s.map(str::as_bytes)),
            )),
            text,
        );
        is_cleaned(
            Arc::new(Float64Array::from(vec![1.0, -0.0, 1234.5678])),
            &1234.5678f64.to_ne_bytes(),
        );
        let keys = Int32Array::from(vec![Some(2), None, Some(0), Some(3)]);
        let dictionary: DictionaryArray<Int32Type> = DictionaryArray::try_new(keys, Arc::new(strings())).unwrap();
        is_cleaned(Arc::new(dictionary.clone()), text);
        let small: DictionaryArray<UInt8Type> =
            DictionaryArray::try_new(UInt8Array::from(vec![0, 0, 2, 3]), Arc::new(strings())).unwrap();
        is_cleaned(Arc::new(small), text);

        let field = |data_type: &DataType| Arc::new(Field::new("item", data_type.clone(), true));
        for inner in [Arc::new(strings()) as ArrayRef, Arc::new(dictionary)] {
            let fields = StructArray::try_from(vec![("item", Arc::clone(&inner))]).unwrap();
            is_cleaned(Arc::new(fields.clone()), text);
            for inner in [inner, Arc::new(fields)] {
                let offsets = arrow::buffer::OffsetBuffer::from_lengths([1, 0, 2, 1]);
                let list = ListArray::new(field(inner.data_type()), offsets, Arc::clone(&inner), None);
                is_cleaned(Arc::new(list), text);
                let fixed = FixedSizeListArray::new(field(inner.data_type()), 2, inner, None);
                is_cleaned(Arc::new(fixed), text);
            }
        }
    }

    #[test]
    fn rows_without_values_stay_rows() {
        let nothing: DictionaryArray<Int32Type> = vec![None::<&str>, None].into_iter().collect();
        assert_eq!(own(&nothing).unwrap().len(), 2);
        let empty: ArrayRef = Arc::new(StringArray::from(vec!["x"]).slice(0, 0));
        assert_eq!(own(empty.as_ref()).unwrap().len(), 0);
    }
}
