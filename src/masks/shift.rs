//! SHIFT BY: a date or time that is moved by a number of days of its person.
//!
//! `SHIFT BY patient 365 DAYS WITH SECRET` moves every value of a row by the same number of days
//! for all rows of a patient: between 365 days back and 365 days on, and never by none. So the time
//! between two values of a patient is that of the source, in all columns and tables with the same
//! number of days and secret. The offset is made by HMAC-SHA-256 of the patient's value, and is
//! written nowhere.
//!
//! The time of day stays as it is. A value of a row without a patient is NULL, and NULL stays NULL.
//!
//! **Interpretation**: published sets of health records move all dates of a patient by one random
//! offset; here it follows from the secret, so that the next release has the same. An offset of no
//! days is left out, as it would release the value itself.
//!
//! Example: `IDENTIFIERS (admitted SHIFT BY patient 365 DAYS WITH SECRET 'env:ANONSQL_SECRET')`
//!
//! Reference: Johnson et al., 2016, doi:10.1038/sdata.2016.35 (MIMIC-III)

use super::clause::{Clause, Item, Part};
use super::kind::{Mask, MaskKind, Unmasked};
use super::secret::Key;
use super::text::{texts, unfit};
use crate::canonical::{one_spelling, plain};
use crate::catalogue::Info;
use crate::error::{Error, Result};
use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray, StringArray};
use arrow::datatypes::{
    ArrowNativeTypeOp, DataType, Date32Type, Date64Type, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use std::sync::Arc;

/// The most days by which a value may be moved: a hundred years.
const MOST: u32 = 36_500;
/// The seconds of a day.
const DAY: i64 = 86_400;

pub(super) const KIND: MaskKind = MaskKind {
    info: Info {
        name: "shift",
        summary: "a date or time moved by days: one offset for all rows of a person, so that intervals stay",
        params: &[],
        example: "IDENTIFIERS (admitted SHIFT BY patient 365 DAYS WITH SECRET 'env:ANONSQL_SECRET')",
        reference: "Johnson et al., 2016, doi:10.1038/sdata.2016.35 (MIMIC-III)",
    },
    clause: Clause {
        start: "SHIFT BY",
        syntax: "SHIFT BY column n DAYS WITH SECRET 'env:NAME'",
        parts: &[
            Part::Value(
                "entity",
                Item::Column,
                "the column of the person whose dates move together",
            ),
            Part::Value("days", Item::Whole, "the most days by which a date is moved"),
            Part::Words("DAYS"),
            Part::Secret,
        ],
    },
    function: Info {
        name: "mask_shift",
        summary: "a date or time moved by the days of a person: mask_shift(date, person, 365, 'env:NAME')",
        params: &[],
        example: "SELECT mask_shift(admitted, patient, 365, 'env:ANONSQL_SECRET') FROM stays",
        reference: "Johnson et al., 2016, doi:10.1038/sdata.2016.35 (MIMIC-III)",
    },
    noun: "a shifted date",
    phrase: "a shifted date",
    technique: "noise addition: dates of one person are moved by the same number of days",
    is_pseudonym: false,
    limits: (
        "Shifted dates",
        "The intervals between the dates of a person are those of the source, and so are times of day: whoever knows a few \
         of them can find the person, and whoever knows one date of the person then knows all. The date itself is known to \
         within the days of the statement. No model counts shifted dates.",
    ),
    build: |clause| {
        let days = clause.whole("days")?;
        if !(1..=MOST).contains(&days) {
            return Err(Error::usage(format!(
                "SHIFT BY: the number of days is from 1 to {MOST}"
            )));
        }
        Ok(Arc::new(Shift { days }))
    },
};

/// Dates that are moved by at most so many days.
#[derive(Debug)]
struct Shift {
    days: u32,
}

impl Shift {
    /// Returns the days by which the values of a person are moved, which are never 0.
    fn offset(&self, key: &Key, person: &str) -> i64 {
        let [a, b, c, d, e, f, g, h, ..] = key.digest(person.as_bytes());
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
            .entity
            .ok_or_else(|| Error::internal("a date is shifted without its person"))?;
        let people: StringArray = texts(people)?;
        let offset = |row: usize| people.is_valid(row).then(|| self.offset(&key, people.value(row)));
        let values = one_spelling(unmasked.values)?;
        match values.data_type() {
            DataType::Date32 => moved::<Date32Type>(&values, offset, |days| i32::try_from(days).ok()),
            DataType::Date64 => moved::<Date64Type>(&values, offset, |days| Some(days * DAY * 1_000)),
            DataType::Timestamp(TimeUnit::Second, _) => {
                moved::<TimestampSecondType>(&values, offset, |days| Some(days * DAY))
            }
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                moved::<TimestampMillisecondType>(&values, offset, |days| Some(days * DAY * 1_000))
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                moved::<TimestampMicrosecondType>(&values, offset, |days| Some(days * DAY * 1_000_000))
            }
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                moved::<TimestampNanosecondType>(&values, offset, |days| Some(days * DAY * 1_000_000_000))
            }
            other => Err(Error::internal(format!("{other} is shifted"))),
        }
    }
}

/// Moves every value by the days of its row, of which `unit` makes the unit of the type. A value is
/// NULL if its row has no days.
fn moved<T: ArrowPrimitiveType>(
    values: &ArrayRef,
    offset: impl Fn(usize) -> Option<i64>,
    unit: impl Fn(i64) -> Option<T::Native>,
) -> Result<ArrayRef> {
    let dates = values.as_primitive::<T>();
    let outside = || Error::data("a date is so near the end of its type that it cannot be shifted");
    let mut masks = PrimitiveArray::<T>::builder(dates.len());
    for row in 0..dates.len() {
        masks.append_option(match offset(row).filter(|_| dates.is_valid(row)) {
            None => None,
            Some(days) => {
                let by = unit(days).ok_or_else(outside)?;
                Some(dates.value(row).add_checked(by).map_err(|_| outside())?)
            }
        });
    }
    Ok(Arc::new(masks.finish().with_data_type(values.data_type().clone())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::Date32Array;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn shifted(days: u32, secret: &[u8], people: Vec<Option<&str>>, dates: Vec<Option<i32>>) -> Result<Date32Array> {
        let (people, dates) = (StringArray::from(people), Date32Array::from(dates));
        let unmasked = Unmasked {
            values: &(Arc::new(dates) as ArrayRef),
            entity: Some(&(Arc::new(people) as ArrayRef)),
            key: Some(&Key::new(secret).unwrap()),
        };
        Ok(Shift { days }.mask(&unmasked)?.as_primitive::<Date32Type>().clone())
    }

    #[test]
    fn offsets_are_all_days_but_none() {
        let key = Key::new(b"a secret of sixteen bytes").unwrap();
        let shift = Shift { days: 3 };
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
        for date in [i32::MAX, i32::MIN] {
            let people: Vec<String> = (0..40).map(|i| i.to_string()).collect();
            let people: Vec<Option<&str>> = people.iter().map(|p| Some(p.as_str())).collect();
            let refused = shifted(1, b"0123456789abcdef", people.clone(), vec![Some(date); 40]).unwrap_err();
            assert!(!refused.to_string().contains("2147"), "{refused}");
        }
    }

    proptest! {
        /// Intervals of a person are those of the source, and no date is its own.
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
