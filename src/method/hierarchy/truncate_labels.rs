//! Checks whether a unit of TRUNCATE can return a label.

use super::truncate::{Truncate, Unit};
use chrono::{NaiveDate, NaiveDateTime, NaiveTime, Weekday};

impl Truncate {
    /// Returns true if `unit` has this label. To decide this, the label is compared with the label
    /// of one instant: the first instant of the span that the label names, or, for `<code` and
    /// `>=code`, a day that the code hides.
    pub(super) fn has_label(&self, unit: Unit, label: &str) -> bool {
        let at = match (label.strip_prefix('<'), label.strip_prefix(">=")) {
            (Some(_), _) => self.years.bottom.and_then(|year| first_day(year as i32 - 1)),
            (_, Some(_)) => self.years.top.and_then(|year| first_day(year as i32)),
            _ => first_instant(label),
        };
        at.is_some_and(|at| self.label(unit, &at) == label)
    }
}

fn first_day(year: i32) -> Option<NaiveDateTime> {
    Some(NaiveDate::from_ymd_opt(year, 1, 1)?.and_time(NaiveTime::MIN))
}

/// Returns the first instant of the span that a label names. Ignores any text that follows the date
/// and time.
fn first_instant(label: &str) -> Option<NaiveDateTime> {
    // Years before 0 and years after 9999 are written with a sign.
    let digits = label.get(usize::from(label.starts_with(['+', '-']))..)?;
    let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    let year: i32 = label[..label.len() - rest.len()].parse().ok()?;
    let (date, time) = match rest.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (rest, None),
    };
    let mut parts = date.split('-').skip(1);
    let (first, day) = (parts.next(), parts.next());
    let number = |part: &str| part.parse::<u32>().ok();
    let date = match first {
        Some(week) if week.starts_with('W') => NaiveDate::from_isoywd_opt(year, number(&week[1..])?, Weekday::Mon),
        Some(quarter) if quarter.starts_with('Q') => {
            let months_before = number(&quarter[1..])?.checked_sub(1)?.checked_mul(3)?;
            NaiveDate::from_ymd_opt(year, months_before.checked_add(1)?, 1)
        }
        // A part with more digits is the last year of a century, or of a decade or century that is
        // cut off at a code.
        Some(part) if part.len() == 2 => NaiveDate::from_ymd_opt(year, number(part)?, day.map_or(Some(1), number)?),
        _ => NaiveDate::from_ymd_opt(year, 1, 1),
    };
    let mut parts = time.into_iter().flat_map(|time| time.split(':')).map(number);
    let mut part = || parts.next().unwrap_or(Some(0));
    let (hour, minute, second) = (part()?, part()?, part()?);
    let time = match second {
        // In chrono, a leap second is second 59 with 1000 milliseconds or more.
        60 => NaiveTime::from_hms_milli_opt(hour, minute, 59, 1_000),
        second => NaiveTime::from_hms_opt(hour, minute, second),
    };
    Some(date?.and_time(time?))
}

#[cfg(test)]
mod tests {
    use super::super::years::Years;
    use super::*;
    use crate::method::hierarchy::GeneralizationRule;
    use arrow::array::{ArrayRef, TimestampSecondArray};
    use proptest::prelude::*;
    use std::sync::Arc;

    const ALL: [Unit; 9] = [
        Unit::Second,
        Unit::Minute,
        Unit::Hour,
        Unit::Day,
        Unit::Month,
        Unit::Quarter,
        Unit::Year,
        Unit::Decade,
        Unit::Century,
    ];

    #[test]
    fn only_labels_of_the_unit_are_labels() {
        let rule = Truncate::try_new(&ALL).unwrap();
        for (label, unit) in [
            ("1938-05-17T10:30:59", Some(Unit::Second)),
            ("1938-05-17T10:30", Some(Unit::Minute)),
            ("1938-05-17T10", Some(Unit::Hour)),
            ("1938-05-17", Some(Unit::Day)),
            ("1938-05", Some(Unit::Month)),
            ("1938-Q3", Some(Unit::Quarter)),
            ("1938", Some(Unit::Year)),
            ("1930s", Some(Unit::Decade)),
            ("1900-1999", Some(Unit::Century)),
            ("1938s", None),
            ("1938-1999", None),
            ("1938-13", None),
            ("1938-Q5", None),
            ("1938-W05", None),
            ("1938-02-30", None),
            ("938", None),
            ("<2999", None),
            (">=2000", None),
            ("", None),
            ("*", None),
            ("-", None),
            ("März 1938", None),
            ("1938-", None),
        ] {
            for (level, own) in (1..).zip(ALL) {
                assert_eq!(rule.is_label(level, label), Some(unit == Some(own)), "{label} {own}");
            }
        }
        let weeks = Truncate::try_new(&[Unit::Day, Unit::Week]).unwrap();
        assert_eq!(weeks.is_label(2, "2020-W53"), Some(true));
        assert_eq!(weeks.is_label(2, "2021-W53"), Some(false));
        assert_eq!(weeks.is_label(1, "2020-W53"), Some(false));
        assert_eq!(weeks.is_label(3, "2020-W53"), None);
    }

    #[test]
    fn codes_have_labels_of_their_own() {
        let mut rule = Truncate::try_new(&[Unit::Month, Unit::Year, Unit::Decade]).unwrap();
        rule.years = Years::try_new(Some(1937), Some(2021)).unwrap();
        for (label, levels) in [
            ("<1937", [true; 3]),
            (">=2021", [true; 3]),
            ("<1936", [false; 3]),
            (">=2020", [false; 3]),
            ("1937-1939", [false, false, true]),
            ("1930s", [false; 3]),
            ("2020", [false, true, true]),
            ("1936-05", [false; 3]),
            ("1938-05", [true, false, false]),
        ] {
            assert_eq!(
                [1, 2, 3].map(|level| rule.is_label(level, label)),
                levels.map(Some),
                "{label}"
            );
        }
    }

    proptest! {
        /// Checks that every label is recognized at its level, including labels of years that have
        /// a sign.
        #[test]
        fn labels_are_labels(seconds in -100_000_000_000i64..400_000_000_000, is_coded in any::<bool>()) {
            let mut rule = Truncate::try_new(&ALL).unwrap();
            if is_coded {
                rule.years = Years::try_new(Some(1937), Some(2021)).unwrap();
            }
            let values: ArrayRef = Arc::new(TimestampSecondArray::from(vec![seconds]));
            for (level, labels) in (1..).zip(rule.labels(&values).unwrap()) {
                prop_assert_eq!(rule.is_label(level, labels.value(0)), Some(true), "{}", labels.value(0));
            }
            let rule = Truncate::try_new(&[Unit::Week]).unwrap();
            let week = rule.labels(&values).unwrap()[0].value(0).to_string();
            prop_assert_eq!(rule.is_label(1, &week), Some(true), "{}", week);
        }
    }
}
