//! Finds siblings of a column's values. Siblings are values that must be released with the same
//! label, such as all days in a year, all ages above 89, or all ZIP codes in an area. If a column
//! contains only one day of a year, its own values do not show whether the hierarchy releases only
//! the year, but siblings of this day do.

use super::facts::ValueKind;
use super::harbor::{Dates, Limited, WrittenForm, years};
use super::oldest::{OLD, OLDER, oldest_year};
use crate::base::error::Result;
use arrow::array::{ArrayRef, AsArray, Date32Array, Float64Array, StringArray};
use arrow::compute::{can_cast_types, cast, concat};
use arrow::datatypes::{DataType, Date32Type, Float64Type};
use chrono::NaiveDate;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Days that are far apart and are in the same year in every time zone.
const DAYS: [(u32, u32); 3] = [(1, 2), (7, 15), (12, 30)];

impl Limited {
    /// Returns the values, followed by some siblings of them. Returns only the values if the limit
    /// has no siblings or their type cannot be converted to that of the values.
    pub fn with_siblings(self, values: &ArrayRef) -> Result<ArrayRef> {
        let texts = cast(values, &DataType::Utf8)?;
        let texts: Vec<&str> = texts.as_string::<i32>().iter().flatten().map(str::trim).collect();
        let of_texts =
            |siblings: BTreeSet<String>| Arc::new(siblings.into_iter().map(Some).collect::<StringArray>()) as _;
        let siblings: ArrayRef = match self {
            Self::Identifier(_) | Self::PartOfDate | Self::Place => return Ok(Arc::clone(values)),
            Self::Ages => {
                let others = OLDER.map(|years| f64::from(OLD + years));
                above(values, |age| age >= f64::from(OLD), &others)?
            }
            Self::BirthYears => {
                let oldest = oldest_year();
                let others = OLDER.map(|years| f64::from(oldest - 1 - years));
                above(values, |year| year < f64::from(oldest), &others)?
            }
            Self::Dates(Dates { spelling, .. }) => match spelling {
                WrittenForm::AsDates => {
                    let years: BTreeSet<i64> = years(values)?.into_iter().flatten().collect();
                    let days = years.into_iter().flat_map(days_of).map(Date32Type::from_naive_date);
                    Arc::new(Date32Array::from_iter_values(days))
                }
                WrittenForm::Spelled(spelling) => {
                    let years = texts.iter().filter_map(|text| spelling.year(text));
                    let years: BTreeSet<i64> = years.collect();
                    let days = years.into_iter().flat_map(days_of);
                    of_texts(days.map(|day| day.format(spelling.format).to_string()).collect())
                }
                WrittenForm::YearFirst => of_texts(texts.iter().map(|text| turned(text, 4)).collect()),
            },
            Self::ZipCodes => {
                // ZIP codes that are stored as whole numbers have lost their leading zeros.
                let whole = ValueKind::of(values.data_type()) == ValueKind::Integer;
                let lost = |text: &str| match (whole, text.len()) {
                    (true, ..=5) => 5 - text.len(),
                    (true, length) => 9_usize.saturating_sub(length),
                    (false, _) => 0,
                };
                let turn = |text: &&str| turned(text, 3_usize.saturating_sub(lost(text)));
                of_texts(texts.iter().map(turn).collect())
            }
        };
        if !can_cast_types(siblings.data_type(), values.data_type()) {
            return Ok(Arc::clone(values));
        }
        let siblings = cast(&siblings, values.data_type())?;
        Ok(concat(&[values.as_ref(), siblings.as_ref()])?)
    }
}

/// Returns the days of [`DAYS`] in a year.
fn days_of(year: i64) -> impl Iterator<Item = NaiveDate> {
    let year = i32::try_from(year).ok();
    let days = DAYS.into_iter();
    days.filter_map(move |(month, day)| NaiveDate::from_ymd_opt(year?, month, day))
}

/// Returns `others` if `is` returns true for at least one value, and otherwise an empty array.
fn above(values: &ArrayRef, is: impl Fn(f64) -> bool, others: &[f64]) -> Result<ArrayRef> {
    let numbers = cast(values, &DataType::Float64)?;
    let has_some = numbers.as_primitive::<Float64Type>().iter().flatten().any(is);
    let others = others.iter().copied().filter(|_| has_some);
    Ok(Arc::new(Float64Array::from_iter_values(others)))
}

/// Returns the text with every digit after the first `kept` characters replaced by a different
/// digit.
fn turned(text: &str, kept: usize) -> String {
    let turn = |(place, c): (usize, char)| match c.to_digit(10).filter(|_| place >= kept) {
        Some(digit) => char::from(b'0' + ((digit + 5) % 10) as u8),
        None => c,
    };
    text.chars().enumerate().map(turn).collect()
}
