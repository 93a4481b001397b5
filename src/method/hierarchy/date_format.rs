//! The format of dates and timestamps that are strings.

use crate::base::error::{Error, Result};
use chrono::format::{Item, Parsed, StrftimeItems, parse};
use chrono::{Datelike, NaiveDateTime, NaiveTime};

/// A format in the syntax of `strptime`, which is also the syntax of formats in `to_date` and
/// `to_timestamp`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DateFormat {
    text: String,
    items: Vec<Item<'static>>,
}

impl DateFormat {
    /// Parses a format. Fails with `ErrorKind::Usage` unless the format determines the year, the
    /// month and the day.
    pub(super) fn try_new(text: &str) -> Result<Self> {
        let items = StrftimeItems::new(text).parse_to_owned();
        let format = items.ok().map(|items| Self {
            text: text.to_string(),
            items,
        });
        let complete = format.filter(|format| {
            let written = EXAMPLE.format_with_items(format.items.iter());
            let mut shown = String::new();
            let is_written = std::fmt::Write::write_fmt(&mut shown, format_args!("{written}")).is_ok();
            is_written && format.read(&shown).is_some_and(|at| at.date() == EXAMPLE.date())
        });
        complete.ok_or_else(|| {
            Error::usage(format!(
                "FORMAT {text:?} must contain year, month and day: %Y is the year, %m the month, %d the day, %B a month's \
                 name, %H:%M:%S the time; example: FORMAT '%d.%m.%Y'"
            ))
        })
    }

    /// Returns the format as it was given.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns true if the format contains a time of day.
    pub(super) fn has_time(&self) -> bool {
        let written = EXAMPLE.format_with_items(self.items.iter()).to_string();
        self.read(&written).is_some_and(|at| at.time() != NaiveTime::MIN)
    }

    /// Parses a date or a timestamp; `None` if the text is not in this format. A date is parsed as
    /// the first instant of the day.
    pub(super) fn read(&self, text: &str) -> Option<NaiveDateTime> {
        let mut parsed = Parsed::new();
        parse(&mut parsed, text.trim(), self.items.iter()).ok()?;
        let date = parsed.to_naive_date().ok()?;
        // %Y writes four digits, but also parses fewer. A text with fewer digits is rejected,
        // because 20 probably does not mean the year 20.
        if date.year() < 1000 && (date.year() < 0 || !text.contains(&format!("{:04}", date.year()))) {
            return None;
        }
        Some(date.and_time(parsed.to_naive_time().unwrap_or(NaiveTime::MIN)))
    }
}

/// A timestamp whose parts all have different values: 2013-11-25T14:36:52.
const EXAMPLE: NaiveDateTime = NaiveDateTime::new(
    match chrono::NaiveDate::from_ymd_opt(2013, 11, 25) {
        Some(date) => date,
        None => chrono::NaiveDate::MIN,
    },
    match NaiveTime::from_hms_opt(14, 36, 52) {
        Some(time) => time,
        None => NaiveTime::MIN,
    },
);
