//! Sets of items: every item in a list is replaced by its label, and the labels in a list form a
//! set.
//!
//! The labels in a released list are distinct and in byte order, so that neither the order of the
//! items nor the number of equal items is released. NULL items are omitted. A NULL list and the
//! list of a suppressed row are released as NULL. An empty list is released as an empty list.

use crate::base::error::{Error, Result};
use crate::data::frequency::Encoder;
use arrow::array::{Array, ArrayRef, AsArray, ListArray, StringArray, UInt32Array};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::{cast, take};
use arrow::datatypes::{DataType, Field, FieldRef};
use std::sync::Arc;

/// The label of each item in a column.
#[derive(Debug)]
pub struct ItemRecoding {
    column: String,
    /// The distinct items. The index of an item is its code.
    items: ArrayRef,
    /// The labels, in ascending byte order.
    labels: StringArray,
    /// For each code, the index of the item's label; `None` if the item is removed.
    label_of: Vec<Option<u32>>,
}

impl ItemRecoding {
    /// Creates the recoding of a column with these `items`. `labels` must be in ascending byte
    /// order. `label_of` contains the index of each item's label, or `None` if the item is removed.
    pub fn new(column: &str, items: ArrayRef, labels: StringArray, label_of: Vec<Option<u32>>) -> Self {
        Self {
            column: column.into(),
            items,
            labels,
            label_of,
        }
    }

    /// Returns the name of the column.
    pub fn column(&self) -> &str {
        &self.column
    }

    /// Returns the type of released lists.
    pub fn data_type() -> DataType {
        DataType::List(Self::field())
    }

    fn field() -> FieldRef {
        Arc::new(Field::new_list_field(DataType::Utf8, true))
    }

    /// Creates an encoder for the items, for one stream.
    pub(super) fn encoder(&self) -> Result<Encoder> {
        Encoder::new(&self.column, &self.items)
    }

    /// Returns the released lists for these rows.
    pub(super) fn recode(&self, encoder: &mut Encoder, lists: &ArrayRef, suppressed: &[bool]) -> Result<ArrayRef> {
        let Items { items, counts, .. } = Items::of(lists, |row| !suppressed[row])?;
        let codes = encoder.encode(&items)?;
        let (mut labels, mut ends, mut start) = (vec![], vec![0], 0);
        for count in &counts {
            let own = &codes[start..start + count.unwrap_or(0)];
            start += own.len();
            let mut set: Vec<u32> = own.iter().filter_map(|code| self.label_of[*code as usize]).collect();
            set.sort_unstable();
            set.dedup();
            labels.extend(set);
            ends.push(labels.len());
        }
        let offsets = ends.into_iter().map(i32::try_from).collect::<Result<Vec<_>, _>>();
        let offsets = offsets.map_err(|_| Error::data("a batch of rows has more than 2^31 items"))?;
        let nulls: NullBuffer = counts.iter().map(Option::is_some).collect();
        let values = take(&self.labels, &UInt32Array::from(labels), None)?;
        let lists = ListArray::try_new(Self::field(), OffsetBuffer::new(offsets.into()), values, Some(nulls))?;
        Ok(Arc::new(lists))
    }
}

/// The items of several lists, one list after another.
pub(crate) struct Items {
    /// The items that are not NULL.
    pub(crate) items: ArrayRef,
    /// For each row, the number of items in the list that are not NULL; `None` if the list is NULL
    /// or was not read.
    pub(crate) counts: Vec<Option<usize>>,
    /// The number of items that are NULL.
    pub(crate) nulls: u64,
}

impl Items {
    /// Reads the lists in the rows for which `is_read` returns true.
    pub(crate) fn of(lists: &ArrayRef, is_read: impl Fn(usize) -> bool) -> Result<Self> {
        let item = item_type(lists.data_type())?;
        let lists = match lists.data_type() {
            DataType::List(_) => Arc::clone(lists),
            _ => cast(lists, &DataType::List(Arc::new(Field::new_list_field(item, true))))?,
        };
        let lists = lists.as_list::<i32>();
        let nulls = lists.values().logical_nulls();
        let is_item = |i: &usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(*i));
        let (mut places, mut counts, mut all) = (vec![], vec![], 0);
        for (row, ends) in lists.offsets().windows(2).enumerate() {
            counts.push((lists.is_valid(row) && is_read(row)).then(|| {
                let before = places.len();
                all += (ends[1] - ends[0]) as usize;
                places.extend((ends[0] as usize..ends[1] as usize).filter(is_item).map(|i| i as u32));
                places.len() - before
            }));
        }
        Ok(Self {
            nulls: (all - places.len()) as u64,
            items: take(lists.values(), &UInt32Array::from(places), None)?,
            counts,
        })
    }
}

/// Returns the type of the items in a list of this type. Fails if the type is not a list type.
pub(crate) fn item_type(lists: &DataType) -> Result<DataType> {
    use DataType::{FixedSizeList, LargeList, LargeListView, List, ListView};
    match lists {
        List(item) | LargeList(item) | FixedSizeList(item, _) | ListView(item) | LargeListView(item) => {
            Ok(item.data_type().clone())
        }
        other => Err(Error::internal(format!("a column of sets of the type {other}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{FixedSizeListArray, Int64Array, LargeListArray};
    use arrow::datatypes::Int64Type;

    /// Returns the released lists for these rows. The recoding maps the items 1 and 2 to `a` and
    /// the item 3 to `b`, and removes the item 4.
    fn recoded(lists: &ArrayRef, suppressed: &[bool]) -> Vec<Option<Vec<String>>> {
        let items: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3, 4]));
        let labels = StringArray::from(vec!["a", "b"]);
        let recoding = ItemRecoding::new("x", items, labels, vec![Some(0), Some(0), Some(1), None]);
        let released = recoding
            .recode(&mut recoding.encoder().unwrap(), lists, suppressed)
            .unwrap();
        assert_eq!(released.data_type(), &ItemRecoding::data_type());
        let texts = |set: ArrayRef| set.as_string::<i32>().iter().map(|t| t.unwrap().to_string()).collect();
        released.as_list::<i32>().iter().map(|set| set.map(texts)).collect()
    }

    #[test]
    fn lists_become_sets_of_labels() {
        let rows = vec![
            Some(vec![Some(3), Some(2), Some(1), Some(3)]),
            None,
            Some(vec![]),
            Some(vec![Some(4), None]),
            // This row is suppressed, and contains an item that occurs in no released row.
            Some(vec![Some(9)]),
        ];
        let set = |labels: &[&str]| Some(labels.iter().map(ToString::to_string).collect::<Vec<_>>());
        let expected = [set(&["a", "b"]), None, set(&[]), set(&[]), None];
        let suppressed = [false, false, false, false, true];
        let small = ListArray::from_iter_primitive::<Int64Type, _, _>(rows.clone());
        let large = LargeListArray::from_iter_primitive::<Int64Type, _, _>(rows);
        for lists in [Arc::new(small) as ArrayRef, Arc::new(large)] {
            assert_eq!(recoded(&lists, &suppressed), expected);
            assert_eq!(recoded(&lists.slice(1, 3), &[false; 3]), expected[1..4]);
        }
        let fixed = vec![Some(vec![Some(3), Some(1)]), None, Some(vec![None, Some(4)])];
        let fixed: ArrayRef = Arc::new(FixedSizeListArray::from_iter_primitive::<Int64Type, _, _>(fixed, 2));
        assert_eq!(recoded(&fixed, &[false; 3]), [set(&["a", "b"]), None, set(&[])]);
    }
}
