//! A second implementation of the bounds of QUANTILES: the roundest value that is above one value
//! and not above another.

use super::cell::{Cell, Ground, cells, plain_type};
use arrow::array::{ArrayRef, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use std::sync::Arc;

/// Returns the roundest value of this type that is above `below` and not above `cell`. There is
/// always one, because `cell` itself qualifies.
pub fn roundest(below: &Cell, cell: &Cell, data_type: &DataType) -> Cell {
    let data_type = plain_type(data_type);
    let written = match &cell.ground {
        Ground::Number(n) => {
            let halves = (-18..38).rev().flat_map(|power| {
                let units = n.floor(-power).unwrap_or_default();
                // 5, 50 and 500 are rounder than the numbers between their multiples.
                [units.div_euclid(5) * 5, units].map(|units| format!("{units}e{power}"))
            });
            halves.collect()
        }
        _ => on_a_clock(cell.text.as_deref().unwrap_or_default()),
    };
    let fits = |found: &Cell| below.order(found).is_lt() && found.order(cell).is_le();
    let mut found = written.iter().filter_map(|text| value(text, data_type));
    found.find(fits).unwrap_or_else(|| cell.clone())
}

/// Returns the value that a text denotes; `None` if it is not a value of the type.
fn value(text: &str, data_type: &DataType) -> Option<Cell> {
    let plain = plain(text, data_type)?;
    let mut values: ArrayRef = Arc::new(StringArray::from(vec![plain]));
    // Arrow casts whole numbers to a decimal of a negative scale, but not texts.
    if scale(data_type).is_some_and(|scale| scale < 0) {
        values = cast(&values, &DataType::Decimal256(76, 0)).ok()?;
    }
    let values = cast(&values, data_type)
        .ok()
        .filter(|values| values.null_count() == 0)?;
    cells(&values, data_type).pop()
}

/// Writes a number such as `5e3` in plain digits if the type is numeric. Returns any other text
/// unchanged.
fn plain(text: &str, data_type: &DataType) -> Option<String> {
    let Some((units, power)) = text.split_once('e').filter(|_| data_type.is_numeric()) else {
        return Some(text.to_string());
    };
    let (units, power): (i128, i32) = (units.parse().ok()?, power.parse().ok()?);
    let digits = match power {
        0.. => units
            .checked_mul(10i128.checked_pow(power.unsigned_abs())?)?
            .to_string(),
        _ => {
            let scale = power.unsigned_abs() as usize;
            let digits = format!("{:0>width$}", units.unsigned_abs(), width = scale + 1);
            let (whole, fraction) = digits.split_at(digits.len() - scale);
            let sign = if units < 0 { "-" } else { "" };
            let fraction = fraction.trim_end_matches('0');
            let point = if fraction.is_empty() { "" } else { "." };
            format!("{sign}{whole}{point}{fraction}")
        }
    };
    let (places, scale) = (
        digits.split_once('.').map_or(0, |(_, f)| f.len() as i32),
        scale(data_type),
    );
    match scale {
        Some(scale @ 0..) if places > i32::from(scale) => None,
        Some(scale @ ..0) => {
            let unit = 10i128.checked_pow(scale.unsigned_abs().into())?;
            let whole: i128 = digits.parse().ok()?;
            (whole % unit == 0).then_some(digits)
        }
        _ => Some(digits),
    }
}

fn scale(data_type: &DataType) -> Option<i8> {
    match data_type {
        DataType::Decimal32(_, s)
        | DataType::Decimal64(_, s)
        | DataType::Decimal128(_, s)
        | DataType::Decimal256(_, s) => Some(*s),
        t if t.is_integer() => Some(0),
        _ => None,
    }
}

/// Returns the beginnings of the year, month, day, hour, minute and second that contain a date or
/// time, as texts.
fn on_a_clock(text: &str) -> Vec<String> {
    const FIRST: &str = "0000-01-01T00:00:00";
    let from = if text.get(2..3) == Some(":") {
        "0000-01-01T".len()
    } else {
        0
    };
    let first = &FIRST[from..];
    let zone = text.get(first.len()..).unwrap_or_default();
    let zone = zone.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    let of = |end: &usize| {
        let kept = end.checked_sub(from).filter(|kept| *kept <= text.len())?;
        let rest = first.get(kept..first.len().min(text.len()))?;
        Some(format!("{}{rest}{zone}", &text[..kept]))
    };
    [4, 7, 10, 13, 16, 19].iter().filter_map(of).collect()
}
