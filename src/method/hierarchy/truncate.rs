//! TRUNCATE: dates and timestamps, truncated to coarser units of the calendar.
//!
//! Each level is one unit. Units become coarser from level to level, and each unit must consist of
//! whole units of the level below. Weeks (ISO 8601) contain whole days, but neither months nor
//! years contain whole weeks, so WEEK can only be the last unit. A century is a hundred years that
//! differ only in their last two digits (`2000-2099`), because only such a century contains whole
//! decades. Timestamps with a time zone are truncated in that zone. The label at one level
//! determines the label at the next level, so groups nest for any data.
//!
//! With FORMAT, in the syntax of `strptime`, strings are parsed as dates or timestamps. A string
//! that is not in this format is unmapped, and ON UNMAPPED determines its treatment.
//!
//! BOTTOM CODE and TOP CODE are years. At every level, dates before the year BOTTOM CODE have the
//! label `<code`, and dates in or after the year TOP CODE have the label `>=code`. This includes
//! level 0, where the label of every other date is the date itself. A decade or a century that
//! contains a code is cut off at the code (`1937-1939` with BOTTOM CODE 1937). A week can be part
//! of two years, so WEEK cannot be combined with codes.
//!
//! Example: `CREATE HIERARCHY birth AS TRUNCATE (MONTH, QUARTER, YEAR)` turns 2024-05-17 into
//! 2024-05, 2024-Q2 and 2024. With `FORMAT '%d.%m.%Y'`, it turns the string 17.5.2024 into the same
//! labels.
//!
//! Reference: ISO 8601-1:2019, sections 5.2 and 5.3 (representations of reduced precision).

use super::clause::{Clause, Item, Kind, Part, Takes};
use super::codes::{Coded, Codes, Side};
use super::date_format::DateFormat;
use super::ground;
use super::local_times::{local_times, time_zone};
use super::number::Number;
use super::rule::{GeneralizationRule, LevelRule};
use super::years::Years;
use crate::base::catalogue::Info;
use crate::base::error::{Error, Result};
use crate::base::quoting::literal;
use arrow::array::{ArrayRef, StringArray};
use arrow::datatypes::DataType;
use chrono::{Datelike, NaiveDateTime};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A unit of the calendar. The variants are ordered from fine to coarse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// A second.
    Second,
    /// A minute.
    Minute,
    /// An hour.
    Hour,
    /// A day.
    Day,
    /// An ISO week, which begins on Monday.
    Week,
    /// A month.
    Month,
    /// Three months. The first quarter begins in January.
    Quarter,
    /// A year.
    Year,
    /// Ten years that differ only in their last digit.
    Decade,
    /// A hundred years that differ only in their last two digits.
    Century,
}

/// Every unit with its keyword, ordered from fine to coarse.
pub const UNITS: &[(Unit, &str)] = &[
    (Unit::Second, "SECOND"),
    (Unit::Minute, "MINUTE"),
    (Unit::Hour, "HOUR"),
    (Unit::Day, "DAY"),
    (Unit::Week, "WEEK"),
    (Unit::Month, "MONTH"),
    (Unit::Quarter, "QUARTER"),
    (Unit::Year, "YEAR"),
    (Unit::Decade, "DECADE"),
    (Unit::Century, "CENTURY"),
];

impl FromStr for Unit {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        UNITS
            .iter()
            .find(|(_, word)| word.eq_ignore_ascii_case(text))
            .map(|(unit, _)| *unit)
            .ok_or_else(|| Error::unknown("unit of TRUNCATE", text, UNITS.iter().map(|(_, word)| *word)))
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = UNITS
            .iter()
            .find(|(unit, _)| unit == self)
            .map_or("", |(_, word)| *word);
        f.write_str(word)
    }
}

impl Unit {
    fn label(self, at: &NaiveDateTime) -> String {
        let year = at.year();
        match self {
            Unit::Second => at.format("%Y-%m-%dT%H:%M:%S").to_string(),
            Unit::Minute => at.format("%Y-%m-%dT%H:%M").to_string(),
            Unit::Hour => at.format("%Y-%m-%dT%H").to_string(),
            Unit::Day => at.format("%Y-%m-%d").to_string(),
            Unit::Week => at.format("%G-W%V").to_string(),
            Unit::Month => at.format("%Y-%m").to_string(),
            Unit::Quarter => format!("{}-Q{}", at.format("%Y"), at.month0() / 3 + 1),
            Unit::Year => at.format("%Y").to_string(),
            Unit::Decade => format!("{:04}s", year.div_euclid(10) * 10),
            Unit::Century => {
                let first = year.div_euclid(100) * 100;
                format!("{first:04}-{:04}", first + 99)
            }
        }
    }

    /// Returns the first and the last year of the unit that contains the year `year`.
    fn years(self, year: i32) -> (i32, i32) {
        let width = match self {
            Unit::Decade => 10,
            Unit::Century => 100,
            _ => 1,
        };
        let first = year.div_euclid(width) * width;
        (first, first + width - 1)
    }
}

/// The rule that truncates dates and timestamps to one unit per level.
#[derive(Debug, Clone)]
pub struct Truncate {
    pub(super) units: Vec<Unit>,
    /// The format in which strings are parsed as dates or timestamps; `None` for columns of dates
    /// or timestamps.
    format: Option<DateFormat>,
    pub(super) years: Years,
}

impl Truncate {
    /// Creates the rule that truncates to `units[i]` at level i + 1. Fails unless the units nest.
    pub fn try_new(units: &[Unit]) -> Result<Self> {
        if units.is_empty() {
            return Err(Error::usage("TRUNCATE needs at least one unit"));
        }
        for (pair, level) in units.windows(2).zip(1..) {
            let (below, above) = (pair[0], pair[1]);
            if below == Unit::Week && above > Unit::Week {
                return Err(Error::usage(format!(
                    "TRUNCATE: groups do not nest: a WEEK (level {level}) can lie in more than one {above} (level {})",
                    level + 1
                )));
            }
            if above <= below {
                return Err(Error::usage(format!(
                    "TRUNCATE: {above} (level {}) is not coarser than {below} (level {level})",
                    level + 1
                )));
            }
        }
        Ok(Self {
            units: units.to_vec(),
            format: None,
            years: Years::default(),
        })
    }

    /// Adds these codes to the rule. Fails if there is a code and the units include WEEK, because a
    /// week can be part of two years.
    fn coded(self, years: Years) -> Result<Self> {
        match !years.is_empty() && self.units.contains(&Unit::Week) {
            true => Err(Error::usage(
                "TRUNCATE: a WEEK can lie in two years, so it takes no BOTTOM CODE and no TOP CODE; leave WEEK out",
            )),
            false => Ok(Self { years, ..self }),
        }
    }

    /// Returns the local times of values; `None` for NULL and for strings that are not in the
    /// format.
    fn local_times(&self, values: &ArrayRef) -> Result<Vec<Option<NaiveDateTime>>> {
        match &self.format {
            Some(format) => {
                let texts = ground::text(values)?;
                Ok(texts.iter().map(|text| format.read(text?)).collect())
            }
            None => local_times(&ground::plain(values)?),
        }
    }

    pub(super) fn label(&self, unit: Unit, at: &NaiveDateTime) -> String {
        let by_code = self.years.label(at.year(), unit.years(at.year()));
        by_code.unwrap_or_else(|| unit.label(at))
    }

    /// Changes the rule so that it parses strings in this format.
    fn of_texts(mut self, format: &str) -> Result<Self> {
        let format = DateFormat::try_new(format)?;
        if !format.has_time() {
            self.has_no_time()?;
        }
        self.format = Some(format);
        Ok(self)
    }

    /// Fails if a unit is finer than a day.
    fn has_no_time(&self) -> Result<()> {
        match self.units.iter().find(|u| **u < Unit::Day) {
            Some(unit) => Err(Error::usage(format!("TRUNCATE: a date has no {unit}"))),
            None => Ok(()),
        }
    }
}

impl GeneralizationRule for Truncate {
    fn kind(&self) -> &'static str {
        KIND.info.name
    }

    fn levels(&self) -> usize {
        self.units.len()
    }

    fn accepts(&self, data_type: &DataType) -> Result<()> {
        if self.format.is_some() {
            return match ground::plain_type(data_type) {
                DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Ok(()),
                other => Err(Error::usage(format!(
                    "TRUNCATE with FORMAT generalizes strings, not a column of type {other}; leave FORMAT out"
                ))),
            };
        }
        match ground::plain_type(data_type) {
            DataType::Timestamp(_, zone) => zone.as_deref().map_or(Ok(()), |zone| time_zone(zone).map(|_| ())),
            DataType::Date32 | DataType::Date64 => self.has_no_time(),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Err(Error::usage(
                "TRUNCATE generalizes dates and timestamps; for strings, give their format: TRUNCATE (...) FORMAT \
                 '%d.%m.%Y'",
            )),
            other => Err(ground::unfit("TRUNCATE", "dates and timestamps", other)),
        }
    }

    fn labels(&self, values: &ArrayRef) -> Result<Vec<StringArray>> {
        let instants = self.local_times(values)?;
        let label = |unit: &Unit, at: &Option<NaiveDateTime>| at.as_ref().map(|at| self.label(*unit, at));
        let level = |unit: &Unit| instants.iter().map(|at| label(unit, at)).collect();
        Ok(self.units.iter().map(level).collect())
    }

    fn codes(&self) -> Option<Codes> {
        let code = |year: Option<u32>| year.map(|year| Number::new(year.into(), 0));
        (!self.years.is_empty()).then(|| Codes {
            bottom: code(self.years.bottom),
            top: code(self.years.top),
            of: Coded::Years(self.format.clone()),
        })
    }

    fn hidden(&self, values: &ArrayRef) -> Result<Vec<Option<Side>>> {
        let instants = self.local_times(values)?;
        Ok(instants.into_iter().map(|at| self.years.side(at?.year())).collect())
    }

    fn is_label(&self, level: u8, label: &str) -> Option<bool> {
        let unit = self.units.get(usize::from(level).checked_sub(1)?)?;
        Some(self.has_label(*unit, label))
    }

    fn is_free_of_data(&self) -> bool {
        true
    }

    fn sql(&self) -> String {
        let units: Vec<String> = self.units.iter().map(ToString::to_string).collect();
        let format = self.format.as_ref();
        let format = format.map_or_else(String::new, |f| format!(" FORMAT {}", literal(f.text())));
        let mut sql = format!("AS TRUNCATE ({}){format}", units.join(", "));
        for (word, code) in [("BOTTOM CODE", self.years.bottom), ("TOP CODE", self.years.top)] {
            if let Some(year) = code {
                sql += &format!(" {word} {year}");
            }
        }
        sql
    }

    fn describe(&self) -> Vec<LevelRule> {
        let rules = self.units.iter().map(|unit| LevelRule {
            rule: unit.to_string().to_lowercase(),
            labels: None,
        });
        rules.collect()
    }
}

/// The entry of the kind in the catalogue.
pub(super) const KIND: Kind = Kind {
    info: Info {
        name: "truncate",
        summary: "dates and timestamps to coarser units of the calendar",
        params: &[],
        example: "CREATE HIERARCHY birth AS TRUNCATE (MONTH, QUARTER, YEAR)",
        reference: "ISO 8601-1:2019, sections 5.2 and 5.3",
    },
    clause: Clause {
        start: "AS TRUNCATE",
        syntax: "AS TRUNCATE (unit, ...) [FORMAT '%d.%m.%Y'] [BOTTOM CODE 1937] [TOP CODE 2020]",
        parts: &[
            Part::First("units", Takes::List("unit", Item::Word, "a unit such as MONTH")),
            Part::Maybe(
                "FORMAT",
                Takes::One(Item::Text, "a format in quotes, such as '%d.%m.%Y'"),
            ),
            Part::Maybe("BOTTOM CODE", Takes::One(Item::Whole, "a year")),
            Part::Maybe("TOP CODE", Takes::One(Item::Whole, "a year")),
        ],
    },
    build: |given| {
        let units = given
            .texts("units")
            .iter()
            .map(|u| u.parse())
            .collect::<Result<Vec<Unit>>>()?;
        let mut rule = Truncate::try_new(&units)?;
        if let Some(format) = given.texts("FORMAT").pop() {
            rule = rule.of_texts(&format)?;
        }
        let code = |part| Ok::<_, Error>(given.wholes(part)?.pop());
        let years = Years::try_new(code("BOTTOM CODE")?, code("TOP CODE")?)?;
        Ok(Arc::new(rule.coded(years)?))
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Array, TimestampNanosecondArray};
    use arrow::compute::cast;
    use arrow::datatypes::TimeUnit;

    fn truncate(units: &str) -> Result<Truncate> {
        let units: Vec<Unit> = units.split(' ').map(str::parse).collect::<Result<_>>()?;
        Truncate::try_new(&units)
    }

    /// Returns the labels of one value at all levels.
    fn labels(units: &str, text: &str, data_type: DataType) -> Vec<String> {
        let t = truncate(units).unwrap();
        t.accepts(&data_type).unwrap();
        let values = cast(&(Arc::new(StringArray::from(vec![text])) as ArrayRef), &data_type).unwrap();
        assert_eq!(values.null_count(), 0, "{text} as {data_type}");
        t.labels(&values)
            .unwrap()
            .iter()
            .map(|l| l.value(0).to_string())
            .collect()
    }

    #[test]
    fn dates_are_labelled_by_unit() {
        for date in [DataType::Date32, DataType::Date64] {
            assert_eq!(
                labels("DAY MONTH QUARTER YEAR DECADE CENTURY", "2024-05-17", date.clone()),
                ["2024-05-17", "2024-05", "2024-Q2", "2024", "2020s", "2000-2099"]
            );
            assert_eq!(
                labels("quarter century", "1999-12-31", date.clone()),
                ["1999-Q4", "1900-1999"]
            );
            assert_eq!(labels("month decade", "0987-01-01", date), ["0987-01", "0980s"]);
        }
        // ISO 8601: week 1 is the week that contains the year's first Thursday.
        assert_eq!(labels("DAY WEEK", "2024-12-30", DataType::Date32)[1], "2025-W01");
        assert_eq!(labels("WEEK", "2021-01-03", DataType::Date32), ["2020-W53"]);
    }

    #[test]
    fn timestamps_of_every_unit_are_labelled_in_their_zone() {
        use TimeUnit::*;
        for unit in [Second, Millisecond, Microsecond, Nanosecond] {
            let stamp = |zone: Option<&str>| DataType::Timestamp(unit, zone.map(Into::into));
            assert_eq!(
                labels("SECOND MINUTE HOUR DAY YEAR", "1969-12-31T23:05:09", stamp(None)),
                [
                    "1969-12-31T23:05:09",
                    "1969-12-31T23:05",
                    "1969-12-31T23",
                    "1969-12-31",
                    "1969"
                ]
            );
            assert_eq!(
                labels("HOUR YEAR", "2023-12-31T23:30:00Z", stamp(Some("+02:00"))),
                ["2024-01-01T01", "2024"]
            );
            assert_eq!(
                labels("HOUR", "2024-07-01T12:00:00Z", stamp(Some("Europe/Berlin"))),
                ["2024-07-01T14"]
            );
        }
        let nulls: ArrayRef = Arc::new(TimestampNanosecondArray::from(vec![None, Some(i64::MIN)]));
        let years = truncate("YEAR").unwrap().labels(&nulls).unwrap();
        assert_eq!(years[0], StringArray::from(vec![None, Some("1677")]));
    }

    #[test]
    fn texts_are_read_in_their_format() {
        let of = |units: &str, format: &str| truncate(units).unwrap().of_texts(format);
        let rule = of("MONTH QUARTER YEAR", "%d.%m.%Y").unwrap();
        assert_eq!(rule.sql(), "AS TRUNCATE (MONTH, QUARTER, YEAR) FORMAT '%d.%m.%Y'");
        let texts = StringArray::from(vec![
            Some("24.12.1980"),
            Some("1.2.2001"),
            Some("31.2.2001"),
            Some("?"),
            None,
        ]);
        let labels = rule.labels(&(Arc::new(texts) as ArrayRef)).unwrap();
        assert_eq!(
            labels[0],
            StringArray::from(vec![Some("1980-12"), Some("2001-02"), None, None, None])
        );
        assert_eq!(
            labels[1],
            StringArray::from(vec![Some("1980-Q4"), Some("2001-Q1"), None, None, None])
        );
        let hours = of("HOUR DAY", "%Y-%m-%dT%H:%M").unwrap();
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["2024-05-17T09:30"]));
        assert_eq!(hours.labels(&texts).unwrap()[0].value(0), "2024-05-17T09");
        assert!(rule.accepts(&DataType::Utf8View).is_ok());
        let said = |e: Error| e.to_string();
        assert!(said(rule.accepts(&DataType::Date32).unwrap_err()).contains("leave FORMAT out"));
        assert!(said(truncate("DAY").unwrap().accepts(&DataType::Utf8).unwrap_err()).contains("FORMAT '%d.%m.%Y'"));
        assert!(said(of("HOUR", "%d.%m.%Y").unwrap_err()).contains("a date has no HOUR"));
        for format in ["", "%d.%m", "DD.MM.YYYY", "%H:%M", "%Q"] {
            assert!(said(of("YEAR", format).unwrap_err()).contains("%Y"), "{format}");
        }
    }

    #[test]
    fn units_that_do_not_nest_are_refused() {
        let said = |units: &str| truncate(units).unwrap_err().to_string();
        assert!(said("WEEK MONTH").contains("a WEEK (level 1) can lie in more than one MONTH (level 2)"));
        assert!(said("DAY WEEK YEAR").contains("a WEEK (level 2) can lie in more than one YEAR"));
        assert!(said("YEAR MONTH").contains("MONTH (level 2) is not coarser than YEAR (level 1)"));
        assert!(said("MONTH MONTH").contains("not coarser"));
        assert!(said("MONTHS").contains("did you mean \"MONTH\""));
        assert!(Truncate::try_new(&[]).is_err());
        let hours = truncate("HOUR DAY").unwrap();
        assert!(
            hours
                .accepts(&DataType::Date32)
                .unwrap_err()
                .to_string()
                .contains("a date has no HOUR")
        );
        assert!(hours.accepts(&DataType::Utf8).is_err());
        let zone = DataType::Timestamp(TimeUnit::Second, Some("Nowhere/Land".into()));
        assert!(hours.accepts(&zone).unwrap_err().to_string().contains("not known"));
        assert_eq!(truncate("day week").unwrap().sql(), "AS TRUNCATE (DAY, WEEK)");
    }
}
