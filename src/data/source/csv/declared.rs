//! Parses the values of a CSV file from text, if the table declares the types of its columns.
//! Arrow's own parser would turn second 60 into the next minute, and drop digits that a decimal
//! cannot store.

use super::kind::is_kept_by_cast;
use crate::data::source::refused::Refused;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use std::sync::Arc;

/// A text that is not a value of its column's type. `row` counts from 0.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MistypedText {
    pub(crate) row: usize,
    pub(crate) column: String,
    pub(crate) data_type: DataType,
}

/// Returns the schema with the type text for every column whose values are parsed from text.
pub(crate) fn as_texts(schema: &Schema) -> SchemaRef {
    let text = |field: &Arc<Field>| match is_read_from_text(field.data_type()) {
        true => field.as_ref().clone().with_data_type(DataType::Utf8),
        false => field.as_ref().clone(),
    };
    Arc::new(Schema::new(schema.fields().iter().map(text).collect::<Vec<Field>>()))
}

fn is_read_from_text(data_type: &DataType) -> bool {
    data_type.is_numeric()
        || data_type.is_temporal() && !matches!(data_type, DataType::Interval(_) | DataType::Duration(_))
}

/// Converts rows with the schema of [`as_texts`] to rows with `schema`. Fails with the first text
/// that is not a value of its column's type.
pub(crate) fn declared(texts: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, Refused<MistypedText>> {
    let mut columns = Vec::with_capacity(texts.num_columns());
    for (texts, field) in texts.columns().iter().zip(schema.fields()) {
        match values(texts, field.data_type()) {
            Ok(values) => columns.push(values),
            Err(Refused::Failed(e)) => return Err(Refused::Failed(e)),
            Err(Refused::Unlike(row)) => {
                return Err(Refused::Unlike(MistypedText {
                    row,
                    column: field.name().clone(),
                    data_type: field.data_type().clone(),
                }));
            }
        }
    }
    let options = RecordBatchOptions::new().with_row_count(Some(texts.num_rows()));
    Ok(RecordBatch::try_new_with_options(
        Arc::clone(schema),
        columns,
        &options,
    )?)
}

/// Parses texts as values of `data_type`. Fails with the first row whose text is not such a value.
fn values(texts: &ArrayRef, data_type: &DataType) -> Result<ArrayRef, Refused<usize>> {
    let Some(written) = texts.as_string_opt::<i32>().filter(|_| is_read_from_text(data_type)) else {
        return Ok(Arc::clone(texts));
    };
    let safe = CastOptions {
        safe: true,
        ..CastOptions::default()
    };
    let values = cast_with_options(texts, data_type, &safe)?;
    let is_unlike = |(row, text): (usize, Option<&str>)| {
        text.is_some_and(|text| values.is_null(row) || !is_kept_by_cast(text, data_type))
    };
    let unlike = written.iter().enumerate().position(is_unlike);
    match unlike {
        Some(row) => Err(Refused::Unlike(row)),
        None => Ok(values),
    }
}
