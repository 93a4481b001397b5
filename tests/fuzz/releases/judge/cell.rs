//! Values as the judge compares them: by their value, or by their text if the release contains them
//! as text.

use arrow::array::*;
use arrow::compute::cast;
use arrow::datatypes::*;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use chrono::{DateTime, NaiveDateTime};
use std::cmp::Ordering;

/// A number as a decimal: `digits` times ten to the power of `exponent`.
#[derive(Debug, Clone, Copy)]
pub struct Exact {
    pub digits: i128,
    pub exponent: i32,
}

impl Exact {
    /// Returns the number that a decimal text such as `-12.50` or `1e-7` denotes; `None` for other
    /// texts.
    pub fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = text.trim().split_once(['e', 'E']).unwrap_or((text.trim(), "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
        let exponent = exponent.parse::<i32>().ok()? - fraction.len() as i32;
        let mut exact = Self { digits, exponent };
        while exact.digits != 0 && exact.digits % 10 == 0 {
            (exact.digits, exact.exponent) = (exact.digits / 10, exact.exponent + 1);
        }
        Some(exact)
    }

    /// Returns the greatest whole number of units of 10^-`scale` that is not above the number;
    /// `None` if it is too large.
    pub fn floor(self, scale: i32) -> Option<i128> {
        let shift = self.exponent + scale;
        match 10i128.checked_pow(shift.unsigned_abs()) {
            _ if self.digits == 0 => Some(0),
            Some(power) if shift >= 0 => self.digits.checked_mul(power),
            Some(power) => Some(self.digits.div_euclid(power)),
            None if shift >= 0 => None,
            None => Some(if self.digits < 0 { -1 } else { 0 }),
        }
    }

    pub fn as_f64(self) -> f64 {
        format!("{}e{}", self.digits, self.exponent).parse().unwrap_or(f64::NAN)
    }
}

/// The kind of a value for a hierarchy.
#[derive(Debug, Clone)]
pub enum Ground {
    Null,
    /// A finite number.
    Number(Exact),
    /// NaN and infinity.
    NotFinite,
    /// A date, time or timestamp: its ticks, and its calendar time if it has one.
    Instant(i64, Option<NaiveDateTime>),
    /// Text and truth values.
    Text,
    /// A value that cannot be generalized.
    Other,
}

/// A value of the source or of a release.
#[derive(Debug, Clone)]
pub struct Cell {
    /// The value itself, independent of its type.
    pub key: Option<String>,
    /// The value as it is written.
    pub text: Option<String>,
    pub ground: Ground,
}

impl Cell {
    /// Compares two values of a column. NULL comes last.
    pub fn order(&self, other: &Self) -> Ordering {
        match (&self.ground, &other.ground) {
            (Ground::Null, Ground::Null) => Ordering::Equal,
            (Ground::Null, _) => Ordering::Greater,
            (_, Ground::Null) => Ordering::Less,
            (Ground::Number(a), Ground::Number(b)) => match a.exponent == b.exponent {
                true => a.digits.cmp(&b.digits),
                false => {
                    let scale = -a.exponent.min(b.exponent);
                    match (a.floor(scale), b.floor(scale)) {
                        (Some(a), Some(b)) => a.cmp(&b),
                        _ => a.as_f64().total_cmp(&b.as_f64()),
                    }
                }
            },
            (Ground::Instant(a, _), Ground::Instant(b, _)) => a.cmp(b),
            (Ground::NotFinite, Ground::NotFinite | Ground::Number(_)) | (Ground::Number(_), Ground::NotFinite) => {
                self.place().total_cmp(&other.place())
            }
            _ => self.text.cmp(&other.text),
        }
    }

    /// Returns the position of a number in the order of all numbers: minus infinity comes before
    /// the finite numbers, infinity and NaN come after them.
    fn place(&self) -> f64 {
        match self.ground {
            Ground::NotFinite => self.text.as_ref().and_then(|t| t.parse().ok()).unwrap_or(f64::NAN),
            _ => 0.0,
        }
    }
}

/// Returns the type of the values without a dictionary or another encoding.
pub fn plain_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => plain_type(values),
        other => other,
    }
}

/// Returns true if a column of this type is text.
pub fn is_text(data_type: &DataType) -> bool {
    matches!(
        plain_type(data_type),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
    )
}

/// Returns true if a column of this type contains whole numbers only.
pub fn is_whole(data_type: &DataType) -> bool {
    match plain_type(data_type) {
        DataType::Decimal32(_, s)
        | DataType::Decimal64(_, s)
        | DataType::Decimal128(_, s)
        | DataType::Decimal256(_, s) => *s <= 0,
        other => other.is_integer(),
    }
}

/// Returns the values of a column. `source` is the type of the column in the source: a format that
/// lacks the type stores its ticks as numbers.
pub fn cells(values: &ArrayRef, source: &DataType) -> Vec<Cell> {
    if values.data_type() == &DataType::Null {
        let null = Cell {
            key: None,
            text: None,
            ground: Ground::Null,
        };
        return vec![null; values.len()];
    }
    let plain = cast(values, plain_type(values.data_type())).expect("a dictionary has values");
    let ticks = plain.data_type().is_integer() && plain_type(source).is_temporal();
    let plain = match (ticks, plain_type(source)) {
        (false, _) => plain,
        (true, of @ DataType::Time32(_)) => {
            cast(&cast(&plain, &DataType::Int32).expect("integers"), of).expect("a time")
        }
        (true, of) => cast(&cast(&plain, &DataType::Int64).expect("integers"), of).expect("an instant"),
    };
    let options = FormatOptions::default();
    let shown = ArrayFormatter::try_new(plain.as_ref(), &options).expect("values have a text");
    let grounds = grounds(&plain);
    (0..plain.len())
        .zip(grounds)
        .map(|(i, ground)| {
            let text = (!plain.is_null(i)).then(|| shown.value(i).to_string());
            let key = match &ground {
                Ground::Null => None,
                Ground::Number(n) => Some(format!("{}e{}", n.digits, if n.digits == 0 { 0 } else { n.exponent })),
                Ground::Instant(ticks, _) => Some(format!("t{}", i128::from(*ticks) * nanoseconds(plain.data_type()))),
                _ => text.clone(),
            };
            Cell { key, text, ground }
        })
        .collect()
}

fn nanoseconds(data_type: &DataType) -> i128 {
    match data_type {
        DataType::Date32 => 86_400_000_000_000,
        DataType::Date64 => 1_000_000,
        DataType::Timestamp(unit, _) | DataType::Time32(unit) | DataType::Time64(unit) | DataType::Duration(unit) => {
            match unit {
                TimeUnit::Second => 1_000_000_000,
                TimeUnit::Millisecond => 1_000_000,
                TimeUnit::Microsecond => 1_000,
                TimeUnit::Nanosecond => 1,
            }
        }
        _ => 1,
    }
}

fn grounds(values: &ArrayRef) -> Vec<Ground> {
    let data_type = values.data_type();
    let one = |i: usize, texts: &StringArray, ticks: &Int64Array| match data_type {
        _ if values.is_null(i) => Ground::Null,
        t if t.is_floating() => {
            // The text is the shortest decimal that equals the number.
            let x: f64 = texts.value(i).parse().unwrap_or(f64::NAN);
            match x.is_finite() {
                true => number(texts.value(i)),
                false => Ground::NotFinite,
            }
        }
        t if t.is_numeric() => number(texts.value(i)),
        t if t.is_temporal() => Ground::Instant(ticks.value(i), calendar(data_type, ticks.value(i))),
        DataType::Boolean => Ground::Text,
        t if is_text(t) => Ground::Text,
        _ => Ground::Other,
    };
    let nothing = || StringArray::from(vec![None::<&str>; values.len()]);
    let texts = match data_type.is_numeric() {
        true => cast(values, &DataType::Utf8).map_or_else(|_| nothing(), |t| t.as_string::<i32>().clone()),
        false => nothing(),
    };
    let ticks = match data_type {
        DataType::Date32 | DataType::Time32(_) => {
            cast(values, &DataType::Int32).and_then(|t| cast(&t, &DataType::Int64))
        }
        t if t.is_temporal() => cast(values, &DataType::Int64),
        _ => Ok(std::sync::Arc::new(Int64Array::from(vec![0; values.len()])) as ArrayRef),
    };
    let ticks = ticks.map_or_else(
        |_| Int64Array::from(vec![0; values.len()]),
        |t| t.as_primitive::<Int64Type>().clone(),
    );
    (0..values.len()).map(|i| one(i, &texts, &ticks)).collect()
}

fn number(text: &str) -> Ground {
    Exact::parse(text).map_or(Ground::Other, Ground::Number)
}

/// Returns the local calendar time of a date or timestamp.
fn calendar(data_type: &DataType, ticks: i64) -> Option<NaiveDateTime> {
    let nanos = i128::from(ticks) * nanoseconds(data_type);
    let seconds = i64::try_from(nanos.div_euclid(1_000_000_000)).ok()?;
    let at = DateTime::from_timestamp(seconds, nanos.rem_euclid(1_000_000_000) as u32)?.naive_utc();
    match data_type {
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(_, None) => Some(at),
        DataType::Timestamp(_, Some(zone)) => at.checked_add_signed(offset(zone)?),
        _ => None,
    }
}

/// Returns the offset of a zone that is written as an offset, such as `+02:00`.
fn offset(zone: &str) -> Option<chrono::TimeDelta> {
    if zone == "UTC" {
        return Some(chrono::TimeDelta::zero());
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    chrono::TimeDelta::try_minutes(sign * (hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?))
}
