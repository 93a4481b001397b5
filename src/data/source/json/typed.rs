//! Converts the texts of JSON values to the types of their columns.

use crate::data::source::csv::{float, integer, wanted};
use crate::data::source::refused::Refused;
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, FixedSizeListArray, GenericListArray, OffsetSizeTrait, PrimitiveArray,
    RecordBatch, RecordBatchOptions, StringArray, StructArray,
};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{ArrowPrimitiveType, DataType, Field, Fields, Float64Type, Int64Type, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::json::ReaderBuilder;
use std::io::BufRead;
use std::sync::Arc;

/// A value that does not have the type of its column. `row` is the index of the row, from 0.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Misfit {
    pub(crate) row: usize,
    pub(crate) column: String,
    /// A description of the values that the column accepts, for the error.
    pub(crate) wanted: &'static str,
}

/// Returns the schema with the type text in place of all numbers and truth values.
pub(crate) fn text_schema(schema: &Schema) -> SchemaRef {
    Arc::new(Schema::new(text_fields(schema.fields())))
}

fn text_fields(fields: &Fields) -> Fields {
    fields.iter().map(|field| text_field(field)).collect()
}

fn text_field(field: &Field) -> Field {
    field.clone().with_data_type(match field.data_type() {
        t if is_number(t) || *t == DataType::Boolean => DataType::Utf8,
        other => within(other, &mut |field| text_field(field)),
    })
}

pub(super) fn is_number(data_type: &DataType) -> bool {
    data_type.is_integer() || matches!(data_type, DataType::Float32 | DataType::Float64)
}

/// Returns a nested type whose fields are replaced by the results of `other`. Returns any other
/// type unchanged.
fn within(data_type: &DataType, other: &mut dyn FnMut(&Field) -> Field) -> DataType {
    match data_type {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(|f| other(f)).collect()),
        DataType::List(field) => DataType::List(Arc::new(other(field))),
        DataType::LargeList(field) => DataType::LargeList(Arc::new(other(field))),
        DataType::FixedSizeList(field, size) => DataType::FixedSizeList(Arc::new(other(field)), *size),
        plain => plain.clone(),
    }
}

/// Returns true if the schema contains the type `Float64` at any depth.
pub(crate) fn has_numbers(schema: &Schema) -> bool {
    let mut found = false;
    for field in schema.fields() {
        visit(field, &mut |t| found |= *t == DataType::Float64);
    }
    found
}

fn visit(field: &Field, see: &mut dyn FnMut(&DataType)) {
    see(field.data_type());
    within(field.data_type(), &mut |inner| {
        visit(inner, see);
        inner.clone()
    });
}

/// Returns the schema with text in place of each `Float64` for which one of the first `rows` rows
/// has a number that a 64-bit float does not preserve. The content of `file` may end within a row.
pub(crate) fn exact_schema(schema: &Schema, file: impl BufRead, rows: usize) -> Result<Schema, ArrowError> {
    let mut exact: Vec<Field> = schema.fields().iter().map(|f| f.as_ref().clone()).collect();
    let reader = ReaderBuilder::new(text_schema(schema))
        .with_coerce_primitive(true)
        // The last row may be incomplete. With this size, one batch contains all other rows.
        .with_batch_size(rows.max(1))
        .build(file)?;
    let mut left = rows;
    for batch in reader.map_while(Result::ok) {
        let batch = batch.slice(0, left.min(batch.num_rows()));
        left -= batch.num_rows();
        for (field, texts) in exact.iter_mut().zip(batch.columns()) {
            *field = exact_field(field, texts);
        }
        if left == 0 {
            break;
        }
    }
    Ok(Schema::new(exact))
}

fn exact_field(field: &Field, texts: &ArrayRef) -> Field {
    let exact = match field.data_type() {
        DataType::Float64 => {
            let mut texts = texts.as_string_opt::<i32>().into_iter().flatten().flatten();
            match texts.all(|text| float(text).is_some()) {
                true => DataType::Float64,
                false => DataType::Utf8,
            }
        }
        nested => {
            let mut children = children(texts).into_iter();
            within(nested, &mut |field| match children.next() {
                Some(texts) => exact_field(field, &texts),
                None => field.clone(),
            })
        }
    };
    field.clone().with_data_type(exact)
}

/// Returns the child arrays of a struct or a list.
fn children(array: &ArrayRef) -> Vec<ArrayRef> {
    match array.data_type() {
        DataType::Struct(_) => array.as_struct().columns().to_vec(),
        DataType::List(_) => vec![Arc::clone(array.as_list::<i32>().values())],
        DataType::LargeList(_) => vec![Arc::clone(array.as_list::<i64>().values())],
        DataType::FixedSizeList(..) => vec![Arc::clone(array.as_fixed_size_list().values())],
        _ => vec![],
    }
}

/// Converts rows with the [`text_schema`] of `schema` to rows with `schema`.
pub(crate) fn typed(texts: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, Refused<Misfit>> {
    let mut columns = Vec::with_capacity(texts.num_columns());
    for (texts, field) in texts.columns().iter().zip(schema.fields()) {
        match values(texts, field)? {
            Some(values) => columns.push(values),
            None => return Err(Refused::Unlike(misfit(texts, field)?)),
        }
    }
    let options = RecordBatchOptions::new().with_row_count(Some(texts.num_rows()));
    Ok(RecordBatch::try_new_with_options(
        Arc::clone(schema),
        columns,
        &options,
    )?)
}

fn misfit(texts: &ArrayRef, field: &Field) -> Result<Misfit, ArrowError> {
    let mut row = 0;
    while row < texts.len() && values(&texts.slice(row, 1), field)?.is_some() {
        row += 1;
    }
    let mut first = None;
    visit(field, &mut |t| {
        first = first
            .take()
            .or((is_number(t) || *t == DataType::Boolean).then(|| wanted(t)))
    });
    Ok(Misfit {
        row,
        column: field.name().clone(),
        wanted: first
            .filter(|_| !field.data_type().is_nested())
            .unwrap_or("a value of the same kind"),
    })
}

/// Converts texts to values; `None` if a text is not a value of the type.
fn values(texts: &ArrayRef, field: &Field) -> Result<Option<ArrayRef>, ArrowError> {
    let data_type = field.data_type();
    Ok(match data_type {
        DataType::Boolean => booleans(texts.as_string()),
        DataType::Float64 => numbers::<Float64Type>(texts.as_string(), float),
        DataType::Float32 => narrowed(numbers::<Float64Type>(texts.as_string(), float), data_type)?,
        t if t.is_integer() => narrowed(numbers::<Int64Type>(texts.as_string(), integer), t)?,
        DataType::Struct(fields) => {
            let array = texts.as_struct();
            let mut columns = Vec::with_capacity(fields.len());
            for (texts, field) in array.columns().iter().zip(fields) {
                match values(texts, field)? {
                    Some(values) => columns.push(values),
                    None => return Ok(None),
                }
            }
            let made = StructArray::try_new_with_length(fields.clone(), columns, array.nulls().cloned(), array.len())?;
            Some(Arc::new(made))
        }
        DataType::List(item) => list::<i32>(texts, item)?,
        DataType::LargeList(item) => list::<i64>(texts, item)?,
        DataType::FixedSizeList(item, size) => {
            let array = texts.as_fixed_size_list();
            let inner = values(array.values(), item)?;
            let made = inner.map(|v| FixedSizeListArray::try_new(Arc::clone(item), *size, v, array.nulls().cloned()));
            made.transpose()?.map(|made| Arc::new(made) as ArrayRef)
        }
        _ => Some(Arc::clone(texts)),
    })
}

fn list<O: OffsetSizeTrait>(texts: &ArrayRef, item: &Arc<Field>) -> Result<Option<ArrayRef>, ArrowError> {
    let array = texts.as_list::<O>();
    // A slice of a list array still contains the values of all rows.
    let (first, last) = (
        array.value_offsets()[0].as_usize(),
        array.value_offsets()[array.len()].as_usize(),
    );
    let Some(inner) = values(&array.values().slice(first, last - first), item)? else {
        return Ok(None);
    };
    let offsets = arrow::buffer::OffsetBuffer::from_lengths(array.offsets().lengths());
    let made = GenericListArray::<O>::try_new(Arc::clone(item), offsets, inner, array.nulls().cloned())?;
    Ok(Some(Arc::new(made)))
}

fn booleans(texts: &StringArray) -> Option<ArrayRef> {
    let value = |text: Option<&str>| match text {
        None => Some(None),
        Some("true") => Some(Some(true)),
        Some("false") => Some(Some(false)),
        Some(_) => None,
    };
    let values: Option<BooleanArray> = texts.iter().map(value).collect();
    values.map(|values| Arc::new(values) as ArrayRef)
}

fn numbers<T: ArrowPrimitiveType>(texts: &StringArray, read: fn(&str) -> Option<T::Native>) -> Option<ArrayRef> {
    let value = |text: Option<&str>| match text {
        None => Some(None),
        Some(text) => read(text).map(Some),
    };
    let values: Option<PrimitiveArray<T>> = texts.iter().map(value).collect();
    values.map(|values| Arc::new(values) as ArrayRef)
}

/// Converts numbers to a narrower type; `None` if a number is out of the range of this type.
fn narrowed(numbers: Option<ArrayRef>, to: &DataType) -> Result<Option<ArrayRef>, ArrowError> {
    let numbers = match numbers {
        Some(numbers) if numbers.data_type() != to => numbers,
        as_they_are => return Ok(as_they_are),
    };
    let narrow = cast_with_options(&numbers, to, &CastOptions::default())?;
    Ok(Some(narrow).filter(|narrow| narrow.null_count() == numbers.null_count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(schema: &Schema, lines: &str) -> Result<RecordBatch, Misfit> {
        let reader = ReaderBuilder::new(text_schema(schema)).with_coerce_primitive(true);
        let texts = reader.build(lines.as_bytes()).unwrap().next().unwrap().unwrap();
        typed(&texts, &Arc::new(schema.clone())).map_err(|refused| match refused {
            Refused::Unlike(misfit) => misfit,
            Refused::Failed(e) => panic!("{e}"),
        })
    }

    fn nested() -> Schema {
        let item = Arc::new(Field::new("item", DataType::Int64, true));
        let inner = Fields::from(vec![
            Field::new("l", DataType::List(item), true),
            Field::new("b", DataType::Boolean, true),
        ]);
        Schema::new(vec![
            Field::new("n", DataType::Int64, true),
            Field::new("x", DataType::Float64, true),
            Field::new("i", DataType::Int8, true),
            Field::new("s", DataType::Struct(inner), true),
        ])
    }

    #[test]
    fn values_are_those_that_are_written() {
        let lines = "{\"n\":7,\"x\":0.5,\"i\":-3,\"s\":{\"l\":[1,null],\"b\":true}}\n{}\n{\"x\":2,\"s\":{\"l\":[]}}\n";
        let mut plain = ReaderBuilder::new(Arc::new(nested())).build(lines.as_bytes()).unwrap();
        assert_eq!(read(&nested(), lines).unwrap(), plain.next().unwrap().unwrap());
    }

    #[test]
    fn a_value_that_would_change_is_told_by_its_row() {
        for (line, column) in [
            ("{\"n\":0.5}", "n"),
            ("{\"n\":\"007\"}", "n"),
            ("{\"n\":1e3}", "n"),
            ("{\"n\":9223372036854775808}", "n"),
            ("{\"x\":1e999}", "x"),
            ("{\"x\":9007199254740993}", "x"),
            ("{\"x\":\"x\"}", "x"),
            ("{\"i\":128}", "i"),
            ("{\"s\":{\"l\":[1,0.5]}}", "s"),
            ("{\"s\":{\"b\":\"yes\"}}", "s"),
        ] {
            let e = read(&nested(), &format!("{{\"n\":1}}\n{line}\n")).unwrap_err();
            assert_eq!((e.row, e.column.as_str()), (1, column), "{line}");
        }
    }

    #[test]
    fn a_number_that_no_float_holds_is_a_text() {
        let schema = Schema::new(vec![
            Field::new("id", DataType::Float64, true),
            Field::new("x", DataType::Float64, true),
        ]);
        let lines = "{\"id\":12345678901234567890,\"x\":0.5}\n{\"id\":1,\"x\":2}\n{\"id\":1, ";
        let exact = exact_schema(&schema, lines.as_bytes(), 2).unwrap();
        assert_eq!(exact.field(0).data_type(), &DataType::Utf8);
        assert_eq!(exact.field(1).data_type(), &DataType::Float64);
        let zero = "{\"id\":-0,\"x\":-0}\n{\"id\":9007199254740993,\"x\":2}\n";
        assert_eq!(exact_schema(&schema, zero.as_bytes(), 2).unwrap(), exact);
    }
}
