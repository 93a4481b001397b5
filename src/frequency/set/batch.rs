//! Frequency sets as record batches: the form in which DataFusion's plans exchange them. No buffer is copied.

use super::set::{Detail, FrequencySet};
use crate::error::{Error, Result};
use crate::lattice::Node;
use arrow::array::{
    ArrayRef, AsArray, FixedSizeListArray, ListArray, PrimitiveArray, StructArray, UInt32Array, UInt64Array,
};
use arrow::buffer::ScalarBuffer;
use arrow::datatypes::{ArrowPrimitiveType, DataType, Field, Fields, Schema, SchemaRef, UInt32Type, UInt64Type};
use arrow::record_batch::RecordBatch;
use std::sync::Arc;

/// The schema of frequency sets of `words` words a key: key, rows, population where there is one, and one list of
/// (code, count) per detail.
pub(crate) fn schema(words: usize, population: bool, details: usize) -> SchemaRef {
    let word = Arc::new(Field::new("word", DataType::UInt64, false));
    let key = match words {
        1 => DataType::UInt64,
        _ => DataType::FixedSizeList(word, words as i32),
    };
    let mut fields = vec![
        Field::new("key", key, false),
        Field::new("rows", DataType::UInt64, false),
    ];
    if population {
        fields.push(Field::new("population", DataType::UInt64, false));
    }
    for i in 0..details {
        fields.push(Field::new(format!("detail_{i}"), DataType::List(entry()), false));
    }
    Arc::new(Schema::new(fields))
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

impl FrequencySet {
    /// This set as one batch.
    pub(crate) fn to_batch(&self) -> Result<RecordBatch> {
        let words = self.words();
        let key: ArrayRef = match words {
            1 => Arc::new(UInt64Array::new(self.keys().clone(), None)),
            _ => {
                let values: ArrayRef = Arc::new(UInt64Array::new(self.keys().clone(), None));
                let word = Arc::new(Field::new("word", DataType::UInt64, false));
                Arc::new(FixedSizeListArray::try_new(word, words as i32, values, None)?)
            }
        };
        let mut columns = vec![key, Arc::new(UInt64Array::new(self.counts().clone(), None)) as ArrayRef];
        if let Some(population) = self.populations() {
            columns.push(Arc::new(UInt64Array::new(population.clone(), None)));
        }
        for detail in self.details() {
            let (offsets, codes, counts) = detail.buffers();
            let codes: ArrayRef = Arc::new(UInt32Array::new(codes.clone(), None));
            let counts: ArrayRef = Arc::new(UInt64Array::new(counts.clone(), None));
            let entries = StructArray::try_new(entry_fields(), vec![codes, counts], None)?;
            columns.push(Arc::new(ListArray::try_new(
                entry(),
                offsets.clone(),
                Arc::new(entries),
                None,
            )?));
        }
        let schema = schema(words, self.populations().is_some(), self.details().len());
        Ok(RecordBatch::try_new(schema, columns)?)
    }

    /// The set of `node` in a batch of [`FrequencySet::to_batch`]; `cardinalities` are the details' numbers of codes.
    pub(crate) fn from_batch(node: &Node, batch: &RecordBatch, cardinalities: &[usize]) -> Result<Self> {
        let mut columns = batch.columns().iter();
        let mut next = || {
            columns
                .next()
                .ok_or_else(|| Error::internal("a frequency set lacks a column"))
        };
        let key = next()?;
        let (words, keys) = match key.as_fixed_size_list_opt() {
            Some(list) => (list.value_length() as usize, values::<UInt64Type>(list.values())?),
            None => (1, values::<UInt64Type>(key)?),
        };
        let counts = values::<UInt64Type>(next()?)?;
        let has_population = batch.num_columns() > 2 + cardinalities.len();
        let populations = if has_population {
            Some(values::<UInt64Type>(next()?)?)
        } else {
            None
        };
        let mut details = vec![];
        for _ in cardinalities {
            let list = next()?
                .as_list_opt::<i32>()
                .ok_or_else(|| Error::internal("a detail is not a list"))?;
            let entries = list.values().as_struct();
            details.push(Detail::new(
                list.offsets().clone(),
                values::<UInt32Type>(entries.column(0))?,
                values::<UInt64Type>(entries.column(1))?,
            ));
        }
        Ok(Self::from_parts(
            node.clone(),
            words,
            keys,
            counts,
            populations,
            details,
            cardinalities.to_vec(),
        ))
    }
}

fn values<T: ArrowPrimitiveType>(array: &ArrayRef) -> Result<ScalarBuffer<T::Native>> {
    let array: &PrimitiveArray<T> = array
        .as_primitive_opt()
        .ok_or_else(|| Error::internal("a column of a frequency set has another type"))?;
    Ok(array.values().clone())
}
