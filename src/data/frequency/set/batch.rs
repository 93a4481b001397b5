//! Frequency sets as record batches, the form in which DataFusion's plans process them.

use super::detail::Detail;
use super::frequency_set::FrequencySet;
use crate::base::error::{Error, Result};
use crate::method::lattice::Node;
use arrow::array::{ArrayRef, AsArray, ListArray, PrimitiveArray, StructArray, UInt32Array, UInt64Array};
use arrow::buffer::{OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{ArrowPrimitiveType, DataType, Field, Fields, UInt32Type, UInt64Type};
use arrow::record_batch::RecordBatch;
use std::sync::Arc;

/// The name of the column with the number of rows of each class.
pub(super) const ROWS: &str = "rows";
/// The name of the column with the number of rows in the population, if there is one.
pub(super) const POPULATION: &str = "population";

/// Returns the name of the column with the word at index `word` of the keys.
pub(super) fn word_column(word: usize) -> String {
    format!("key_{word}")
}

/// Returns the name of the column with the detail at index `detail`.
pub(super) fn detail_column(detail: usize) -> String {
    format!("detail_{detail}")
}

/// Returns the type of the column of a detail: for each class, a list of codes with their counts.
pub(super) fn detail_type() -> DataType {
    DataType::List(entry())
}

fn entry() -> Arc<Field> {
    Arc::new(Field::new("entry", DataType::Struct(entry_fields()), false))
}

fn entry_fields() -> Fields {
    Fields::from(vec![
        Field::new("code", DataType::UInt32, false),
        Field::new("count", DataType::UInt64, false),
    ])
}

/// Returns a column with the content of a detail. The codes and counts of class `i` are at the
/// indices `offsets[i]..offsets[i + 1]`.
pub(super) fn detail_array(
    offsets: OffsetBuffer<i32>,
    codes: ScalarBuffer<u32>,
    counts: ScalarBuffer<u64>,
) -> Result<ListArray> {
    let codes: ArrayRef = Arc::new(UInt32Array::new(codes, None));
    let counts: ArrayRef = Arc::new(UInt64Array::new(counts, None));
    let entries = StructArray::try_new(entry_fields(), vec![codes, counts], None)?;
    Ok(ListArray::try_new(entry(), offsets, Arc::new(entries), None)?)
}

/// Converts a column that [`detail_array`] created back to a detail.
pub(super) fn to_detail(array: &ArrayRef) -> Result<Detail> {
    let list = array.as_list_opt::<i32>().ok_or_else(another_type)?;
    let entries = list.values().as_struct_opt().ok_or_else(another_type)?;
    Ok(Detail::new(
        list.offsets().clone(),
        values::<UInt32Type>(entries.column(0))?,
        values::<UInt64Type>(entries.column(1))?,
    ))
}

impl FrequencySet {
    /// Converts this set to one batch. The columns are the words of the keys, the number of rows,
    /// the number of rows in the population (if there is one), and the details. Only keys with
    /// several words are copied.
    pub(super) fn to_batch(&self) -> Result<RecordBatch> {
        let counts = |counts: &ScalarBuffer<u64>| Arc::new(UInt64Array::new(counts.clone(), None)) as ArrayRef;
        let mut columns = vec![];
        for word in 0..self.words() {
            let words = match self.words() {
                1 => self.keys().clone(),
                words => self.keys().iter().skip(word).step_by(words).copied().collect(),
            };
            columns.push((word_column(word), counts(&words)));
        }
        columns.push((ROWS.into(), counts(self.counts())));
        columns.extend(
            self.populations()
                .map(|population| (POPULATION.into(), counts(population))),
        );
        for (i, detail) in self.details().iter().enumerate() {
            let (offsets, codes, counts) = detail.buffers();
            let array = detail_array(offsets.clone(), codes.clone(), counts.clone())?;
            columns.push((detail_column(i), Arc::new(array)));
        }
        Ok(RecordBatch::try_from_iter(columns)?)
    }

    /// Converts a batch to the set of `node`. The batch must have the same columns as the batch of
    /// `like`.
    pub(super) fn from_batch(node: &Node, batch: &RecordBatch, like: &Self) -> Result<Self> {
        let column = |name: &str| {
            let lacking = || Error::internal(format!("a frequency set lacks its column {name}"));
            batch.column_by_name(name).ok_or_else(lacking)
        };
        let words: Vec<_> = (0..like.words())
            .map(|word| values::<UInt64Type>(column(&word_column(word))?))
            .collect::<Result<_>>()?;
        let keys: ScalarBuffer<u64> = match words.as_slice() {
            [only] => only.clone(),
            words => (0..batch.num_rows())
                .flat_map(|class| words.iter().map(move |w| w[class]))
                .collect(),
        };
        let population = like.populations().map(|_| values::<UInt64Type>(column(POPULATION)?));
        let details = like.cardinalities().iter().enumerate();
        let details = details.map(|(i, cardinality)| Ok((to_detail(column(&detail_column(i))?)?, *cardinality)));
        let counts = values::<UInt64Type>(column(ROWS)?)?;
        Ok(Self::new(node.clone(), like.words(), keys, counts)
            .with_populations(population.transpose()?)
            .with_details(details.collect::<Result<_>>()?))
    }
}

fn values<T: ArrowPrimitiveType>(array: &ArrayRef) -> Result<ScalarBuffer<T::Native>> {
    let array: &PrimitiveArray<T> = array.as_primitive_opt().ok_or_else(another_type)?;
    Ok(array.values().clone())
}

fn another_type() -> Error {
    Error::internal("a column of a frequency set has another type")
}
