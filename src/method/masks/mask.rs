//! MASK: a format instead of the value, which keeps some of its characters.
//!
//! In the format, `X` hides a letter or digit, `#` keeps one, and any other character appears
//! unchanged. `MASK 'XXX-XX-####'` turns `123-45-6789` into `XXX-XX-6789`. Truncated social
//! security numbers are commonly written in this way, and the directive `mask-number` of CDAP
//! Wrangler gives the same result.
//!
//! A value fits the format if it has the same number of characters, has letters or digits where the
//! format has `X` and `#`, and has the format's other characters at the same positions. Any other
//! value becomes the format with every `#` replaced by `X`, so that neither its characters nor its
//! length are revealed. This also applies to a value with a character that is a part of a letter,
//! such as a combining accent, a vowel sign of Devanagari or a jamo of Hangul. A whole number is
//! masked as its digits, without leading zeros. NULL stays NULL.
//!
//! MASK uses no secret. Values with the same kept characters have the same mask.
//!
//! Example: `IDENTIFIERS (phone MASK 'XXX-XXX-####')`

use super::clause::{MaskItem, MaskKind, MaskPart, MaskPlace, MaskSyntax, Reads};
use super::text::{each, unfit};
use super::values::{Mask, Unmasked};
use crate::base::catalogue::Info;
use crate::base::error::{Error, Result};
use crate::method::canonical::plain;
use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use regex::Regex;
use std::sync::Arc;

/// The character of a format that hides a character of the value. It also appears in the masked
/// value.
const HIDDEN: char = 'X';
/// The character of a format that keeps a character of the value.
const KEPT: char = '#';
/// The maximum number of characters in a format.
const MOST: usize = 255;

pub(super) const KIND: MaskKind = MaskKind {
    info: Info {
        name: "mask",
        summary: "a format in place of the value: X hides a letter or digit, # keeps it, all else stands for itself",
        params: &[],
        example: "IDENTIFIERS (phone MASK 'XXX-XXX-####')",
        reference: "mask-number of CDAP Wrangler, which keeps what # stands for",
    },
    clause: MaskSyntax {
        start: "MASK",
        syntax: "MASK 'XXX-XXX-####'",
        parts: &[MaskPart::Value(
            "format",
            MaskItem::Text,
            "a format such as 'XXX-XXX-####'",
        )],
    },
    places: &[MaskPlace::Identifiers],
    reads: Reads::Value,
    function: Some(Info {
        name: "mask_format",
        summary: "a value with some characters hidden: mask_format(value, 'XXX-XXX-####')",
        params: &[],
        example: "SELECT mask_format(phone, 'XXX-XXX-####') FROM people",
        reference: "in-house",
    }),
    noun: "a mask",
    phrase: "a mask that keeps some of its characters",
    technique: "masking: some characters of every value are hidden",
    is_pseudonym: false,
    tells_apart: false,
    limits: (
        "Masked characters",
        "The characters that a mask keeps are those of the value. Anyone who knows the value finds the records with \
         these characters, and few people may have the same ones. No model counts them.",
    ),
    build: |clause| Ok(Arc::new(Format::try_new(clause.text("format")?)?)),
};

/// A regular expression for the characters that are a part of a letter: combining marks, and the
/// jamo of a Hangul syllable.
const PARTS: &str = r"[\p{M}\x{1100}-\x{11FF}\x{A960}-\x{A97F}\x{D7B0}-\x{D7FF}\x{FFA0}-\x{FFDC}]";

/// The mask that writes values in a format, such as `XXX-XX-####`.
#[derive(Debug)]
struct Format {
    format: String,
    /// The masked form of a value that does not fit the format.
    hidden: String,
    /// The compiled expression [`PARTS`].
    parts: Regex,
}

impl Format {
    fn try_new(format: &str) -> Result<Self> {
        if !format.contains(HIDDEN) || format.chars().count() > MOST {
            return Err(Error::usage(format!(
                "MASK: the format must have an X for each letter or digit to hide, and may have a # for each to keep, as in \
                 'XXX-XXX-####'; it must hide at least one and have at most {MOST} characters"
            )));
        }
        Ok(Self {
            format: format.to_string(),
            hidden: format.chars().map(|c| if c == KEPT { HIDDEN } else { c }).collect(),
            parts: Regex::new(PARTS).map_err(|e| Error::internal(format!("an invalid pattern: {e}")))?,
        })
    }

    /// Appends the masked form of a value to the masks before it. A value with a character that is
    /// a part of a letter does not fit the format, because such a character could reveal something
    /// about a hidden letter. Most values are ASCII, and are compared byte by byte.
    fn apply(&self, value: &str, masks: &mut Vec<u8>) {
        let bytes = || self.format.bytes().zip(value.bytes());
        let characters = || self.format.chars().zip(value.chars());
        if value.is_ascii() {
            let fit = |(format, value): (u8, u8)| fits(char::from(format), char::from(value));
            if value.len() == self.format.len() && bytes().all(fit) {
                masks.extend(bytes().map(|(format, value)| if format == KEPT as u8 { value } else { format }));
                return;
            }
        } else if !self.parts.is_match(value) {
            let is_as_long = value.chars().count() == self.format.chars().count();
            if is_as_long && characters().all(|(format, value)| fits(format, value)) {
                for (format, value) in characters() {
                    let shown = if format == KEPT { value } else { format };
                    masks.extend_from_slice(shown.encode_utf8(&mut [0; 4]).as_bytes());
                }
                return;
            }
        }
        masks.extend_from_slice(self.hidden.as_bytes());
    }
}

/// Returns true if a character of a value fits the character at its position in the format.
fn fits(format: char, value: char) -> bool {
    match format {
        HIDDEN | KEPT => value.is_alphanumeric(),
        other => value == other,
    }
}

impl Mask for Format {
    fn data_type(&self, values: &DataType) -> Result<DataType> {
        match plain(values) {
            DataType::Utf8 | DataType::LargeUtf8 => Ok(DataType::Utf8),
            other if other.is_integer() => Ok(DataType::Utf8),
            other => Err(unfit(
                KIND.clause.start,
                "texts and whole numbers",
                &other,
                "cast the column to a text in a query",
            )),
        }
    }

    fn form(&self) -> Option<String> {
        let one = |c: char| match c {
            KEPT => r"[\p{Alphabetic}\p{N}]".to_string(),
            other => regex::escape(&other.to_string()),
        };
        Some(self.format.chars().map(one).collect())
    }

    fn mask(&self, unmasked: &Unmasked) -> Result<ArrayRef> {
        each(unmasked.values, self.hidden.len(), |value, masks| {
            self.apply(value, masks)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn masked(format: &str, value: &str) -> String {
        let mut mask = vec![];
        Format::try_new(format).unwrap().apply(value, &mut mask);
        String::from_utf8(mask).unwrap()
    }

    #[test]
    fn a_value_that_fits_keeps_what_the_format_keeps() {
        for (format, value, mask) in [
            ("XXX-XX-####", "123-45-6789", "XXX-XX-6789"),
            ("XXX-XXX-####", "555-867-5309", "XXX-XXX-5309"),
            ("##XXX", "KÄ1é9", "KÄXXX"),
            ("(XXX) #", "(abc) d", "(XXX) d"),
            ("XX", "no", "XX"),
            ("X#", "한글", "X글"),
            ("é#X", "éaä", "éaX"),
            ("Xé#", "aéß", "Xéß"),
        ] {
            assert_eq!(masked(format, value), mask, "{format}");
        }
    }

    #[test]
    fn of_a_value_that_does_not_fit_nothing_is_kept() {
        for value in [
            "",
            "6789",
            "123-45-67890",
            "123-45-678",
            "123 45 6789",
            "123-45-678-",
            "a123-45-6789",
            " 123-45-6789",
            "+49 170 1234567",
            "1234-5-6789",
            "123-45-678\u{1112}",
            "12\u{93e}-45-6789",
            "e\u{301}3-45-6789",
        ] {
            assert_eq!(masked("XXX-XX-####", value), "XXX-XX-XXXX", "{value}");
        }
    }

    /// The bytes and the characters of a value that is not ASCII differ in number from each other,
    /// and from those of a format.
    #[test]
    fn a_value_of_other_characters_than_the_format_does_not_fit() {
        for (format, value, mask) in [
            ("éX", "abc", "éX"),
            ("éX", "ab", "éX"),
            ("éX", "é", "éX"),
            ("X#", "é", "XX"),
            ("X#", "éää", "XX"),
            ("#-X", "é-", "X-X"),
        ] {
            assert_eq!(masked(format, value), mask, "{format} {value}");
        }
    }

    #[test]
    fn a_format_that_hides_nothing_is_refused() {
        for format in ["", "####", "abc", "xxx", &"X".repeat(256)] {
            let refused = Format::try_new(format).unwrap_err().to_string();
            assert!(refused.contains("at least one"), "{refused}");
        }
    }

    proptest! {
        /// Where the format has `X`, the masked value has `X`. Where the format has `#`, the masked
        /// value has `X` or the character of the value.
        #[test]
        fn hidden_characters_never_leave(format in "[X#(). -]{0,8}X[X#(). -]{0,8}", value in ".{0,12}") {
            let mask: Vec<char> = masked(&format, &value).chars().collect();
            prop_assert_eq!(mask.len(), format.chars().count());
            for ((format, mask), value) in format.chars().zip(mask).zip(value.chars().map(Some).chain(std::iter::repeat(None))) {
                match format {
                    KEPT => prop_assert!(mask == HIDDEN || Some(mask) == value),
                    other => prop_assert_eq!(mask, other),
                }
            }
        }
    }
}
