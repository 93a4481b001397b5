//! The version of a table that a statement reads.

use crate::base::error::{Error, Result};
use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};
use std::fmt;

/// The version of a table that a statement reads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum At {
    /// The newest version at the start of the statement.
    #[default]
    Newest,
    /// The version with this number.
    Version(u64),
    /// The newest version at the given time, which is kept as text.
    Timestamp(String),
}

/// The character between a path and a version or time in a quoted name: `delta.'people@v3'`.
const AT: char = '@';
/// The formats of a time without a zone. Such a time is in UTC.
const TIMES: &[&str] = &["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f"];

impl At {
    /// Splits a name in the schema `delta` or `ducklake` into the path of the table and its
    /// version.
    pub(crate) fn of_name(name: &str) -> (&str, Self) {
        let Some((path, at)) = name.rsplit_once(AT) else {
            return (name, Self::Newest);
        };
        match at.strip_prefix('v').map(str::parse) {
            Some(Ok(number)) => (path, Self::Version(number)),
            None if time(at).is_ok() => (path, Self::Timestamp(at.into())),
            _ => (name, Self::Newest),
        }
    }
}

/// Parses a time. Fails with `ErrorKind::Usage` if the text is not a time.
pub(crate) fn time(text: &str) -> Result<DateTime<Utc>> {
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Ok(time.to_utc());
    }
    let plain = TIMES
        .iter()
        .find_map(|form| NaiveDateTime::parse_from_str(text, form).ok());
    let day = || NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0);
    plain.or_else(day).map(|time| time.and_utc()).ok_or_else(|| {
        Error::usage(format!(
            "TIMESTAMP AS OF {text:?} is not a time; write '2026-01-31 18:00:00', which is in UTC, or \
             '2026-01-31T18:00:00+01:00'"
        ))
    })
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Newest => Ok(()),
            Self::Version(number) => write!(f, " VERSION AS OF {number}"),
            Self::Timestamp(time) => write!(f, " TIMESTAMP AS OF {}", crate::base::quoting::literal(time)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_end_in_a_version() {
        for (name, path, at) in [
            ("lake/people", "lake/people", At::Newest),
            ("lake/people@v3", "lake/people", At::Version(3)),
            ("lake@v1/people@v12", "lake@v1/people", At::Version(12)),
            ("lake/people@vx", "lake/people@vx", At::Newest),
            ("lake/people@x", "lake/people@x", At::Newest),
            ("lake@b/p@2026-01-31", "lake@b/p", At::Timestamp("2026-01-31".into())),
        ] {
            assert_eq!(At::of_name(name), (path, at));
        }
    }

    #[test]
    fn times_without_a_zone_are_in_utc() {
        let noon = "2026-01-31T12:00:00Z".parse::<DateTime<Utc>>().unwrap();
        for text in [
            "2026-01-31T12:00:00Z",
            "2026-01-31T13:00:00+01:00",
            "2026-01-31 12:00:00",
            "2026-01-31T12:00:00.000",
        ] {
            assert_eq!(time(text).unwrap(), noon, "{text}");
        }
        assert_eq!(time("2026-01-31").unwrap(), noon - chrono::Duration::hours(12));
        for text in ["", "yesterday", "2026-02-31", "12:00:00"] {
            assert_eq!(time(text).unwrap_err().exit_code(), 1, "{text}");
        }
    }
}
