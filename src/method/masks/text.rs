//! Converts values to texts, for masks that are computed from texts.

use crate::base::error::{Error, Result};
use crate::method::canonical::{one_spelling, plain};
use arrow::array::{Array, ArrayRef, AsArray, StringArray, StringBuilder};
use arrow::compute::{can_cast_types, cast};
use arrow::datatypes::DataType;
use std::sync::Arc;

/// Returns the values as texts. Equal values have equal texts.
pub(super) fn texts(values: &ArrayRef) -> Result<StringArray> {
    let values = cast(values, &plain(values.data_type()))?;
    let texts = cast(&one_spelling(&values)?, &DataType::Utf8)?;
    Ok(texts.as_string::<i32>().clone())
}

/// Returns the masked values. `write` appends the masked form of a text to an empty string. It is
/// not called again for a text that is equal to the previous one.
pub(super) fn each(values: &ArrayRef, mut write: impl FnMut(&str, &mut String)) -> Result<ArrayRef> {
    let texts = texts(values)?;
    let mut masks = StringBuilder::with_capacity(texts.len(), texts.value_data().len());
    let (mut mask, mut last) = (String::new(), None);
    for text in &texts {
        if text.is_some() && text != last {
            mask.clear();
            write(text.unwrap_or_default(), &mut mask);
            last = text;
        }
        masks.append_option(text.map(|_| mask.as_str()));
    }
    Ok(Arc::new(masks.finish()))
}

/// Returns the text type. Fails with a usage error if values of this type cannot be converted to
/// text. `start` is the first keyword of the mask, for the error.
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

/// Returns the error for a type that a mask does not accept. `takes` describes the accepted values,
/// and `instead` says what to do.
pub(super) fn unfit(start: &str, takes: &str, values: &DataType, instead: &str) -> Error {
    Error::usage(format!("{start} takes {takes}, and not {}; {instead}", plain(values)))
}
