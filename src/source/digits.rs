//! Checking decimals that have more digits than their type. A damaged file can contain such values,
//! and so can a sum that exceeded its type. Parquet's writer would cut off their first digits, and
//! other formats would show digits that the type has no room for.

use crate::error::{Error, Result};
use crate::operator::{Operator, OperatorExec, Rows};
use arrow::array::{Array, ArrayData, PrimitiveArray};
use arrow::datatypes::{
    DataType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType, SchemaRef,
};
use arrow::record_batch::RecordBatch;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use futures::StreamExt;
use std::fmt;
use std::sync::Arc;

/// Returns the same rows, with an error in place of a decimal with too many digits. Costs nothing
/// if no column has decimals.
pub(crate) fn with_checked_digits(rows: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    let schema = rows.schema();
    let columns = (0..schema.fields().len()).filter(|i| has_decimals(schema.field(*i).data_type()));
    let columns: Vec<usize> = columns.collect();
    match columns.is_empty() {
        true => rows,
        false => Arc::new(OperatorExec::looking(rows, CheckDigits(columns))),
    }
}

fn has_decimals(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => has_decimals(values),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _)
        | DataType::RunEndEncoded(_, field) => has_decimals(field.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| has_decimals(field.data_type())),
        DataType::Union(fields, _) => fields.iter().any(|(_, field)| has_decimals(field.data_type())),
        other => other.is_decimal(),
    }
}

/// Returns true if no decimal of an array, or of the arrays nested in it, has more digits than its
/// type.
fn fits(array: &ArrayData) -> bool {
    match array.data_type() {
        DataType::Decimal32(digits, _) => all_fit::<Decimal32Type>(array, *digits),
        DataType::Decimal64(digits, _) => all_fit::<Decimal64Type>(array, *digits),
        DataType::Decimal128(digits, _) => all_fit::<Decimal128Type>(array, *digits),
        DataType::Decimal256(digits, _) => all_fit::<Decimal256Type>(array, *digits),
        _ => array.child_data().iter().all(fits),
    }
}

fn all_fit<T: DecimalType>(array: &ArrayData, digits: u8) -> bool {
    let values = PrimitiveArray::<T>::from(array.clone());
    let fits = |value: T::Native| T::is_valid_decimal_precision(value, digits);
    values.iter().flatten().all(fits)
}

/// Checks the decimals of the columns at these positions.
#[derive(Debug)]
struct CheckDigits(Vec<usize>);

impl fmt::Display for CheckDigits {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "columns {:?}", self.0)
    }
}

impl Operator for CheckDigits {
    const NAME: &'static str = "CheckDigitsExec";
    const ONLY_LOOKS: bool = true;

    fn run(&self, input: SendableRecordBatchStream, _: SchemaRef, _: &Arc<TaskContext>) -> Result<Rows> {
        let columns = self.0.clone();
        let check = move |batch: RecordBatch| {
            let damaged = columns.iter().find(|i| !fits(&batch.column(**i).to_data()));
            let Some(i) = damaged else { return Ok(batch) };
            let schema = batch.schema();
            let field = schema.field(*i);
            let error = Error::data(format!(
                "column {}: a value has more digits than {} has room for; a file is damaged, or what was computed went beyond \
                 its type",
                field.name(),
                field.data_type()
            ));
            Err(error.into())
        };
        Ok(input.map(move |batch| batch.and_then(&check)).boxed())
    }
}
