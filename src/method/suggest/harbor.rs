//! The limits that Safe Harbor sets for a column, and the groups of values that the column must
//! release with the same label.
//!
//! 45 CFR 164.514(b)(2)(i) lists the identifiers (A) to (R). All of them must be removed, but some
//! information may be kept in three cases. Of places smaller than a state, the first three digits
//! of a ZIP code may be kept, or 000 if 20,000 people or fewer live in the area (B). Of dates, the
//! year may be kept (C). Ages above 89, and years that reveal such an age, must form one group of
//! 90 and over (C).

use super::dates::Spelling;
use super::facts::{Facts, MOST, ValueKind};
use super::identifying::{Identifying, identifying, named_as_identifier};
use super::levels::is_years;
use super::names;
use super::oldest::{OLD, oldest_year};
use super::patterns::Pattern;
use super::postcodes::{Postcode, SPARSE, has_lost_zeros};
use super::vocabulary::Meaning;
use crate::base::error::Result;
use crate::method::hierarchy::local_times;
use arrow::array::{Array, ArrayRef, AsArray, Date32Array, Int32Array, StringArray};
use arrow::compute::{can_cast_types, cast};
use arrow::datatypes::{DataType, Date32Type, Float64Type};
use chrono::{Datelike, NaiveDate, NaiveDateTime};
use std::sync::Arc;

/// The kind of content for which Safe Harbor sets a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limited {
    /// An identifier, which must be removed entirely. The text describes it and contains its number
    /// in the list.
    Identifier(&'static str),
    /// Dates, of which the year may be kept.
    Dates(Dates),
    /// A part of a date, or an age or date in an unknown format. Nothing of it may be kept.
    PartOfDate,
    /// Ages. All ages above 89 must form one group.
    Ages,
    /// Years of birth. The years of people above 89 must form one group.
    BirthYears,
    /// ZIP codes of the United States, of which three digits may be kept.
    ZipCodes,
    /// Another place smaller than a state. It may not be kept.
    Place,
}

/// The format of dates, and whether they are dates of birth, which reveal an age.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dates {
    pub(super) spelling: WrittenForm,
    of_birth: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum WrittenForm {
    /// Values of a date or timestamp type.
    AsDates,
    /// Texts or whole numbers in this format.
    Spelled(Spelling),
    /// Texts that begin with a year of four digits.
    YearFirst,
}

impl Limited {
    /// Returns the limit that Safe Harbor sets for a column with this name and these facts about
    /// its values; `None` if there is no limit.
    pub fn of(facts: &Facts) -> Option<Self> {
        let (pattern, meaning) = (Pattern::of(facts, MOST), names::meaning(&facts.name));
        let of_birth = meaning == Some(Meaning::Birth);
        let dates = |spelling| Some(Self::Dates(Dates { spelling, of_birth }));
        let is_number = matches!(facts.kind, ValueKind::Integer | ValueKind::Number);
        if let Some(Pattern::Identifier(what)) = pattern {
            return Some(Self::Identifier(what));
        }
        if let Some(Meaning::Identifier(what)) = meaning
            && facts.kind != ValueKind::Other
        {
            return Some(Self::Identifier(what));
        }
        match pattern {
            _ if facts.kind == ValueKind::Date => return dates(WrittenForm::AsDates),
            Some(Pattern::Date(spelling)) => return dates(WrittenForm::Spelled(spelling)),
            Some(Pattern::DateTime) => return dates(WrittenForm::YearFirst),
            Some(Pattern::ShortDate) => return Some(Self::PartOfDate),
            _ => {}
        }
        match meaning {
            Some(Meaning::Age) if is_number => Some(Self::Ages),
            Some(Meaning::Birth) if is_number && names::is_of_a_day(&facts.name) && !is_years(facts) => {
                Some(Self::PartOfDate)
            }
            // Numbers with a name about birth may be something else, such as a weight at birth.
            // Before any value is read, they are assumed to be years.
            Some(Meaning::Birth) if is_number => (facts.rows == 0 || is_years(facts)).then_some(Self::BirthYears),
            // Booleans and times of day are neither ages nor dates.
            Some(Meaning::Age | Meaning::Birth | Meaning::DatePart) if facts.kind == ValueKind::Other => None,
            Some(Meaning::Birth) if is_years(facts) => Some(Self::BirthYears),
            // Ages and dates in an unknown format.
            Some(Meaning::Age | Meaning::Birth | Meaning::DatePart) => Some(Self::PartOfDate),
            Some(Meaning::Place) => Some(match is_zip(facts, pattern) {
                true => Self::ZipCodes,
                false => Self::Place,
            }),
            _ => match pattern {
                Some(Pattern::Postal(Postcode::Zip)) => Some(Self::ZipCodes),
                Some(Pattern::Postal(_)) => Some(Self::Place),
                _ => None,
            },
        }
    }

    /// Returns the limit for a column that is released unchanged; `None` if there is no limit. In
    /// addition to the limits of [`Limited::of`], codes and free texts are limited if their values
    /// identify people.
    pub fn of_unchanged(facts: &Facts) -> Option<Self> {
        // Dates that are nearly all different are not codes.
        if let Some(dates @ Self::Dates(_)) = Self::of(facts) {
            return Some(dates);
        }
        let found = match identifying(facts) {
            Some(Identifying::Form(what) | Identifying::Name(what)) => Some(what),
            Some(Identifying::FreeText) => Some("free text, which may name anybody (Safe Harbor 18)"),
            Some(Identifying::Unique) => Some("a unique code (Safe Harbor 18)"),
            _ if names::meaning(&facts.name) == Some(Meaning::FreeText) && facts.kind == ValueKind::Text => {
                Some("free text, which may name anybody (Safe Harbor 18)")
            }
            Some(Identifying::Unseen) => Some("bytes or nested values, which are not examined (Safe Harbor 17)"),
            None => None,
        };
        // Before any value is read, only the name can show that a column contains an identifier.
        let named = || named_as_identifier(&facts.name, facts.kind).filter(|_| facts.rows == 0);
        let found = found.or_else(named).map(Self::Identifier);
        // A column with few values is a category, which identifies nobody even if its name is that
        // of an identifier. Before any value is read, it is not certain that numbers are years of
        // birth.
        let is_certain = |limited: &Self| match limited {
            Self::Identifier(_) => false,
            Self::BirthYears => facts.rows > 0,
            _ => true,
        };
        let limited = || Self::of(facts).filter(is_certain);
        found.or_else(limited)
    }

    /// Returns the limit for a direct identifier; `None` if the column is not one. A direct
    /// identifier is a name, an address or a number by which others know people. The column's name
    /// or its values show that it is one. A code that only its owner knows is not a direct
    /// identifier.
    pub fn of_direct(facts: &Facts) -> Option<Self> {
        let found = match identifying(facts) {
            Some(Identifying::Form(what) | Identifying::Name(what)) => Some(what),
            Some(Identifying::Unseen) => Some("bytes or nested values, which are not examined (Safe Harbor 17)"),
            _ => named_as_identifier(&facts.name, facts.kind).filter(|_| facts.rows == 0),
        };
        found.map(Self::Identifier).filter(|limited| limited.paragraph() != 'R')
    }

    /// Returns the letter of the paragraph in 45 CFR 164.514(b)(2)(i) that sets the limit.
    pub fn paragraph(self) -> char {
        let number = match self {
            Self::Identifier(what) => {
                let number = what.rsplit_once("Safe Harbor ").map(|(_, number)| number);
                let digits = number.map(|text| text.chars().take_while(char::is_ascii_digit).collect::<String>());
                digits.and_then(|digits| digits.parse().ok()).unwrap_or(18)
            }
            Self::Dates(_) | Self::PartOfDate | Self::Ages | Self::BirthYears => 3,
            Self::ZipCodes | Self::Place => 2,
        };
        char::from(b'A' + (number - 1))
    }

    /// Describes the content of the column, and the part of it that may be released.
    pub fn what(self) -> &'static str {
        match self {
            Self::Identifier(what) => what,
            Self::Dates(_) => "dates, of which only the year may be released",
            Self::PartOfDate => {
                "a part of a date, or ages or dates in an unknown spelling, of which nothing may be released"
            }
            Self::Ages => "ages, of which those above 89 may be released as one group alone",
            Self::BirthYears => "years of birth, of which those of people above 89 may be released as one group alone",
            Self::ZipCodes => {
                "ZIP codes, of which three digits may be released, and 000 of those that 20,000 people or fewer share"
            }
            Self::Place => "places smaller than a state, which may not be released",
        }
    }

    /// Returns true if releasing `value` unchanged reveals more than Safe Harbor allows.
    pub fn is_too_fine(self, value: &str) -> bool {
        match self {
            Self::ZipCodes => value.trim().chars().filter(char::is_ascii_digit).count() > 3,
            _ => true,
        }
    }

    /// Returns true if values that must be withheld may be released with this label. ZIP codes must
    /// have a label such as 000 or `*`, and identifiers and parts of dates must have `*`. For all
    /// other limits, any label is allowed.
    pub fn withholds(self, label: &str) -> bool {
        match self {
            Self::ZipCodes => ["000", "00", "0", "*"].contains(&label),
            Self::Identifier(_) | Self::PartOfDate => label == "*",
            Self::Dates(_) | Self::Ages | Self::BirthYears | Self::Place => true,
        }
    }

    /// Returns the group of each value. All values in a group must be released with the same label,
    /// and a value without a group may have its own label. Returns `None` for places, whose limit
    /// cannot be expressed by groups: the state of a place is not known here.
    pub fn groups(self, values: &ArrayRef) -> Result<Option<Vec<Option<i64>>>> {
        let texts = cast(values, &DataType::Utf8)?;
        let texts = texts.as_string::<i32>();
        let of_texts = |group: &dyn Fn(&str) -> Option<i64>| -> Vec<Option<i64>> {
            texts
                .iter()
                .map(|text| text.and_then(|text| group(text.trim())))
                .collect()
        };
        Ok(match self {
            Self::Place => None,
            Self::Identifier(_) | Self::PartOfDate => Some(of_texts(&|_| Some(REST))),
            Self::Ages => Some(of_numbers(values, |age| (age >= f64::from(OLD)).then_some(REST))?),
            Self::BirthYears => {
                let oldest = f64::from(oldest_year());
                Some(of_numbers(values, |year| (year < oldest).then_some(REST))?)
            }
            Self::Dates(dates) => {
                let years = match dates.spelling {
                    WrittenForm::AsDates => years(values)?,
                    WrittenForm::YearFirst => of_texts(&|text| text.get(..4)?.parse().ok().or(Some(REST))),
                    WrittenForm::Spelled(spelling) => of_texts(&|text| spelling.year(text).or(Some(REST))),
                };
                let oldest = i64::from(oldest_year());
                let group = |year: i64| match dates.of_birth && year < oldest {
                    true => REST,
                    false => year,
                };
                Some(years.into_iter().map(|year| year.map(group)).collect())
            }
            Self::ZipCodes => {
                let is_whole = ValueKind::of(values.data_type()) == ValueKind::Integer;
                Some(of_texts(&|text| Some(zip_group(text, is_whole))))
            }
        })
    }
}

impl Limited {
    /// Returns the possible values of a column with this limit, converted to the type `of`: every
    /// age, every year of birth, two dates in each year, or two ZIP codes in each area. Returns
    /// `None` if the possible values are not known or cannot be converted.
    pub fn domain(self, of: &DataType) -> Result<Option<ArrayRef>> {
        let years = 1880..=oldest_year() + 100;
        let values: ArrayRef = match self {
            Self::Ages => Arc::new(Int32Array::from_iter_values(0..=130)),
            Self::BirthYears => Arc::new(Int32Array::from_iter_values(years)),
            Self::Dates(Dates {
                spelling: WrittenForm::AsDates,
                ..
            }) => {
                let ends = years.flat_map(|year| [(year, 1, 1), (year, 12, 31)]);
                let dates = ends.filter_map(|(year, month, day)| NaiveDate::from_ymd_opt(year, month, day));
                Arc::new(Date32Array::from_iter_values(dates.map(Date32Type::from_naive_date)))
            }
            Self::ZipCodes => {
                let codes = (0..1_000).flat_map(|first| ["01", "98"].map(|rest| format!("{first:03}{rest}")));
                Arc::new(codes.map(Some).collect::<StringArray>())
            }
            Self::Dates(_) | Self::Identifier(_) | Self::PartOfDate | Self::Place => return Ok(None),
        };
        match can_cast_types(values.data_type(), of) {
            true => Ok(Some(cast(&values, of)?)),
            false => Ok(None),
        }
    }
}

/// The group of all values that are withheld.
pub const REST: i64 = -1;

fn is_zip(facts: &Facts, pattern: Option<Pattern>) -> bool {
    let is_code = names::is_postcode(&facts.name) && !names::is_foreign_postcode(&facts.name);
    matches!(pattern, Some(Pattern::Postal(Postcode::Zip))) && !names::is_foreign_postcode(&facts.name)
        || is_code && !matches!(pattern, Some(Pattern::Postal(_)))
}

/// Returns the group of a ZIP code: its first three digits, or [`REST`] if the ZIP code must be
/// withheld. `is_whole` is true if the ZIP code is a whole number, which may have lost leading
/// zeros.
fn zip_group(text: &str, is_whole: bool) -> i64 {
    let digits = match (is_whole, text.len()) {
        (true, ..=5) => format!("{text:0>5}"),
        (true, _) => format!("{text:0>9}"),
        (false, _) => text.to_string(),
    };
    let begins = digits
        .get(..3)
        .filter(|first| first.bytes().all(|b| b.is_ascii_digit()));
    match begins {
        Some(first) if !has_lost_zeros(&digits) && !SPARSE.contains(&first) => first.parse().unwrap_or(REST),
        _ => REST,
    }
}

/// Returns the year of each date or timestamp, in the local time of its time zone; NULL has no
/// year. The year is [`REST`] if it cannot be computed.
pub(super) fn years(values: &ArrayRef) -> Result<Vec<Option<i64>>> {
    let years = local_times(values)?.into_iter().zip(0..);
    let year = |(time, row): (Option<NaiveDateTime>, usize)| match values.is_null(row) {
        true => None,
        false => Some(time.map_or(REST, |time| time.year().into())),
    };
    Ok(years.map(year).collect())
}

fn of_numbers(values: &ArrayRef, group: impl Fn(f64) -> Option<i64>) -> Result<Vec<Option<i64>>> {
    let numbers = cast(values, &DataType::Float64)?;
    let numbers = numbers.as_primitive::<Float64Type>();
    Ok(numbers.iter().map(|number| number.and_then(&group)).collect())
}
