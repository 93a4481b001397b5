//! The operator that restores quasi-identifiers from the order key.
//!
//! The order key of a row determines the labels of all its quasi-identifiers. Quasi-identifiers
//! make up most of a row's data, so rows are sorted without them, and this operator restores them
//! after the sort.

use super::order_key::ORDER_PREFIX;
use super::{ColumnTreatment, RecodingPlan};
use crate::base::error::{Error, Result};
use crate::base::operator::{InputPartitions, Operator, OperatorExec, Rows};
use arrow::array::{Array, ArrayRef, AsArray, DictionaryArray, Int32Array, UInt32Array};
use arrow::compute::{cast, take};
use arrow::datatypes::{DataType, Int32Type, SchemaRef, UInt64Type};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use futures::StreamExt;
use std::fmt;
use std::sync::Arc;

/// Adds to rows the missing columns for which [`RecodingPlan::is_in_order_key`] is true.
#[derive(Debug)]
pub struct Decode(pub(super) Arc<RecodingPlan>);

/// [`Decode`] as an operator.
pub type DecodeExec = OperatorExec<Decode>;

impl DecodeExec {
    /// Adds the columns of `schema` that `input` lacks. They are restored from the order key.
    pub fn over_ordered(input: Arc<dyn ExecutionPlan>, recoding: Arc<RecodingPlan>, schema: SchemaRef) -> Self {
        Self::over(input, Decode(recoding), schema)
    }
}

impl fmt::Display for Decode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "order key of {} columns", self.0.quasi_identifiers.len())
    }
}

impl Operator for Decode {
    const NAME: &'static str = "DecodeExec";
    const INPUT: InputPartitions = InputPartitions::Ordered;

    fn run(&self, input: SendableRecordBatchStream, schema: SchemaRef, _: &Arc<TaskContext>) -> Result<Rows> {
        let recoding = Arc::clone(&self.0);
        Ok(input.map(move |batch| Ok(decode(&recoding, &schema, &batch?)?)).boxed())
    }

    fn estimate(&self, input: Option<usize>) -> Option<usize> {
        input
    }
}

fn decode(recoding: &RecodingPlan, schema: &SchemaRef, batch: &RecordBatch) -> Result<RecordBatch> {
    let words = recoding.order_words();
    // The order key starts with its most significant word, and the packed layout with its least
    // significant word.
    let key = (0..words).rev().map(|word| {
        let name = format!("{ORDER_PREFIX}{word}");
        let column = batch.column_by_name(&name);
        column.ok_or_else(|| Error::internal(format!("sorted rows lack {name}")))
    });
    let key = key.collect::<Result<Vec<_>>>()?;
    let key: Vec<&[u64]> = key
        .iter()
        .map(|c| c.as_primitive::<UInt64Type>().values().as_ref())
        .collect();
    let mut row_key = vec![0u64; words];
    let mut columns: Vec<ArrayRef> = vec![];
    for (position, field) in schema.fields().iter().enumerate() {
        if let Some(column) = batch.column_by_name(field.name()) {
            columns.push(Arc::clone(column));
            continue;
        }
        let Some(ColumnTreatment::Generalize(i)) = recoding.columns.get(position).map(|c| &c.treatment) else {
            return Err(Error::internal(format!("sorted rows lack {}", field.name())));
        };
        let place = recoding.quasi_identifiers.len() - 1 - i;
        let indices = (0..batch.num_rows()).map(|row| {
            row_key
                .iter_mut()
                .zip(&key)
                .for_each(|(word, column)| *word = column[row]);
            recoding.order.code(&row_key, place)
        });
        columns.push(spell(&recoding.labels[*i].values, indices, field.data_type())?);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(
        Arc::clone(schema),
        columns,
        &options,
    )?)
}

/// Returns the values at `indices`, as a dictionary if `data_type` is a dictionary type, and
/// otherwise as plain values.
fn spell(values: &ArrayRef, indices: impl Iterator<Item = u32>, data_type: &DataType) -> Result<ArrayRef> {
    if !matches!(data_type, DataType::Dictionary(..)) {
        return Ok(cast(
            &take(values, &UInt32Array::from_iter_values(indices), None)?,
            data_type,
        )?);
    }
    let key = |index: u32| values.is_valid(index as usize).then_some(index as i32);
    let keys: Int32Array = indices.map(key).collect();
    Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(
        keys,
        Arc::clone(values),
    )?))
}
