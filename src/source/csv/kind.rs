//! The kind of a text in a CSV file, and the type of a column from the kinds of its texts.
//!
//! A text is a number only if the number says all of it: `007`, `+7` and a number beyond 64 bits are texts, because a
//! postcode or an identifier would lose its zeros and digits otherwise.

use arrow::datatypes::{DataType, TimeUnit};

/// The kind of one text. Later kinds of times have more digits after the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Boolean,
    Integer,
    Float,
    Date,
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
    Text,
}

/// The kinds of the texts of a column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Kinds(u16);

impl Kinds {
    const TIMES: u16 = bit(Kind::Second) | bit(Kind::Millisecond) | bit(Kind::Microsecond) | bit(Kind::Nanosecond);
    const NUMBERS: u16 = bit(Kind::Integer) | bit(Kind::Float);

    /// Adds the kind of a text. An empty text is NULL, which is of every type.
    pub(crate) fn add(&mut self, text: &str) {
        if !text.is_empty() {
            self.0 |= bit(kind(text));
        }
    }

    /// Returns the kinds of both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the type that every text fits; text if there is none.
    pub(crate) fn data_type(self) -> DataType {
        let only = |kinds: u16| self.0 != 0 && self.0 & !kinds == 0;
        let time = |unit| DataType::Timestamp(unit, None);
        match () {
            () if only(bit(Kind::Boolean)) => DataType::Boolean,
            () if only(bit(Kind::Integer)) => DataType::Int64,
            () if only(Self::NUMBERS) => DataType::Float64,
            () if only(bit(Kind::Date)) => DataType::Date32,
            () if only(bit(Kind::Date) | Self::TIMES) => match () {
                () if self.0 & bit(Kind::Nanosecond) != 0 => time(TimeUnit::Nanosecond),
                () if self.0 & bit(Kind::Microsecond) != 0 => time(TimeUnit::Microsecond),
                () if self.0 & bit(Kind::Millisecond) != 0 => time(TimeUnit::Millisecond),
                () => time(TimeUnit::Second),
            },
            () => DataType::Utf8,
        }
    }
}

const fn bit(kind: Kind) -> u16 {
    1 << kind as u16
}

/// Returns true if a text is of a type that [`Kinds::data_type`] returns.
pub(super) fn fits(text: &str, data_type: &DataType) -> bool {
    let kind = || kind(text);
    match data_type {
        DataType::Boolean => kind() == Kind::Boolean,
        DataType::Int64 => integer(text).is_some(),
        DataType::Float64 => float(text).is_some(),
        DataType::Date32 => kind() == Kind::Date,
        DataType::Timestamp(unit, _) => {
            let most = match unit {
                TimeUnit::Second => Kind::Second,
                TimeUnit::Millisecond => Kind::Millisecond,
                TimeUnit::Microsecond => Kind::Microsecond,
                TimeUnit::Nanosecond => Kind::Nanosecond,
            };
            (Kind::Date..=most).contains(&kind())
        }
        _ => true,
    }
}

/// Returns true if a text is a number, a date, a time, true or false.
pub(super) fn is_value(text: &str) -> bool {
    kind(text) != Kind::Text
}

/// Returns the whole number that a text says, if it says nothing else.
pub(super) fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let is_plain = match digits {
        [b'0'] => text == "0",
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    is_plain.then(|| text.parse().ok()).flatten()
}

/// Returns the number that a text says. Fractions end where a 64-bit float ends.
pub(super) fn float(text: &str) -> Option<f64> {
    match text {
        "NaN" | "nan" => return Some(f64::NAN),
        "inf" => return Some(f64::INFINITY),
        "-inf" => return Some(f64::NEG_INFINITY),
        _ => {}
    }
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let is_number = match digits {
        // A zero before another digit belongs to a code.
        [b'0', b'0'..=b'9', ..] => false,
        [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..] => true,
        _ => false,
    };
    let is_whole = digits.iter().all(u8::is_ascii_digit);
    let has_room = !is_whole || integer(text).is_some();
    (is_number && has_room).then(|| text.parse().ok()).flatten()
}

fn kind(text: &str) -> Kind {
    match text.as_bytes().first() {
        Some(b'0'..=b'9' | b'-' | b'.') => match () {
            () if integer(text).is_some() => Kind::Integer,
            () if float(text).is_some() => Kind::Float,
            () => time(text).unwrap_or(Kind::Text),
        },
        Some(b't' | b'T' | b'f' | b'F') if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") => {
            Kind::Boolean
        }
        Some(_) if float(text).is_some() => Kind::Float,
        _ => Kind::Text,
    }
}

/// Returns the kind of `2020-01-31` and `2020-01-31 10:20:30.123`, the latter also with `T` and with a time zone.
fn time(text: &str) -> Option<Kind> {
    use arrow::compute::kernels::cast_utils::{Parser, string_to_datetime};
    let looks_like = |text: &str, form: &str| {
        let bytes = text.bytes().zip(form.bytes());
        text.len() == form.len()
            && bytes
                .into_iter()
                .all(|(b, f)| if f == b'9' { b.is_ascii_digit() } else { b == f })
    };
    if looks_like(text, "9999-99-99") {
        return arrow::datatypes::Date32Type::parse(text).map(|_| Kind::Date);
    }
    let (day, rest) = text.split_at_checked(10)?;
    let (clock, after) = rest.split_at_checked(9)?;
    let is_time = looks_like(day, "9999-99-99") && (looks_like(clock, " 99:99:99") || looks_like(clock, "T99:99:99"));
    if !is_time || string_to_datetime(&chrono::Utc, text).is_err() {
        return None;
    }
    let fraction = after.strip_prefix('.').map_or(Some(0), |fraction| {
        let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
        (digits > 0).then_some(digits)
    });
    Some(match fraction? {
        0 => Kind::Second,
        1..=3 => Kind::Millisecond,
        4..=6 => Kind::Microsecond,
        7..=9 => Kind::Nanosecond,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[&str]) -> DataType {
        let mut kinds = Kinds::default();
        texts.iter().for_each(|text| kinds.add(text));
        let data_type = kinds.data_type();
        assert!(
            texts.iter().all(|text| text.is_empty() || fits(text, &data_type)),
            "{texts:?}"
        );
        data_type
    }

    #[test]
    fn what_is_no_plain_number_stays_text() {
        for code in [
            "007",
            "01234",
            "+7",
            "-0",
            "00",
            "-07",
            "9223372036854775808",
            "0x1F",
            "1_000",
            "1,5",
            "١٢",
            "--1",
        ] {
            assert_eq!(of(&[code]), DataType::Utf8, "{code}");
            assert_eq!(of(&["12", code, "13"]), DataType::Utf8, "{code}");
            assert!(
                !fits(code, &DataType::Int64) && !fits(code, &DataType::Float64),
                "{code}"
            );
        }
        for code in ["007.5", "-00.5", "1.2.3", "1e", "e5", ".", "-", "-.", "1.5f"] {
            assert_eq!(of(&[code]), DataType::Utf8, "{code}");
            assert!(!fits(code, &DataType::Float64), "{code}");
        }
    }

    #[test]
    fn a_column_has_the_type_that_all_its_texts_fit() {
        let time = |unit| DataType::Timestamp(unit, None);
        for (texts, expected) in [
            (&["0", "-7", "9223372036854775807"][..], DataType::Int64),
            (&["", "31", ""], DataType::Int64),
            (&["0.5", "-.5", "5.", "1e5", "2.5E-3", "NaN", "-inf"], DataType::Float64),
            (&["7", "7.5"], DataType::Float64),
            (&["true", "FALSE"], DataType::Boolean),
            (&["true", "1"], DataType::Utf8),
            (&["2020-01-31"], DataType::Date32),
            (&["2020-01-62"], DataType::Utf8),
            (&["2020-01-31", "2020"], DataType::Utf8),
            (&["2020-01-31 10:20:30"], time(TimeUnit::Second)),
            (&["2020-01-31", "2020-01-31T10:20:30.5Z"], time(TimeUnit::Millisecond)),
            (&["2020-01-31 10:20:30.123456"], time(TimeUnit::Microsecond)),
            (&["2020-01-31 10:20:30.123456789+01:00"], time(TimeUnit::Nanosecond)),
            (&["2020-01-31 25:20:30"], DataType::Utf8),
            (&["NA", "5"], DataType::Utf8),
            (&["", ""], DataType::Utf8),
            (&[], DataType::Utf8),
        ] {
            assert_eq!(of(texts), expected, "{texts:?}");
        }
    }
}
