//! The roundest value that separates two neighbouring values of a column. QUANTILES uses it as the
//! bound between the two values. Therefore a bound is the value of a person only if no rounder
//! value separates the two. For example, 50000 separates 48210.50 from 51234.17, and the first day
//! of a year separates a day in that year from a day in the year before.

use super::ground;
use super::number::{Number, decimal};
use crate::base::error::Result;
use arrow::array::{Array, ArrayRef, StringArray, UInt32Array};
use arrow::compute::take;
use arrow::row::{RowConverter, SortField};

/// The exponents of the powers of ten to which a number is rounded.
const POWERS: std::ops::RangeInclusive<i32> = -18..=37;
/// The minimum date and time. A date or time is truncated by replacing its end with the end of this
/// text.
const LEAST_TIME: &str = "0000-01-01T00:00:00";
/// The lengths of the prefixes of a date and time that end with the year, month, day, hour, minute
/// and second.
const UNITS: [usize; 6] = [4, 7, 10, 13, 16, 19];
/// The index at which the time of day begins in the text of a date and time.
const CLOCK: usize = 11;

/// Returns, for each value in `values`, the roundest value that is above the value at the same
/// index in `before`, and not above the value itself. If the value in `before` is NULL, or if no
/// rounder value lies between the two, the result is the value itself.
pub(super) fn roundest(before: &ArrayRef, values: &ArrayRef) -> Result<ArrayRef> {
    let (below, texts) = (ground::text(before)?, ground::text(values)?);
    let mut candidates: Vec<Vec<String>> = vec![];
    for (below, text) in below.iter().zip(&texts) {
        candidates.push(match (below, text) {
            (Some(below), Some(text)) => rounder(below, text),
            _ => vec![],
        });
    }
    let all: StringArray = candidates.iter().flatten().map(|text| Some(text.as_str())).collect();
    let parsed = ground::parse(&all, values.data_type())?;
    let converter = RowConverter::new(vec![SortField::new(values.data_type().clone())])?;
    let rows = |of: &ArrayRef| converter.convert_columns(&[ArrayRef::clone(of)]);
    let (low, high, between) = (rows(before)?, rows(values)?, rows(&parsed)?);
    let mut start = 0;
    let mut picked: Vec<u32> = vec![];
    for (i, candidates) in candidates.iter().enumerate() {
        let fits = |&c: &usize| !parsed.is_null(c) && between.row(c) > low.row(i) && between.row(c) <= high.row(i);
        let found = (start..start + candidates.len()).find(fits);
        picked.push(found.map_or(i, |c| values.len() + c) as u32);
        start += candidates.len();
    }
    let either = arrow::compute::concat(&[values.as_ref(), parsed.as_ref()])?;
    Ok(take(&either, &UInt32Array::from(picked), None)?)
}

/// Returns texts of values that may lie between two values, in descending order of roundness.
fn rounder(below: &str, text: &str) -> Vec<String> {
    match (Number::parse(below), Number::parse(text)) {
        (Some(below), Some(number)) => POWERS
            .rev()
            .filter_map(|power| number.floor_at(-power).map(|units| (units, power)))
            .flat_map(|(units, power)| [units - units.rem_euclid(5), units].map(|units| Number::new(units, power)))
            .filter(|rounder| rounder.compared(below).is_gt())
            .filter_map(written)
            .take(3)
            .collect(),
        _ => times(text),
    }
}

/// Returns a number in plain decimal notation; `None` if it has too many digits.
fn written(number: Number) -> Option<String> {
    let scale = POWERS
        .rev()
        .map(|power| -power)
        .find(|scale| number.exact_at(*scale).is_some())?
        .max(0);
    Some(decimal(number.exact_at(scale)?, scale, 0))
}

/// Returns a date or time truncated to each of its units, from coarse to fine.
fn times(text: &str) -> Vec<String> {
    let is_clock = text.as_bytes().get(2) == Some(&b':');
    let (least, skipped) = match is_clock {
        true => (&LEAST_TIME[CLOCK..], CLOCK),
        false => (LEAST_TIME, 0),
    };
    let zone = text.get(least.len()..).map_or("", |rest| {
        rest.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit())
    });
    let least = &least[..least.len().min(text.len())];
    let cut = |unit: &usize| {
        let kept = unit.checked_sub(skipped).filter(|kept| *kept <= least.len())?;
        Some(format!("{}{}{zone}", text.get(..kept)?, &least[kept..]))
    };
    UNITS.iter().filter_map(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::{DataType, TimeUnit};

    #[test]
    fn a_bound_is_the_roundest_value_between_two() {
        let utc = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
        for (data_type, below, value, found) in [
            (DataType::Int64, "48210", "51234", "50000"),
            (DataType::Int64, "34", "35", "35"),
            (DataType::Int64, "-51234", "-48210", "-50000"),
            (DataType::Int64, "-5", "17", "0"),
            (
                DataType::Int64,
                "9223372036854775806",
                "9223372036854775807",
                "9223372036854775807",
            ),
            (DataType::Float64, "48210.5", "51234.17", "50000.0"),
            (DataType::Float64, "51234.16", "51234.17", "51234.17"),
            (DataType::Float64, "51234.1", "51234.17", "51234.15"),
            (DataType::Float64, "0.0", "1e-300", "1e-300"),
            (DataType::Float64, "0.1", "0.30000000000000004", "0.3"),
            (DataType::Decimal128(9, 2), "12.25", "13.75", "13.00"),
            (DataType::Date32, "2019-12-30", "2020-03-17", "2020-01-01"),
            (DataType::Date32, "2020-03-02", "2020-03-17", "2020-03-17"),
            (
                utc.clone(),
                "2020-03-17T09:10:00Z",
                "2020-03-17T10:20:30.123Z",
                "2020-03-17T10:00:00Z",
            ),
            (
                utc,
                "2019-03-17T09:10:00Z",
                "2020-03-17T10:20:30.123Z",
                "2020-01-01T00:00:00Z",
            ),
            (
                DataType::Time64(TimeUnit::Microsecond),
                "09:10:00",
                "10:20:30.5",
                "10:00:00",
            ),
        ] {
            let of = |text: &str| ground::parse(&StringArray::from(vec![text]), &data_type).unwrap();
            let rounded = roundest(&of(below), &of(value)).unwrap();
            assert_eq!(
                ground::text(&rounded).unwrap().value(0),
                found,
                "{below} {value} {data_type}"
            );
        }
    }
}
