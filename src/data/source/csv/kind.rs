//! The kinds of texts in a CSV file, and the type that the texts in a column imply.
//!
//! A text is treated as a number only if the number preserves the whole text. `007`, `+7`, whole
//! numbers beyond 64 bits and numbers with more digits than a 64-bit float preserves remain texts.
//! Otherwise, a postcode or an identifier would lose zeros and digits. The only exception is `-0`,
//! which programs write for a float: it is the number 0. A text with a time zone is treated as a
//! time only if the zone is UTC in all texts of the column, because no time may lose its zone.

use arrow::datatypes::{DataType, TimeUnit};
use std::fmt::LowerExp;

/// The kind of one text. Kinds of times are ordered by the number of digits of their fractional
/// seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Boolean,
    Integer,
    /// A whole number that a 64-bit float cannot store exactly.
    Long,
    Float,
    Date,
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
    Text,
}

/// The flag for a column that contains times which 64-bit nanoseconds cannot represent.
const FAR: u16 = 1 << 13;
/// The flag for a column that contains times without a zone.
const LOCAL: u16 = 1 << 14;
/// The flag for a column that contains times in UTC.
const IN_UTC: u16 = 1 << 15;
/// The UTC zone as Arrow writes it.
const UTC: &str = "+00:00";

/// The set of the kinds of all texts in a column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Kinds(u16);

impl Kinds {
    const TIMES: u16 = bit(Kind::Second) | bit(Kind::Millisecond) | bit(Kind::Microsecond) | bit(Kind::Nanosecond);
    const INTEGERS: u16 = bit(Kind::Integer) | bit(Kind::Long);
    const NUMBERS: u16 = bit(Kind::Integer) | bit(Kind::Float);

    /// Adds the kind of a text. An empty text is NULL and adds no kind.
    pub(crate) fn add(&mut self, text: &str) {
        if !text.is_empty() {
            let kind = kind(text);
            let (zone, far) = match Self::TIMES & bit(kind) != 0 {
                true if is_in_utc(text) => (IN_UTC, is_far(text)),
                true => (LOCAL, is_far(text)),
                false => (0, false),
            };
            self.0 |= bit(kind) | zone | if far { FAR } else { 0 };
        }
    }

    /// Returns the union of both sets.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns a type that can represent all texts. It is text if there is no other such type.
    pub(crate) fn data_type(self) -> DataType {
        let only = |kinds: u16| self.0 != 0 && self.0 & !kinds == 0;
        let is_in_utc = only(Self::TIMES | IN_UTC | FAR);
        let time = |unit| DataType::Timestamp(unit, is_in_utc.then(|| UTC.into()));
        match () {
            () if only(bit(Kind::Boolean)) => DataType::Boolean,
            () if only(Self::INTEGERS) => DataType::Int64,
            () if only(Self::NUMBERS) => DataType::Float64,
            () if only(bit(Kind::Date)) => DataType::Date32,
            () if is_in_utc || only(Self::TIMES | LOCAL | FAR) => match () {
                // No type can store both nanoseconds and such distant times.
                () if self.0 & bit(Kind::Nanosecond) != 0 && self.0 & FAR != 0 => DataType::Utf8,
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

/// Returns true if a text is a value of a type that [`Kinds::data_type`] returned.
pub(super) fn fits(text: &str, data_type: &DataType) -> bool {
    let kind = || kind(text);
    match data_type {
        DataType::Boolean => kind() == Kind::Boolean,
        DataType::Int64 => integer(text).is_some(),
        DataType::Float64 => float(text).is_some(),
        DataType::Date32 => kind() == Kind::Date,
        DataType::Timestamp(unit, zone) => is_time_of(text, *unit, zone.is_some()) && !is_too_far(text, data_type),
        _ => true,
    }
}

/// Returns true if CAST to a type preserves the whole text: a date has no time of day, a time for a
/// type without a zone has no zone, and no number or time has more digits than its type stores. A
/// date such as `2020-01-31` may be cast to a time, which is the first second of that day.
pub(crate) fn is_kept_by_cast(text: &str, data_type: &DataType) -> bool {
    let is_word = || !text.contains(|c: char| c.is_ascii_digit());
    let is_time = |text: &str, unit| (Kind::Date..=most(unit)).contains(&kind(text));
    match data_type {
        DataType::Float64 => {
            let number: Option<f64> = text.trim().parse().ok();
            number.is_some_and(|n| if n.is_finite() { holds(n, text) } else { is_word() })
        }
        DataType::Float32 => {
            let number: Option<f32> = text.trim().parse().ok();
            number.is_some_and(|n| {
                if n.is_finite() {
                    has_digits_of(&n, text)
                } else {
                    is_word()
                }
            })
        }
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale) => {
            let fraction = text.trim().split_once('.').map_or("", |(_, fraction)| fraction);
            let digits = fraction.trim_end_matches('0');
            !text.contains(['e', 'E']) && digits.len() <= usize::try_from(*scale).unwrap_or_default()
        }
        DataType::Date32 => kind(text) == Kind::Date,
        // A Date64 is a day with its time of day, in milliseconds.
        DataType::Date64 => is_time(text, TimeUnit::Millisecond) && !is_in_utc(text),
        DataType::Timestamp(unit, None) => is_time(text, *unit) && !is_in_utc(text),
        DataType::Timestamp(unit, Some(_)) => is_time(without_zone(text), *unit),
        DataType::Time32(unit) | DataType::Time64(unit) => {
            // A time such as `10:20` has no seconds.
            text.len() == MINUTE || is_time(&format!("2000-01-01T{text}"), *unit)
        }
        _ => true,
    }
}

/// Returns a time without its zone.
fn without_zone(text: &str) -> &str {
    let end = text.get(DAY + CLOCK..).and_then(|rest| {
        let zone = rest.find(|c: char| c != '.' && !c.is_ascii_digit())?;
        Some(DAY + CLOCK + zone)
    });
    &text[..end.unwrap_or(text.len())]
}

/// Returns the kind of a time with the maximum number of fractional digits that `unit` can
/// represent.
fn most(unit: TimeUnit) -> Kind {
    match unit {
        TimeUnit::Second => Kind::Second,
        TimeUnit::Millisecond => Kind::Millisecond,
        TimeUnit::Microsecond => Kind::Microsecond,
        TimeUnit::Nanosecond => Kind::Nanosecond,
    }
}

/// Returns true if a text is a number, a date, a time, or one of the words true and false.
pub(super) fn is_value(text: &str) -> bool {
    kind(text) != Kind::Text
}

/// Parses a 64-bit integer without leading zeros; `None` for any other text. `-0` is 0.
pub(crate) fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let is_plain = match digits {
        [b'0'] => true,
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    is_plain.then(|| text.parse().ok()).flatten()
}

/// Returns a description of the texts that a type requires, for error messages.
pub(crate) fn wanted(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::Boolean => "true or false",
        DataType::Date32 => "a date",
        DataType::Float32 | DataType::Float64 => "a number without leading zeros that a 64-bit float holds",
        DataType::Timestamp(_, None) => "a time of the same precision without a zone",
        DataType::Timestamp(_, Some(_)) => "a time of the same precision in UTC",
        _ => "a whole number of 64 bits without leading zeros",
    }
}

/// Parses a number; `None` if a 64-bit float does not preserve the number. A number is preserved if
/// formatting the float with the same number of digits gives the same digits.
pub(crate) fn float(text: &str) -> Option<f64> {
    match text {
        "NaN" | "nan" => return Some(f64::NAN),
        "inf" => return Some(f64::INFINITY),
        "-inf" => return Some(f64::NEG_INFINITY),
        _ => {}
    }
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let is_number = match digits {
        // A number with a leading zero is a code.
        [b'0', b'0'..=b'9', ..] => false,
        [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..] => true,
        _ => false,
    };
    let is_whole = digits.iter().all(u8::is_ascii_digit);
    let has_room = !is_whole || integer(text).is_some();
    let number: Option<f64> = (is_number && has_room).then(|| text.parse().ok()).flatten();
    number.filter(|number| holds(*number, text))
}

/// The number of significant digits that every 64-bit float preserves.
const KEPT_DIGITS: usize = 15;

/// Returns true if a parsed number preserves all significant digits of its text.
fn holds(number: f64, text: &str) -> bool {
    let count = significant(text).count();
    let is_normal = number.is_normal() && count <= KEPT_DIGITS;
    match is_normal || count == 0 {
        true => number.is_finite(),
        false => number.is_finite() && has_digits_of(&number, text),
    }
}

/// Returns true if a finite number has the significant digits of its text when it is formatted with
/// the same number of digits.
fn has_digits_of(number: &impl LowerExp, text: &str) -> bool {
    let digits = || significant(text);
    let Some(more) = digits().count().checked_sub(1) else {
        return true;
    };
    let again = format!("{number:.more$e}");
    let again = again.split('e').next().unwrap_or_default();
    again.bytes().filter(u8::is_ascii_digit).eq(digits())
}

/// Returns the significant digits of a number: those before the exponent, without leading zeros.
fn significant(text: &str) -> impl Iterator<Item = u8> {
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    mantissa.bytes().filter(u8::is_ascii_digit).skip_while(|b| *b == b'0')
}

fn kind(text: &str) -> Kind {
    match text.as_bytes().first() {
        Some(b'0'..=b'9' | b'-' | b'.') => match () {
            () if integer(text).is_some() && float(text).is_some() => Kind::Integer,
            () if integer(text).is_some() => Kind::Long,
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

/// The notations for the UTC zone.
const IN_UTC_ZONES: [&str; 5] = ["Z", "z", "+00:00", "+0000", "+00"];

/// Returns true if a time ends with the UTC zone.
fn is_in_utc(text: &str) -> bool {
    text.len() > DAY + CLOCK && IN_UTC_ZONES.iter().any(|zone| text.ends_with(zone))
}

/// Returns true if a text is a time with at most as many fractional digits as `unit` can represent.
/// Its zone must be UTC if `in_utc` is true, and missing otherwise.
fn is_time_of(text: &str, unit: TimeUnit, in_utc: bool) -> bool {
    (Kind::Second..=most(unit)).contains(&kind(text)) && is_in_utc(text) == in_utc
}

/// Returns true if a text would fit a type if its time were not too far from 1970.
pub(super) fn is_too_far(text: &str, data_type: &DataType) -> bool {
    match data_type {
        DataType::Timestamp(unit @ TimeUnit::Nanosecond, zone) => {
            is_far(text) && is_time_of(text, *unit, zone.is_some())
        }
        _ => false,
    }
}

/// Returns true if a text is a time that 64-bit nanoseconds cannot represent: before 1677-09-21 or
/// after 2262-04-11.
fn is_far(text: &str) -> bool {
    use arrow::compute::kernels::cast_utils::string_to_datetime;
    let is_near = text.get(..4).is_some_and(|year| ("1678"..="2261").contains(&year));
    !is_near && string_to_datetime(&chrono::Utc, text).is_ok_and(|at| at.timestamp_nanos_opt().is_none())
}

/// The length of a date such as `2020-01-31`, in bytes.
const DAY: usize = 10;
/// The length of a time of day after a date, such as ` 10:20:30`, in bytes.
const CLOCK: usize = 9;
/// The length of a time of day without seconds, such as `10:20`, in bytes.
const MINUTE: usize = 5;

/// Returns the kind of a date such as `2020-01-31` or a time such as `2020-01-31 10:20:30.123`. A
/// time may have a `T` in place of the blank, and may end with the UTC zone.
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
    let (day, rest) = text.split_at_checked(DAY)?;
    let (clock, after) = rest.split_at_checked(CLOCK)?;
    let is_time = looks_like(day, "9999-99-99") && (looks_like(clock, " 99:99:99") || looks_like(clock, "T99:99:99"));
    // A leap second would become the second before or after it.
    if !is_time || clock.ends_with(":60") || string_to_datetime(&chrono::Utc, text).is_err() {
        return None;
    }
    let zone = after.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    let fraction = &after[..after.len() - zone.len()];
    if !zone.is_empty() && !IN_UTC_ZONES.contains(&zone) || fraction == "." {
        return None;
    }
    Some(match fraction.len().saturating_sub(1) {
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

    #[test]
    fn a_cast_that_changes_a_value_is_found() {
        let zoned = DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into()));
        let time = |unit| DataType::Timestamp(unit, None);
        for (text, data_type, is_kept) in [
            ("007.50", DataType::Float64, true),
            ("+1e5", DataType::Float64, true),
            ("-inf", DataType::Float64, true),
            ("9007199254740993", DataType::Float64, false),
            ("1e400", DataType::Float64, false),
            ("1e-400", DataType::Float64, false),
            ("2020-01-31", DataType::Date32, true),
            ("2020-01-31 23:59:59", DataType::Date32, false),
            ("2020-01-31T00:00:00", DataType::Date64, true),
            ("2020-01-31", time(TimeUnit::Microsecond), true),
            ("2020-01-31T10:20:30.123456", time(TimeUnit::Microsecond), true),
            ("2020-01-31T10:20:30.1234567", time(TimeUnit::Microsecond), false),
            ("2020-01-31T10:20:30+05:00", time(TimeUnit::Microsecond), false),
            ("2020-01-31T10:20:30Z", time(TimeUnit::Microsecond), false),
            ("2020-01-31T10:20:60", time(TimeUnit::Microsecond), false),
            ("007", DataType::Int64, true),
            ("0.1", DataType::Float32, true),
            ("16777217", DataType::Float32, false),
            ("1.20", DataType::Decimal128(5, 1), true),
            ("1.239", DataType::Decimal128(5, 2), false),
            ("2020-01-31T10:20:30+05:00", zoned.clone(), true),
            ("2020-01-31T10:20:60+05:00", zoned.clone(), false),
            ("2020-01-31T10:20:30.1234567Z", zoned, false),
            ("10:20:30.5", DataType::Time64(TimeUnit::Microsecond), true),
            ("10:20:60", DataType::Time64(TimeUnit::Microsecond), false),
            ("10:20", DataType::Time32(TimeUnit::Second), true),
        ] {
            assert_eq!(is_kept_by_cast(text, &data_type), is_kept, "{text} {data_type}");
        }
    }

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
            "00",
            "-00",
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
    fn minus_zero_is_the_number_zero() {
        assert_eq!((integer("-0"), float("-0")), (Some(0), Some(0.0)));
    }

    #[test]
    fn a_column_has_the_type_that_all_its_texts_fit() {
        let time = |unit| DataType::Timestamp(unit, None);
        let utc = |unit| DataType::Timestamp(unit, Some(UTC.into()));
        for (texts, expected) in [
            (&["0", "-7", "9223372036854775807"][..], DataType::Int64),
            (&["", "31", ""], DataType::Int64),
            (&["-0"], DataType::Int64),
            (&["12", "-0", "9007199254740993"], DataType::Int64),
            (&["0.5", "-0", "7"], DataType::Float64),
            (&["0.5", "-.5", "5.", "1e5", "2.5E-3", "NaN", "-inf"], DataType::Float64),
            (&["7", "7.5"], DataType::Float64),
            (&["true", "FALSE"], DataType::Boolean),
            (&["true", "1"], DataType::Utf8),
            (&["2020-01-31"], DataType::Date32),
            (&["2020-01-62"], DataType::Utf8),
            (&["2020-01-31", "2020"], DataType::Utf8),
            (&["2020-01-31 10:20:30"], time(TimeUnit::Second)),
            (
                &["2020-01-31 00:00:00", "2020-01-31T10:20:30.5"],
                time(TimeUnit::Millisecond),
            ),
            (&["2020-01-31", "2020-01-31T00:00:00"], DataType::Utf8),
            (&["2016-12-31 23:59:59", "2016-12-31 23:59:60"], DataType::Utf8),
            (&["2016-12-31T23:59:60.5Z"], DataType::Utf8),
            (
                &["2020-01-31T10:20:30.5Z", "2020-01-31 10:20:30+00:00"],
                utc(TimeUnit::Millisecond),
            ),
            (&["2020-01-31T10:20:30+02:00"], DataType::Utf8),
            (&["2020-01-31T10:20:30Z", "2020-01-31T10:20:30"], DataType::Utf8),
            (&["2020-01-31T10:20:30Z", "2020-01-31"], DataType::Utf8),
            (&["2020-01-31T10:20:30Z", "2020-01-31T10:20:30+02:00"], DataType::Utf8),
            (&["9007199254740993", "7"], DataType::Int64),
            (&["9007199254740993", "0.5"], DataType::Utf8),
            (&["9007199254740992", "0.5"], DataType::Float64),
            (&["0.5", "5E400"], DataType::Utf8),
            (&["0.5", "1e-400"], DataType::Utf8),
            (
                &["0.10000000000000001", "3.141592653589793", "1e23", "5e-324"],
                DataType::Float64,
            ),
            (&["0.1234567890123456789"], DataType::Utf8),
            (&["2020-01-31 10:20:30.123456"], time(TimeUnit::Microsecond)),
            (&["2020-01-31 10:20:30.123456789"], time(TimeUnit::Nanosecond)),
            (
                &["2020-01-31 10:20:30.1234567", "9999-12-31 23:59:59.9999999"],
                DataType::Utf8,
            ),
            (&["2020-01-31 10:20:30.1234567", "0001-01-01 00:00:00"], DataType::Utf8),
            (
                &["1677-09-21 00:12:44Z", "2020-01-31 10:20:30.1234567Z"],
                utc(TimeUnit::Nanosecond),
            ),
            (
                &["2020-01-31 10:20:30.123456", "9999-12-31 23:59:59"],
                time(TimeUnit::Microsecond),
            ),
            (&["2020-01-31 25:20:30"], DataType::Utf8),
            (&["NA", "5"], DataType::Utf8),
            (&["", ""], DataType::Utf8),
            (&[], DataType::Utf8),
        ] {
            assert_eq!(of(texts), expected, "{texts:?}");
        }
    }
}
