//! Checks that decimals do not have more digits than their type allows, and that times of day are
//! within a day. A damaged file or the result of a query can contain such values. Parquet's writer
//! would drop the leading digits of a decimal with too many digits, and other formats would write
//! digits that the type cannot store. Readers show a time of day outside a day as another time or
//! as NULL. Different values would then look equal in the release.

use crate::base::error::{Error, Result};
use crate::base::operator::{Operator, OperatorExec, Rows};
use arrow::array::{Array, ArrayData, PrimitiveArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType, Field,
    FieldRef, SchemaRef, Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimeUnit,
};
use arrow::record_batch::RecordBatch;
use datafusion::common::Column;
use datafusion::dataframe::DataFrame;
use datafusion::error::Result as DfResult;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility, lit,
};
use datafusion::physical_plan::ExecutionPlan;
use futures::StreamExt;
use std::fmt;
use std::sync::Arc;

/// The number of seconds in a day.
const DAY: i64 = 86_400;

/// Adds a check to a plan. The check fails with `ErrorKind::Data` for a decimal with too many
/// digits, and for a time of day that is not within a day. Returns the plan unchanged if no column
/// contains values of such a type.
pub(crate) fn with_checked_digits(rows: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    let schema = rows.schema();
    let columns = (0..schema.fields().len()).filter(|i| is_checked(schema.field(*i).data_type()));
    let columns: Vec<usize> = columns.collect();
    match columns.is_empty() {
        true => rows,
        false => Arc::new(OperatorExec::looking(rows, CheckDigits(columns))),
    }
}

/// Adds the same check to the columns of `rows`, for code that builds further plans from these
/// rows. A release instead checks its source with [`with_checked_digits`], which keeps the order of
/// the rows.
pub(crate) fn checked_digits(rows: DataFrame) -> Result<DataFrame> {
    if !rows.schema().fields().iter().any(|field| is_checked(field.data_type())) {
        return Ok(rows);
    }
    let function = ScalarUDF::from(CheckedDigits::default());
    let columns = rows.schema().iter().map(|(table, field)| {
        let column = Expr::Column(Column::from((table, field)));
        match is_checked(field.data_type()) {
            true => function
                .call(vec![column, lit(field.name().as_str())])
                .alias_qualified(table.cloned(), field.name()),
            false => column,
        }
    });
    let columns: Vec<Expr> = columns.collect();
    Ok(rows.select(columns)?)
}

/// A function that returns its first argument unchanged, or fails if one of the values is faulty.
/// The second argument is the name of the column.
#[derive(Debug, PartialEq, Eq, Hash)]
struct CheckedDigits {
    signature: Signature,
}

impl Default for CheckedDigits {
    fn default() -> Self {
        Self {
            signature: Signature::any(2, Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for CheckedDigits {
    fn name(&self) -> &str {
        "checked_digits"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> DfResult<DataType> {
        Ok(types.first().cloned().unwrap_or(DataType::Null))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> DfResult<FieldRef> {
        Ok(Arc::clone(&args.arg_fields[0]))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let values = args.args[0].to_array(args.number_rows)?;
        match fault(&values.to_data()) {
            None => Ok(ColumnarValue::Array(values)),
            Some(fault) => {
                let name = match &args.args[1] {
                    ColumnarValue::Scalar(name) => name.try_as_str().flatten().unwrap_or_default(),
                    ColumnarValue::Array(_) => "",
                };
                let field = Field::new(name, values.data_type().clone(), true);
                Err(refused(&field, fault).into())
            }
        }
    }
}

/// Returns true if the type, or a type nested in it, has values that must be checked.
fn is_checked(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_checked(values),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _)
        | DataType::RunEndEncoded(_, field) => is_checked(field.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| is_checked(field.data_type())),
        DataType::Union(fields, _) => fields.iter().any(|(_, field)| is_checked(field.data_type())),
        DataType::Time32(_) | DataType::Time64(_) => true,
        other => other.is_decimal(),
    }
}

/// The fault of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// A decimal has more digits than its type.
    Digits,
    /// A time of day is not within a day.
    Day,
}

/// Returns the first fault in an array or in its nested arrays; `None` if all values are correct.
fn fault(array: &ArrayData) -> Option<Fault> {
    let digits = |fits: bool| (!fits).then_some(Fault::Digits);
    let day = |is_within: bool| (!is_within).then_some(Fault::Day);
    match array.data_type() {
        DataType::Decimal32(most, _) => digits(all_fit::<Decimal32Type>(array, *most)),
        DataType::Decimal64(most, _) => digits(all_fit::<Decimal64Type>(array, *most)),
        DataType::Decimal128(most, _) => digits(all_fit::<Decimal128Type>(array, *most)),
        DataType::Decimal256(most, _) => digits(all_fit::<Decimal256Type>(array, *most)),
        DataType::Time32(TimeUnit::Second) => day(all_within::<Time32SecondType>(array, DAY)),
        DataType::Time32(_) => day(all_within::<Time32MillisecondType>(array, DAY * 1_000)),
        DataType::Time64(TimeUnit::Microsecond) => day(all_within::<Time64MicrosecondType>(array, DAY * 1_000_000)),
        DataType::Time64(_) => day(all_within::<Time64NanosecondType>(array, DAY * 1_000_000_000)),
        _ => array.child_data().iter().find_map(fault),
    }
}

/// Returns true if all values are at least 0 and below `day`.
fn all_within<T: ArrowPrimitiveType>(array: &ArrayData, day: i64) -> bool
where
    i64: From<T::Native>,
{
    let values = PrimitiveArray::<T>::from(array.clone());
    let mut times = values.iter().flatten().map(i64::from);
    times.all(|time| (0..day).contains(&time))
}

fn all_fit<T: DecimalType>(array: &ArrayData, digits: u8) -> bool {
    let values = PrimitiveArray::<T>::from(array.clone());
    let fits = |value: T::Native| T::is_valid_decimal_precision(value, digits);
    values.iter().flatten().all(fits)
}

/// Returns the error for a faulty value in a column.
fn refused(field: &Field, fault: Fault) -> Error {
    let (name, data_type) = (field.name(), field.data_type());
    Error::data(match fault {
        Fault::Digits => format!(
            "column {name}: a value has more digits than {data_type} can store; a file is damaged, or what was computed went \
             beyond its type"
        ),
        Fault::Day => format!(
            "column {name}: a time of day is negative, or 24 hours or more, which readers of {data_type} show as another time or \
             not at all; CAST the column to a number in a query, or correct the source"
        ),
    })
}

/// An operator that checks the columns with these indices.
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
            let faulty = |i: &usize| Some((*i, fault(&batch.column(*i).to_data())?));
            let Some((i, fault)) = columns.iter().find_map(faulty) else {
                return Ok(batch);
            };
            Err(refused(batch.schema().field(i), fault).into())
        };
        Ok(input.map(move |batch| batch.and_then(&check)).boxed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, DictionaryArray, Int32Array, Time32SecondArray, Time64NanosecondArray};
    use arrow::datatypes::Int32Type;

    #[test]
    fn a_time_of_day_is_within_a_day() {
        let seconds = |time: i32| Arc::new(Time32SecondArray::from(vec![Some(0), None, Some(time)])) as ArrayRef;
        let keys = || Int32Array::from(vec![Some(2), None]);
        let coded = |time: i32| Arc::new(DictionaryArray::<Int32Type>::new(keys(), seconds(time))) as ArrayRef;
        for (time, found) in [(86_399, None), (86_400, Some(Fault::Day)), (-1, Some(Fault::Day))] {
            assert_eq!(fault(&seconds(time).to_data()), found, "{time}");
            assert_eq!(fault(&coded(time).to_data()), found, "{time}");
        }
        assert!(is_checked(coded(0).data_type()));
        let day = DAY * 1_000_000_000;
        let nanoseconds = |time| fault(&Time64NanosecondArray::from(vec![time]).to_data());
        assert_eq!((nanoseconds(day - 1), nanoseconds(day)), (None, Some(Fault::Day)));
    }
}
