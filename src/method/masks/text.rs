//! Converts values to texts, for masks that are computed from texts.

use crate::base::error::{Error, Result};
use crate::method::canonical::{one_spelling, plain};
use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::buffer::OffsetBuffer;
use arrow::compute::{can_cast_types, cast};
use arrow::datatypes::DataType;
use std::ops::Range;
use std::sync::Arc;

/// Returns the values as texts. Equal values have equal texts.
pub(super) fn texts(values: &ArrayRef) -> Result<StringArray> {
    let values = cast(values, &plain(values.data_type()))?;
    let texts = cast(&one_spelling(&values)?, &DataType::Utf8)?;
    Ok(texts.as_string::<i32>().clone())
}

/// Returns the masked values. `write` appends the masked form of a text, in UTF-8, to the masks
/// before it. It is not called again for a text that is equal to the previous one. All masks share
/// one buffer, because a string for each mask took longer than computing it. The buffer is
/// allocated for masks of `length` bytes, and grows if they are longer.
pub(super) fn each(values: &ArrayRef, length: usize, mut write: impl FnMut(&str, &mut Vec<u8>)) -> Result<ArrayRef> {
    let texts = texts(values)?;
    let mut masks: Vec<u8> = Vec::with_capacity(length * (texts.len() - texts.null_count()));
    let mut offsets: Vec<i32> = Vec::with_capacity(texts.len() + 1);
    offsets.push(0);
    let mut last: Option<&str> = None;
    let mut mask: Range<usize> = 0..0;
    for text in &texts {
        if let Some(text) = text {
            if last == Some(text) {
                masks.extend_from_within(mask.clone());
            } else {
                let start = masks.len();
                write(text, &mut masks);
                (last, mask) = (Some(text), start..masks.len());
            }
        }
        let end = i32::try_from(masks.len());
        offsets.push(end.map_err(|_| Error::data("the masked values of one batch have more than 2 GiB"))?);
    }
    let offsets = OffsetBuffer::new(offsets.into());
    Ok(Arc::new(StringArray::try_new(
        offsets,
        masks.into(),
        texts.nulls().cloned(),
    )?))
}

/// Appends bytes to a text as hexadecimal digits. The digits are computed and not looked up in a
/// table, because the compiler uses vector instructions for the computation.
pub(super) fn push_hex(bytes: &[u8], text: &mut Vec<u8>) {
    let digit = |half: u8| half + if half < 10 { b'0' } else { b'a' - 10 };
    let start = text.len();
    text.resize(start + 2 * bytes.len(), 0);
    for (digits, byte) in text[start..].as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
        *digits = [digit(byte >> 4), digit(byte & 15)];
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Repeated texts, NULL and texts of several bytes a character have their masks at their rows,
    /// also in a slice, and whether the estimated length is too short or too long.
    #[test]
    fn masks_are_in_the_rows_of_their_texts() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec![
            Some("z"),
            None,
            Some("é"),
            Some("é"),
            None,
            Some("é"),
            Some(""),
            Some("ab"),
        ]));
        for length in [0, 1, 40] {
            let mut calls = 0;
            let masks = each(&texts.slice(1, 7), length, |text, masks| {
                calls += 1;
                masks.extend_from_slice(format!("<{text}>").as_bytes());
            });
            let masks = masks.unwrap();
            let expected = [
                None,
                Some("<é>"),
                Some("<é>"),
                None,
                Some("<é>"),
                Some("<>"),
                Some("<ab>"),
            ];
            assert_eq!(masks.as_string::<i32>().iter().collect::<Vec<_>>(), expected);
            assert_eq!(calls, 3);
        }
        let none = each(&texts.slice(0, 0), 1, |_, _| ()).unwrap();
        assert!(none.is_empty() && none.data_type() == &DataType::Utf8);
    }

    #[test]
    fn bytes_have_two_digits_each() {
        let mut text = b"0x".to_vec();
        push_hex(&[0x00, 0x09, 0x0a, 0x9f, 0xa0, 0xff], &mut text);
        assert_eq!(text, b"0x00090a9fa0ff");
        let all: Vec<u8> = (0..=255).collect();
        let mut digits = vec![];
        push_hex(&all, &mut digits);
        assert_eq!(digits, hex::encode(&all).into_bytes());
    }
}
