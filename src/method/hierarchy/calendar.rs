//! The spans that calendar labels name, such as the first and the last instant of `2024-05`,
//! `2024-Q2` or `1990s`.

use super::local_times::time_zone;
use crate::base::error::Result;
use arrow::array::timezone::Tz;
use arrow::datatypes::{DataType, TimeUnit};
use chrono::{Duration, NaiveDate, NaiveDateTime, TimeZone, Weekday};

/// The calendar of a date or timestamp type.
#[derive(Debug)]
pub(super) struct Calendar {
    /// The number of units in a day.
    day: i128,
    zone: Option<Tz>,
}

impl Calendar {
    /// Returns the calendar of a type; `None` if the type is not a date or timestamp type.
    pub(super) fn of(data_type: &DataType) -> Result<Option<Self>> {
        let seconds = 86_400;
        let (day, zone) = match data_type {
            DataType::Date32 | DataType::Date64 => (1, None),
            DataType::Timestamp(unit, zone) => {
                let per_second = match unit {
                    TimeUnit::Second => 1,
                    TimeUnit::Millisecond => 1_000,
                    TimeUnit::Microsecond => 1_000_000,
                    TimeUnit::Nanosecond => 1_000_000_000,
                };
                (seconds * per_second, zone.as_deref().map(time_zone).transpose()?)
            }
            _ => return Ok(None),
        };
        Ok(Some(Self { day, zone }))
    }

    /// Returns the first and the last unit of the span that `label` names; `None` if `label` does
    /// not name a span.
    pub(super) fn span(&self, label: &str) -> Option<(i128, i128)> {
        let (start, end) = span(label)?;
        Some((self.units(start, true)?, self.units(end, false)? - 1))
    }

    /// Converts the local time `at` to units. When clocks are set back, a local time occurs twice.
    /// The result is the earlier instant if `first` is true, and the later instant otherwise. When
    /// clocks are set forward, a skipped local time is replaced by the next local time that exists.
    fn units(&self, at: NaiveDateTime, first: bool) -> Option<i128> {
        let seconds = match self.zone {
            None => at.and_utc().timestamp(),
            Some(zone) => (0..=24 * 60).find_map(|minutes| {
                let shown = zone.from_local_datetime(&(at + Duration::minutes(minutes)));
                let shown = if first { shown.earliest() } else { shown.latest() };
                shown.map(|at| at.timestamp())
            })?,
        };
        Some(i128::from(seconds) * self.day / 86_400)
    }
}

/// Returns the start of the span that `label` names, and the start of the next span.
fn span(label: &str) -> Option<(NaiveDateTime, NaiveDateTime)> {
    let (date, time) = match label.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (label, None),
    };
    if let Some(time) = time {
        let day = day(date)?;
        let parts: Vec<u32> = time.split(':').map(|part| number(part, 2)).collect::<Option<_>>()?;
        let (start, width) = match parts[..] {
            [hour] => (day.and_hms_opt(hour, 0, 0)?, Duration::hours(1)),
            [hour, minute] => (day.and_hms_opt(hour, minute, 0)?, Duration::minutes(1)),
            [hour, minute, second] => (day.and_hms_opt(hour, minute, second)?, Duration::seconds(1)),
            _ => return None,
        };
        return Some((start, start.checked_add_signed(width)?));
    }
    let (start, end) = days(date)?;
    Some((start.and_hms_opt(0, 0, 0)?, end.and_hms_opt(0, 0, 0)?))
}

/// Returns the first day of the span that `label` names, and the first day of the next span.
fn days(label: &str) -> Option<(NaiveDate, NaiveDate)> {
    let years = |first: u32, last: u32| {
        let day = |year: u32| NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, 1, 1);
        Some((day(first)?, day(last + 1)?))
    };
    if let Some(decade) = label.strip_suffix('s') {
        let first = number(decade, 4)?;
        return years(first, first + 9);
    }
    let parts: Vec<&str> = label.split('-').collect();
    let year = number(parts.first()?, 4)?;
    let of_year = i32::try_from(year).ok()?;
    match parts[1..] {
        [] => years(year, year),
        [part] if part.starts_with('Q') => {
            let quarter = number(&part[1..], 1).filter(|q| (1..=4).contains(q))?;
            let start = NaiveDate::from_ymd_opt(of_year, quarter * 3 - 2, 1)?;
            Some((start, start.checked_add_months(chrono::Months::new(3))?))
        }
        [part] if part.starts_with('W') => {
            let start = NaiveDate::from_isoywd_opt(of_year, number(&part[1..], 2)?, Weekday::Mon)?;
            // The last week of 9999 extends into the year 10000, which cannot be written as text.
            let end = start.checked_add_signed(Duration::weeks(1))?;
            Some((start, end.min(NaiveDate::from_ymd_opt(10_000, 1, 1)?)))
        }
        [part] if part.len() == 4 => years(year, number(part, 4).filter(|last| *last >= year)?),
        [part] => {
            let start = NaiveDate::from_ymd_opt(of_year, number(part, 2)?, 1)?;
            Some((start, start.checked_add_months(chrono::Months::new(1))?))
        }
        [_, _] => {
            let start = day(label)?;
            Some((start, start.succ_opt()?))
        }
        _ => None,
    }
}

fn day(label: &str) -> Option<NaiveDate> {
    let parts: Vec<&str> = label.split('-').collect();
    let [year, month, day] = parts[..] else { return None };
    NaiveDate::from_ymd_opt(
        i32::try_from(number(year, 4)?).ok()?,
        number(month, 2)?,
        number(day, 2)?,
    )
}

/// Parses a number that has exactly `digits` digits.
fn number(text: &str, digits: usize) -> Option<u32> {
    let is_number = text.len() == digits && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(data_type: &DataType, label: &str) -> Option<(i128, i128)> {
        Calendar::of(data_type).unwrap().unwrap().span(label)
    }

    #[test]
    fn labels_span_what_they_name() {
        let days = |label| shown(&DataType::Date32, label);
        assert_eq!(days("1970-01-01"), Some((0, 0)));
        assert_eq!(days("1970-02"), Some((31, 58)));
        assert_eq!(days("1970-Q2"), Some((90, 180)));
        assert_eq!(days("1970-W02"), Some((4, 10)));
        assert_eq!(days("9999-W52"), Some((2_932_892, 2_932_896)));
        assert_eq!(days("1970"), Some((0, 364)));
        assert_eq!(days("1970s"), Some((0, 3651)));
        assert_eq!(days("1900-1999"), Some((-25567, 10956)));
        for no in [
            "",
            "*",
            "1970-13",
            "1970-Q5",
            "197",
            "1970-1",
            "x970",
            "1970-02-30",
            "1999-1900",
        ] {
            assert_eq!(days(no), None, "{no}");
        }
        let seconds = DataType::Timestamp(TimeUnit::Second, None);
        assert_eq!(shown(&seconds, "1970-01-01T01"), Some((3_600, 7_199)));
        assert_eq!(shown(&seconds, "1970-01-01T00:01"), Some((60, 119)));
        assert_eq!(shown(&seconds, "1970-01-01T00:00:07"), Some((7, 7)));
        let millis = DataType::Timestamp(TimeUnit::Millisecond, None);
        assert_eq!(shown(&millis, "1970-01-01T00:00:07"), Some((7_000, 7_999)));
    }

    #[test]
    fn a_zone_moves_the_ends_of_a_span() {
        let berlin = DataType::Timestamp(TimeUnit::Second, Some("+01:00".into()));
        assert_eq!(shown(&berlin, "1970-01-02"), Some((82_800, 169_199)));
    }
}
