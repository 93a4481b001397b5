//! Converts generated values to Arrow arrays of every type that a column can have.

use super::case::{Column, Table, Value};
use arrow::array::*;
use arrow::compute::cast;
use arrow::datatypes::*;
use std::sync::Arc;

/// Returns the rows of a table as one batch.
pub fn batch(table: &Table) -> RecordBatch {
    let fields: Vec<Field> = table
        .columns
        .iter()
        .map(|c| Field::new(&c.name, c.data_type.clone(), true))
        .collect();
    let columns = table.columns.iter().map(array).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("columns of one length")
}

/// Returns a column as an array of its type. A value that the type cannot represent is NULL.
pub fn array(column: &Column) -> ArrayRef {
    let values = &column.values;
    macro_rules! numbers {
        ($type:ty) => {
            Arc::new(
                values
                    .iter()
                    .map(|v| whole(v).and_then(|n| n.try_into().ok()))
                    .collect::<PrimitiveArray<$type>>(),
            ) as ArrayRef
        };
    }
    macro_rules! decimals {
        ($type:ty, $p:expr, $s:expr) => {
            Arc::new(
                values
                    .iter()
                    .map(|v| {
                        whole(v)
                            .filter(|n| n.unsigned_abs() < 10u128.pow((*$p).min(38) as u32))
                            .and_then(|n| n.try_into().ok())
                    })
                    .collect::<PrimitiveArray<$type>>()
                    .with_precision_and_scale(*$p, *$s)
                    .expect("a decimal type"),
            ) as ArrayRef
        };
    }
    match &column.data_type {
        DataType::Int8 => numbers!(Int8Type),
        DataType::Int16 => numbers!(Int16Type),
        DataType::Int32 => numbers!(Int32Type),
        DataType::Int64 => numbers!(Int64Type),
        DataType::UInt8 => numbers!(UInt8Type),
        DataType::UInt16 => numbers!(UInt16Type),
        DataType::UInt32 => numbers!(UInt32Type),
        DataType::UInt64 => numbers!(UInt64Type),
        DataType::Decimal32(p, s) => decimals!(Decimal32Type, p, s),
        DataType::Decimal64(p, s) => decimals!(Decimal64Type, p, s),
        DataType::Decimal128(p, s) => decimals!(Decimal128Type, p, s),
        DataType::Decimal256(p, s) => {
            let values = values.iter().map(|v| whole(v).map(arrow::datatypes::i256::from_i128));
            let array = values.collect::<PrimitiveArray<Decimal256Type>>();
            Arc::new(array.with_precision_and_scale(*p, *s).expect("a decimal type"))
        }
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            let floats: Float64Array = values.iter().map(real).collect();
            cast(&floats, &column.data_type).expect("floats become floats")
        }
        DataType::Boolean => Arc::new(
            values
                .iter()
                .map(|v| whole(v).map(|n| n != 0))
                .collect::<BooleanArray>(),
        ),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            let texts: StringArray = values.iter().map(text).collect();
            cast(&texts, &column.data_type).expect("text becomes text")
        }
        DataType::Dictionary(_, inner) => {
            let inner = Column {
                data_type: inner.as_ref().clone(),
                ..column.clone()
            };
            cast(&array(&inner), &column.data_type).expect("values become a dictionary")
        }
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
            let bytes: BinaryArray = values.iter().map(|v| text(v).map(str::as_bytes)).collect();
            cast(&bytes, &column.data_type).expect("bytes become bytes")
        }
        DataType::Date32 | DataType::Time32(_) => cast(&numbers!(Int32Type), &column.data_type).expect("days, ticks"),
        DataType::Date64 | DataType::Time64(_) | DataType::Timestamp(..) | DataType::Duration(_) => {
            cast(&numbers!(Int64Type), &column.data_type).expect("ticks")
        }
        DataType::List(_) => {
            let lists = values.iter().map(|v| match v {
                Value::List(items) => Some(items.clone()),
                _ => None,
            });
            Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(lists))
        }
        DataType::Struct(fields) => {
            let field = |i: usize| {
                let of = |v: &Value| match v {
                    Value::List(items) => items.get(i).copied().flatten(),
                    _ => None,
                };
                Arc::new(values.iter().map(of).collect::<Int64Array>()) as ArrayRef
            };
            let valid: Vec<bool> = values.iter().map(|v| *v != Value::Null).collect();
            let columns = (0..fields.len()).map(field).collect();
            Arc::new(StructArray::new(fields.clone(), columns, Some(valid.into())))
        }
        other => unreachable!("no column of type {other} is generated"),
    }
}

fn whole(value: &Value) -> Option<i128> {
    match value {
        Value::Int(n) => Some(*n),
        _ => None,
    }
}

fn real(value: &Value) -> Option<f64> {
    match value {
        Value::Float(x) => Some(*x),
        Value::Int(n) => Some(*n as f64),
        _ => None,
    }
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}
