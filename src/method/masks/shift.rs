//! SHIFT BY: a date or time, moved by a number of days that depends on its person.
//!
//! `SHIFT BY patient 365 DAYS WITH SECRET` moves all values in the rows of a patient by the same
//! number of days: at most 365 days back or forward, and never by 0. So the time between two values
//! of a patient is the same as in the source. This also holds across columns and tables if the
//! clauses have the same maximum number of days and the same secret. The offset is computed by
//! HMAC-SHA-256 from that maximum and the patient's value, and is never stored.
//!
//! The time of day stays the same, in the time zone of the column if it has one. If the local time
//! does not exist because clocks are set forward, the next local time that exists is used. With a
//! time zone, the interval between two instants may change by one hour if daylight saving time
//! begins or ends between them. A value in a row without a patient becomes NULL, and NULL stays
//! NULL. The statement fails if a date is outside the years 1 to 9999 after the shift.
//!
//! The column after BY must be an identifier or the entity; `SHIFT BY ENTITY` is another way to
//! name the entity. The offset is computed from the raw value in this column, so an offset by a
//! quasi-identifier would distinguish rows in the same class.
//!
//! **Interpretation**: published sets of health records move all dates of a patient by one random
//! offset. Here the offset is computed from the secret, so that it is the same in the next release.
//! An offset of 0 days is excluded, because it would release the value itself.
//!
//! Example: `IDENTIFIERS (admitted SHIFT BY patient 365 DAYS WITH SECRET 'env:ANONSQL_SECRET')`
//!
//! Reference: Johnson et al., 2016, doi:10.1038/sdata.2016.35 (MIMIC-III)

use super::clause::{MaskItem, MaskKind, MaskPart, MaskPlace, MaskSyntax, Reads};
use super::key::Key;
use super::text::{texts, unfit};
use super::values::{Mask, Unmasked};
use crate::base::catalogue::Info;
use crate::base::error::{Error, Result};
use crate::method::canonical::{one_spelling, plain};
use arrow::array::timezone::Tz;
use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveBuilder, StringArray};
use arrow::datatypes::{
    ArrowNativeType, ArrowTimestampType, DataType, Date32Type, Date64Type, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow::temporal_conversions::as_datetime_with_timezone;
use chrono::{DateTime, Datelike, NaiveDateTime, TimeDelta, TimeZone};
use std::ops::Range;
use std::sync::Arc;

/// The maximum number of days by which a value may be moved: a hundred years.
const MOST: u32 = 36_500;
/// The number of seconds in a day.
const DAY: i64 = 86_400;

pub(super) const KIND: MaskKind = MaskKind {
    info: Info {
        name: "shift",
        summary: "a date or time moved by days: one offset for all rows of a person, so that intervals stay",
        params: &[],
        example: "IDENTIFIERS (admitted SHIFT BY patient 365 DAYS WITH SECRET 'env:ANONSQL_SECRET')",
        reference: "Johnson et al., 2016, doi:10.1038/sdata.2016.35 (MIMIC-III)",
    },
    clause: MaskSyntax {
        start: "SHIFT BY",
        syntax: "SHIFT BY {ENTITY | column} n DAYS WITH SECRET 'env:NAME'",
        parts: &[
            MaskPart::Value(
                "entity",
                MaskItem::Column,
                "the column of the person whose dates move together, or ENTITY",
            ),
            MaskPart::Value("days", MaskItem::Whole, "the most days by which a date is moved"),
            MaskPart::Words("DAYS"),
            MaskPart::Secret,
        ],
    },
    places: &[MaskPlace::Identifiers, MaskPlace::Values],
    reads: Reads::Named,
    function: Some(Info {
        name: "mask_shift",
        summary: "a date or time moved by the days of a person: mask_shift(date, person, 365, 'env:NAME')",
        params: &[],
        example: "SELECT mask_shift(admitted, patient, 365, 'env:ANONSQL_SECRET') FROM stays",
        reference: "Johnson et al., 2016, doi:10.1038/sdata.2016.35 (MIMIC-III)",
    }),
    noun: "a shifted date",
    phrase: "a shifted date",
    technique: "noise addition: dates of one person are moved by the same number of days",
    is_pseudonym: false,
    tells_apart: false,
    limits: (
        "Shifted dates",
        "The intervals between the dates of a person are those of the source, and so are times of day: anyone who \
         knows a few of them can find the person, and anyone who knows one date of the person then knows all. \
         Everybody knows a date that many people share, such as 9999-12-31 or the day of an extract: leave such \
         dates out. The date itself is known to within the days of the statement, or better beside an age or a day \
         of the week. No model counts shifted dates.",
    ),
    build: |clause| {
        let days = clause.whole("days")?;
        if !(1..=MOST).contains(&days) {
            return Err(Error::usage(format!(
                "SHIFT BY: the number of days is from 1 to {MOST}"
            )));
        }
        Ok(Arc::new(Shift::new(days)))
    },
};

/// The mask that moves dates by at most `days` days.
#[derive(Debug)]
struct Shift {
    days: u32,
    /// The number of days and a blank, which precede the text of the person in the message whose
    /// HMAC determines the offset.
    prefix: String,
}

impl Shift {
    fn new(days: u32) -> Self {
        Self {
            days,
            prefix: format!("{days} "),
        }
    }

    /// Returns the number of days by which all values of a person are moved, which is never 0.
    fn offset(&self, key: &Key, person: &str) -> i64 {
        let [a, b, c, d, e, f, g, h, ..] = key.digest_of(&[self.prefix.as_bytes(), person.as_bytes()]);
        let (drawn, days) = (u64::from_be_bytes([a, b, c, d, e, f, g, h]), i64::from(self.days));
        let offset = (drawn % (2 * u64::from(self.days))) as i64 - days;
        offset + i64::from(offset >= 0)
    }
}

impl Mask for Shift {
    fn data_type(&self, values: &DataType) -> Result<DataType> {
        match plain(values) {
            date @ (DataType::Date32 | DataType::Date64 | DataType::Timestamp(..)) => Ok(date),
            other => Err(unfit(
                KIND.clause.start,
                "dates and timestamps",
                &other,
                "cast the column to a date in a query",
            )),
        }
    }

    fn mask(&self, unmasked: &Unmasked) -> Result<ArrayRef> {
        let key = unmasked.key()?.key_for("anonsql shift")?;
        let people = unmasked
            .beside
            .first()
            .ok_or_else(|| Error::internal("a date is shifted without its person"))?;
        let people: StringArray = texts(people)?;
        // Consecutive rows often belong to the same person, so the last offset is reused.
        let mut last: Option<(&str, i64)> = None;
        let offset = |row: usize| {
            let person = people.is_valid(row).then(|| people.value(row))?;
            let known = last.filter(|(known, _)| *known == person);
            let (_, offset) = known.unwrap_or_else(|| (person, self.offset(&key, person)));
            last = Some((person, offset));
            Some(offset)
        };
        let values = one_spelling(unmasked.values)?;
        match values.data_type() {
            DataType::Date32 => moved::<Date32Type>(&values, 1, offset, |at, days| at.checked_add(days)),
            DataType::Date64 => {
                let day = DAY * 1_000;
                moved::<Date64Type>(&values, day, offset, |at, days| at.checked_add(days * day))
            }
            DataType::Timestamp(unit, zone) => {
                let zone = zone.as_deref().map(str::parse::<Tz>).transpose()?;
                match unit {
                    TimeUnit::Second => at_local_time::<TimestampSecondType>(&values, 1, zone, offset),
                    TimeUnit::Millisecond => at_local_time::<TimestampMillisecondType>(&values, 1_000, zone, offset),
                    TimeUnit::Microsecond => {
                        at_local_time::<TimestampMicrosecondType>(&values, 1_000_000, zone, offset)
                    }
                    TimeUnit::Nanosecond => {
                        at_local_time::<TimestampNanosecondType>(&values, 1_000_000_000, zone, offset)
                    }
                }
            }
            other => Err(Error::internal(format!("{other} is shifted"))),
        }
    }
}

/// Moves each timestamp by the number of days for its row. With a time zone, the local time of day
/// is kept. `second` is the number of timestamp units in a second.
fn at_local_time<T>(
    values: &ArrayRef,
    second: i64,
    zone: Option<Tz>,
    offset: impl FnMut(usize) -> Option<i64>,
) -> Result<ArrayRef>
where
    T: ArrowTimestampType + ArrowPrimitiveType<Native = i64>,
{
    moved::<T>(values, DAY * second, offset, |at, days| {
        let seconds = match zone {
            None => days * DAY,
            Some(zone) => {
                let before = as_datetime_with_timezone::<T>(at, zone)?;
                let local = before.naive_local().checked_add_signed(TimeDelta::days(days))?;
                // The local date may be in the year 10000 while the date in UTC is not.
                let after = shown(zone, local).filter(|after| (1..=9999).contains(&after.year()))?;
                after.timestamp() - before.timestamp()
            }
        };
        at.checked_add(seconds.checked_mul(second)?)
    })
}

/// Returns the first instant at which clocks in the zone show the time `local`. If they never show
/// it, returns the instant of the next time that they do show.
fn shown(zone: Tz, local: NaiveDateTime) -> Option<DateTime<Tz>> {
    let later = |minutes| local.checked_add_signed(TimeDelta::minutes(minutes));
    (0..=24 * 60).find_map(|minutes| zone.from_local_datetime(&later(minutes)?).earliest())
}

/// The years 1 to 9999, as days since 1970-01-01. The end is exclusive.
const YEARS: Range<i64> = -719_162..2_932_897;

/// Returns the result of `to` for each value and the number of days for its row; NULL for a row
/// without a value or without a number of days. `day` is the number of units in a day. Fails if a
/// result is outside the years 1 to 9999 or the range of the type.
fn moved<T>(
    values: &ArrayRef,
    day: i64,
    mut offset: impl FnMut(usize) -> Option<i64>,
    to: impl Fn(i64, i64) -> Option<i64>,
) -> Result<ArrayRef>
where
    T: ArrowPrimitiveType,
    T::Native: TryFrom<i64>,
{
    let dates = values.as_primitive::<T>();
    // The years do not fit in 64 bits as nanoseconds.
    let years = i128::from(YEARS.start) * i128::from(day)..i128::from(YEARS.end) * i128::from(day);
    let mut masks = PrimitiveBuilder::<T>::with_capacity(dates.len());
    for (row, date) in dates.iter().enumerate() {
        let Some((date, days)) = date.zip(offset(row)) else {
            masks.append_null();
            continue;
        };
        let moved = date.to_i64().and_then(|at| to(at, days));
        let moved = moved.filter(|at| years.contains(&i128::from(*at)));
        let moved = moved.and_then(|at| T::Native::try_from(at).ok());
        let outside = || Error::data("a date cannot be shifted: it would leave the years 1 to 9999, or its type");
        masks.append_value(moved.ok_or_else(outside)?);
    }
    Ok(Arc::new(masks.finish().with_data_type(values.data_type().clone())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Date32Array, TimestampNanosecondArray, TimestampSecondArray};
    use chrono::{NaiveDate, Timelike};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn shifted(days: u32, secret: &[u8], people: Vec<Option<&str>>, dates: Vec<Option<i32>>) -> Result<Date32Array> {
        let (people, dates) = (StringArray::from(people), Date32Array::from(dates));
        let unmasked = Unmasked {
            values: &(Arc::new(dates) as ArrayRef),
            beside: &[Arc::new(people)],
            key: Some(&Key::new(secret).unwrap()),
        };
        Ok(Shift::new(days).mask(&unmasked)?.as_primitive::<Date32Type>().clone())
    }

    #[test]
    fn offsets_are_all_days_but_none() {
        let key = Key::new(b"a secret of sixteen bytes").unwrap();
        let shift = Shift::new(3);
        let found: BTreeSet<i64> = (0..500).map(|i| shift.offset(&key, &i.to_string())).collect();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [-3, -2, -1, 1, 2, 3]);
    }

    #[test]
    fn a_row_without_a_person_or_date_has_none() {
        let dates = shifted(
            9,
            b"0123456789abcdef",
            vec![None, Some("a"), Some("a")],
            vec![Some(1), None, Some(1)],
        );
        let dates = dates.unwrap();
        assert!(dates.is_null(0) && dates.is_null(1) && dates.is_valid(2));
    }

    #[test]
    fn the_end_of_the_type_is_an_error_without_the_date() {
        for date in [i32::MAX, i32::MIN, 2_932_896, -719_162] {
            let people: Vec<String> = (0..40).map(|i| i.to_string()).collect();
            let people: Vec<Option<&str>> = people.iter().map(|p| Some(p.as_str())).collect();
            let refused = shifted(1, b"0123456789abcdef", people.clone(), vec![Some(date); 40]).unwrap_err();
            assert!(refused.to_string().contains("the years 1 to 9999"), "{refused}");
        }
    }

    /// All nanoseconds of 64 bits are in the years 1 to 9999, so that only the type limits them.
    /// One day has 86,400,000,000,000 nanoseconds.
    #[test]
    fn the_first_and_the_last_nanosecond_are_moved_within_their_type() {
        let secret = Key::new(b"0123456789abcdef").unwrap();
        let (shift, key) = (Shift::new(1), secret.key_for("anonsql shift").unwrap());
        let person = |days: i64| {
            let mut people = (0..1_000).map(|i| i.to_string());
            people.find(|person| shift.offset(&key, person) == days).unwrap()
        };
        let (back, forward) = (person(-1), person(1));
        let moved = |at: i64, person: &str| {
            let unmasked = Unmasked {
                values: &(Arc::new(TimestampNanosecondArray::from(vec![at])) as ArrayRef),
                beside: &[Arc::new(StringArray::from(vec![person]))],
                key: Some(&secret),
            };
            let moved = shift.mask(&unmasked).ok()?;
            Some(moved.as_primitive::<TimestampNanosecondType>().value(0))
        };
        assert_eq!(moved(i64::MAX, &back), Some(9_223_285_636_854_775_807));
        assert_eq!(moved(i64::MIN, &forward), Some(-9_223_285_636_854_775_808));
        assert_eq!(moved(i64::MAX, &forward), None);
        assert_eq!(moved(i64::MIN, &back), None);
    }

    /// In Tokyo, the year 10000 begins nine hours earlier than in UTC.
    #[test]
    fn the_years_are_those_of_the_time_zone() {
        let evening = 2_932_895 * DAY + 20 * 3_600;
        let visits = TimestampSecondArray::from(vec![evening; 40]).with_timezone("Asia/Tokyo");
        let people: StringArray = (0..40).map(|i| Some(i.to_string())).collect();
        let unmasked = Unmasked {
            values: &(Arc::new(visits) as ArrayRef),
            beside: &[Arc::new(people)],
            key: Some(&Key::new(b"0123456789abcdef").unwrap()),
        };
        let refused = Shift::new(1).mask(&unmasked).unwrap_err();
        assert!(refused.to_string().contains("the years 1 to 9999"), "{refused}");
    }

    /// Every patient comes at eight o'clock in Berlin, in winter and in summer. The shifted visits
    /// are also at eight o'clock, so the hour does not reveal anything about the offset.
    #[test]
    fn a_clock_that_is_set_shows_the_same_time() {
        let berlin = |values: Vec<i64>| TimestampSecondArray::from(values).with_timezone("Europe/Berlin");
        // 2000-01-10 and 2000-07-10.
        let (winter, summer) = (947_487_600, 963_208_800);
        let visits = berlin([winter, summer].repeat(50));
        let people: StringArray = (0..100).map(|i| Some((i / 2).to_string())).collect();
        let unmasked = Unmasked {
            values: &(Arc::new(visits) as ArrayRef),
            beside: &[Arc::new(people)],
            key: Some(&Key::new(b"0123456789abcdef").unwrap()),
        };
        let shifted = Shift::new(365).mask(&unmasked).unwrap();
        let shifted = shifted.as_primitive::<TimestampSecondType>();
        let hours = shifted.values().iter().map(|at| {
            let zone = "Europe/Berlin".parse().unwrap();
            as_datetime_with_timezone::<TimestampSecondType>(*at, zone)
                .unwrap()
                .hour()
        });
        assert!(hours.into_iter().all(|hour| hour == 8));
        // On 2000-03-26, 02:30 does not exist: the clock jumps from two to three.
        let zone: Tz = "Europe/Berlin".parse().unwrap();
        let skipped = NaiveDate::from_ymd_opt(2000, 3, 26)
            .unwrap()
            .and_hms_opt(2, 30, 0)
            .unwrap();
        assert_eq!(
            shown(zone, skipped).unwrap().naive_local().to_string(),
            "2000-03-26 03:00:00"
        );
    }

    proptest! {
        /// The intervals between a person's dates are those of the source, and every date is
        /// changed.
        #[test]
        fn intervals_stay(days in 1u32..=MOST, one in -100_000i32..100_000, other in -100_000i32..100_000) {
            let people = vec![Some("a"), Some("a"), Some("b")];
            let found = shifted(days, b"0123456789abcdef", people, vec![Some(one), Some(other), Some(one)]).unwrap();
            prop_assert_eq!(found.value(1) - found.value(0), other - one);
            for row in [0, 2] {
                let by = found.value(row) - one;
                prop_assert!(by != 0 && by.unsigned_abs() <= days);
            }
        }
    }
}
