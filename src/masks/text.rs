//! Values as texts, for masks that are made of these.

use crate::canonical::{one_spelling, plain};
use crate::error::{Error, Result};
use arrow::array::{ArrayRef, AsArray, StringArray};
use arrow::compute::{can_cast_types, cast};
use arrow::datatypes::DataType;
use std::sync::Arc;

/// Returns the texts of values; equal values have equal texts.
pub(super) fn texts(values: &ArrayRef) -> Result<StringArray> {
    let values = cast(values, &plain(values.data_type()))?;
    let texts = cast(&one_spelling(&values)?, &DataType::Utf8)?;
    Ok(texts.as_string::<i32>().clone())
}

/// Returns the mask of every text.
pub(super) fn each(values: &ArrayRef, mask: impl FnMut(&str) -> String) -> Result<ArrayRef> {
    let mut mask = mask;
    let masked: StringArray = texts(values)?.iter().map(|text| text.map(&mut mask)).collect();
    Ok(Arc::new(masked))
}

/// Refuses a type whose values have no text.
pub(crate) fn has_text(start: &str, values: &DataType) -> Result<DataType> {
    match can_cast_types(&plain(values), &DataType::Utf8) {
        true => Ok(DataType::Utf8),
        false => Err(unfit(
            start,
            "values that have a text",
            values,
            "select their parts in a query",
        )),
    }
}

/// Returns the error for a type that a mask does not take.
pub(super) fn unfit(start: &str, takes: &str, values: &DataType, instead: &str) -> Error {
    Error::usage(format!("{start} takes {takes}, and not {}; {instead}", plain(values)))
}
