//! Converts the values of arrays to their canonical form.

use crate::base::error::Result;
use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, make_array};
use arrow::datatypes::{DataType, Date64Type, Float16Type, Float32Type, Float64Type};
use std::sync::Arc;

/// A 16-bit floating-point number.
type Half = <Float16Type as ArrowPrimitiveType>::Native;

/// The number of milliseconds in a day.
const DAY: i64 = 86_400_000;

/// Returns true if equal values of this type, or equal values within them, can have different bit
/// patterns.
pub(crate) fn has_spellings(data_type: &DataType) -> bool {
    use DataType::{
        Date64, Dictionary, FixedSizeList, LargeList, LargeListView, List, ListView, Map, RunEndEncoded, Struct, Union,
    };
    match data_type {
        Date64 => true,
        Dictionary(_, values) => has_spellings(values),
        List(item)
        | LargeList(item)
        | ListView(item)
        | LargeListView(item)
        | FixedSizeList(item, _)
        | Map(item, _)
        | RunEndEncoded(_, item) => has_spellings(item.data_type()),
        Struct(fields) => fields.iter().any(|field| has_spellings(field.data_type())),
        Union(fields, _) => fields.iter().any(|(_, field)| has_spellings(field.data_type())),
        other => other.is_floating(),
    }
}

/// Returns the array with each value in its canonical form: there is only one NaN, zero has no
/// sign, and dates have no time of day. Values in dictionaries, runs, lists and structs are
/// converted, too.
pub(crate) fn one_spelling(array: &ArrayRef) -> Result<ArrayRef> {
    Ok(respelled(array)?.unwrap_or_else(|| Arc::clone(array)))
}

/// Returns the array with each value in its canonical form; `None` if this changes nothing.
fn respelled(array: &ArrayRef) -> Result<Option<ArrayRef>> {
    Ok(match array.data_type() {
        DataType::Float16 => {
            let bits = |v: Half| {
                if v.is_nan() {
                    Half::NAN
                } else {
                    Half::from_f32(v.to_f32() + 0.0)
                }
            };
            values::<Float16Type>(array, bits, |a, b| a.to_bits() == b.to_bits())
        }
        DataType::Float32 => {
            let one = |v: f32| if v.is_nan() { f32::NAN } else { v + 0.0 };
            values::<Float32Type>(array, one, |a, b| a.to_bits() == b.to_bits())
        }
        DataType::Float64 => {
            let one = |v: f64| if v.is_nan() { f64::NAN } else { v + 0.0 };
            values::<Float64Type>(array, one, |a, b| a.to_bits() == b.to_bits())
        }
        DataType::Date64 => {
            // A value is not changed if the type cannot represent the beginning of its day.
            let one = |v: i64| v.checked_sub(v.rem_euclid(DAY)).unwrap_or(v);
            values::<Date64Type>(array, one, |a, b| a == b)
        }
        other if has_spellings(other) => within(array)?,
        _ => None,
    })
}

fn values<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    one: impl Fn(T::Native) -> T::Native,
    is_same: impl Fn(T::Native, T::Native) -> bool,
) -> Option<ArrayRef> {
    let values = array.as_primitive::<T>();
    let is_one = values.values().iter().all(|v| is_same(*v, one(*v)));
    (!is_one).then(|| Arc::new(values.unary::<_, T>(one)) as ArrayRef)
}

/// Converts the arrays within an array to their canonical form: the values of a dictionary, the
/// items of lists, the columns of structs. Returns `None` if none of them changes.
fn within(array: &ArrayRef) -> Result<Option<ArrayRef>> {
    let data = array.to_data();
    let mut is_same = true;
    let parts = data.child_data().iter().map(|part| {
        let part = make_array(part.clone());
        let respelled = respelled(&part)?;
        is_same &= respelled.is_none();
        Ok(respelled.unwrap_or(part).to_data())
    });
    let parts = parts.collect::<Result<Vec<_>>>()?;
    Ok(match is_same {
        true => None,
        false => Some(make_array(data.into_builder().child_data(parts).build()?)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{
        Date64Array, DictionaryArray, FixedSizeListArray, Float16Array, Float32Array, Float64Array, Int32Array,
        Int64Array, LargeListArray, ListArray, ListViewArray, MapArray, RunArray, StringArray, StructArray, UnionArray,
    };
    use arrow::buffer::{OffsetBuffer, ScalarBuffer};
    use arrow::datatypes::{Field, Fields, Int32Type, UnionFields};

    /// A NaN whose sign and payload differ from [`f64::NAN`] and a negative zero, followed by the
    /// canonical form of each.
    const OTHER: [f64; 4] = [f64::from_bits(0xfff8_0000_0000_0007), -0.0, f64::NAN, 0.0];
    /// The canonical form of each number in [`OTHER`].
    const ONE: [f64; 4] = [f64::NAN, 0.0, f64::NAN, 0.0];

    fn floats(values: &[f64]) -> ArrayRef {
        Arc::new(Float64Array::from(values.to_vec()))
    }

    fn item() -> Arc<Field> {
        Arc::new(Field::new_list_field(DataType::Float64, true))
    }

    /// Returns the given numbers in every type of array that can contain numbers.
    fn arrays(values: &[f64]) -> Vec<ArrayRef> {
        let offsets = OffsetBuffer::from_lengths([1, 3]);
        let entries = |values: &[f64]| {
            let keys: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "a", "b"]));
            let fields = Fields::from(vec![
                Field::new("keys", DataType::Utf8, false),
                Field::new("values", DataType::Float64, true),
            ]);
            StructArray::new(fields, vec![keys, floats(values)], None)
        };
        let map = entries(values);
        let entry = Arc::new(Field::new("entries", map.data_type().clone(), false));
        let union = UnionFields::from_fields(vec![Field::new("x", DataType::Float64, true)]);
        let coded = DictionaryArray::<Int32Type>::new(Int32Array::from(vec![Some(3), None, Some(0)]), floats(values));
        vec![
            floats(values),
            floats(values).slice(1, 2),
            Arc::new(coded),
            Arc::new(RunArray::<Int32Type>::try_new(&Int32Array::from(vec![1, 2, 4, 9]), &floats(values)).unwrap()),
            Arc::new(ListArray::new(item(), offsets.clone(), floats(values), None)),
            Arc::new(LargeListArray::new(
                item(),
                OffsetBuffer::from_lengths([1, 3]),
                floats(values),
                None,
            )),
            Arc::new(ListViewArray::new(
                item(),
                ScalarBuffer::from(vec![2, 0]),
                ScalarBuffer::from(vec![2, 3]),
                floats(values),
                None,
            )),
            Arc::new(FixedSizeListArray::new(
                item(),
                2,
                floats(values),
                Some(vec![true, false].into()),
            )),
            Arc::new(entries(values)),
            Arc::new(entries(values).slice(1, 3)),
            Arc::new(MapArray::new(entry, offsets, map, None, false)),
            Arc::new(UnionArray::try_new(union, vec![0; 4].into(), None, vec![floats(values)]).unwrap()),
        ]
    }

    fn bits(array: &ArrayRef) -> Vec<u64> {
        let parts = array.to_data();
        match array.as_primitive_opt::<Float64Type>() {
            Some(floats) => floats.values().iter().map(|v| v.to_bits()).collect(),
            None => parts
                .child_data()
                .iter()
                .flat_map(|part| bits(&make_array(part.clone())))
                .collect(),
        }
    }

    #[test]
    fn a_float_has_one_spelling_wherever_it_stands() {
        for (other, one) in arrays(&OTHER).iter().zip(arrays(&ONE)) {
            let name = other.data_type().to_string();
            assert!(has_spellings(other.data_type()), "{name}");
            assert_ne!(bits(other), bits(&one), "{name}");
            let respelled = one_spelling(other).unwrap();
            assert_eq!(bits(&respelled), bits(&one), "{name}");
            assert_eq!(
                (respelled.data_type(), respelled.len()),
                (one.data_type(), one.len()),
                "{name}"
            );
            assert_eq!(respelled.logical_nulls(), one.logical_nulls(), "{name}");
            // An array that is already in canonical form is not copied.
            assert!(Arc::ptr_eq(&one_spelling(&one).unwrap(), &one), "{name}");
        }
    }

    #[test]
    fn small_floats_and_dates_have_one_spelling() {
        let one: ArrayRef = Arc::new(Float32Array::from(vec![Some(f32::NAN), None, Some(0.0)]));
        let other: ArrayRef = Arc::new(Float32Array::from(vec![Some(-f32::NAN), None, Some(-0.0)]));
        let bits = |a: &ArrayRef| a.to_data().buffers()[0].as_slice().to_vec();
        assert_eq!(bits(&one_spelling(&other).unwrap()), bits(&one));
        let half = |values: [u16; 3]| {
            Arc::new(
                values
                    .into_iter()
                    .map(|v| Some(Half::from_bits(v)))
                    .collect::<Float16Array>(),
            ) as ArrayRef
        };
        let other = half([0xfe01, 0x8000, 0x3c01]);
        assert_eq!(
            bits(&one_spelling(&other).unwrap()),
            bits(&half([Half::NAN.to_bits(), 0, 0x3c01]))
        );
        let times: ArrayRef = Arc::new(Date64Array::from(vec![
            Some(1),
            Some(-1),
            Some(DAY),
            None,
            Some(i64::MIN),
        ]));
        let days: ArrayRef = Arc::new(Date64Array::from(vec![
            Some(0),
            Some(-DAY),
            Some(DAY),
            None,
            Some(i64::MIN),
        ]));
        assert_eq!(&one_spelling(&times).unwrap(), &days);
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        assert!(!has_spellings(numbers.data_type()) && Arc::ptr_eq(&one_spelling(&numbers).unwrap(), &numbers));
    }
}
