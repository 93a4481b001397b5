//! Codes of dates: the years before BOTTOM CODE are one group to a reader, and so are the years from TOP CODE on.

use super::codes::Side;
use super::date_format::DateFormat;
use super::line::Line;
use super::number::Number;
use crate::error::{Error, Result};

/// An end of a label, and whether it is included; `None` for an open end.
type End = Option<(Number, bool)>;

/// The codes of a rule that labels dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Years {
    pub(super) bottom: Option<u32>,
    pub(super) top: Option<u32>,
}

impl Years {
    /// Returns the codes. Fails unless they are years of four digits, in order.
    pub(super) fn try_new(bottom: Option<u32>, top: Option<u32>) -> Result<Self> {
        if let Some(code) = bottom.iter().chain(&top).find(|code| !(1..=9999).contains(*code)) {
            return Err(Error::usage(format!(
                "TRUNCATE: {code} is not a year from 1 to 9999; a code of dates is a year, as in BOTTOM CODE 1937"
            )));
        }
        match (bottom, top) {
            (Some(bottom), Some(top)) if bottom >= top => Err(Error::usage(format!(
                "TRUNCATE: BOTTOM CODE {bottom} must be less than TOP CODE {top}"
            ))),
            _ => Ok(Self { bottom, top }),
        }
    }

    /// Returns true if there is no code.
    pub(super) fn is_empty(self) -> bool {
        self.bottom.is_none() && self.top.is_none()
    }

    /// Returns the code that hides a year.
    pub(super) fn side(self, year: i32) -> Option<Side> {
        let (year, of) = (i64::from(year), |code: Option<u32>| code.map(i64::from));
        match (of(self.bottom), of(self.top)) {
            (Some(bottom), _) if year < bottom => Some(Side::Below),
            (_, Some(top)) if year >= top => Some(Side::Above),
            _ => None,
        }
    }

    /// Returns the label of the years from `first` to `last`, in which a year is that has the label, if a code decides it.
    pub(super) fn label(self, year: i32, (first, last): (i32, i32)) -> Option<String> {
        match (self.side(year), self.bottom, self.top) {
            (Some(Side::Below), Some(bottom), _) => return Some(format!("<{bottom:04}")),
            (Some(Side::Above), _, Some(top)) => return Some(format!(">={top:04}")),
            _ => {}
        }
        let low = self.bottom.map_or(first, |code| first.max(code as i32));
        let high = self.top.map_or(last, |code| last.min(code as i32 - 1));
        match (low, high) {
            ends if ends == (first, last) => None,
            (low, high) if low == high => Some(format!("{low:04}")),
            (low, high) => Some(format!("{low:04}-{high:04}")),
        }
    }
}

/// Reads the first and the last year of a label, of a date that is written in `format`, or of the text of bounds, in which
/// an open end is empty.
pub(super) fn ends(text: &str, format: Option<&DateFormat>) -> Option<(End, End)> {
    let span = |text: &str| span(text, format);
    let included = |year: i32| Some((Number::new(year.into(), 0), true));
    let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    if let Some((low, high)) = inside.and_then(|inside| inside.split_once(", ")) {
        let end = |text: &str, of: fn((i32, i32)) -> i32| match text {
            "" => Some(None),
            text => span(text).map(|span| included(of(span))),
        };
        return end(low, |span| span.0).zip(end(high, |span| span.1));
    }
    let line = Line::read(text, |text| span(text).is_some())?;
    // Only a whole year is left out by an end that is not included.
    let is_whole = |text: &str| text.len() == 4;
    let low = line.low.map(|(text, with)| {
        let (first, last) = span(text)?;
        included(if with || !is_whole(text) { first } else { last + 1 })
    });
    let high = line.high.map(|(text, with)| {
        let (first, last) = span(text)?;
        included(if with || !is_whole(text) { last } else { first - 1 })
    });
    Some((low.flatten(), high.flatten()))
}

/// Returns the first and the last year of what a text names: `1950-05-17`, `1950-Q2`, `1950s`, `1937-1939`.
fn span(text: &str, format: Option<&DateFormat>) -> Option<(i32, i32)> {
    use chrono::Datelike;
    if let Some(at) = format.and_then(|format| format.read(text)) {
        return Some((at.year(), at.year()));
    }
    let digits = |text: &str| {
        let is_year = text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit());
        text.parse::<i32>().ok().filter(|_| is_year)
    };
    let (year, rest) = text.split_at_checked(4)?;
    let year = digits(year)?;
    match (rest, rest.strip_prefix('-').and_then(digits)) {
        (_, Some(last)) => Some((year, last)),
        ("s", _) => Some((year, year + 9)),
        (rest, _) => (!rest.starts_with(|c: char| c.is_ascii_digit())).then_some((year, year)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<(Option<String>, Option<String>)> {
        let format = DateFormat::try_new("%d.%m.%Y").ok();
        let end = |end: End| end.map(|(year, included)| format!("{year}{}", if included { "" } else { "!" }));
        ends(text, format.as_ref()).map(|(low, high)| (end(low), end(high)))
    }

    #[test]
    fn years_of_labels_are_read() {
        for (text, low, high) in [
            ("1950", "1950", "1950"),
            ("1950-05-17", "1950", "1950"),
            ("1950-05-17T10:30:00+02:00", "1950", "1950"),
            ("24.12.1936", "1936", "1936"),
            ("1950-Q2", "1950", "1950"),
            ("1950s", "1950", "1959"),
            ("1937-1939", "1937", "1939"),
            ("[1930-01-01, 1941-05-02]", "1930", "1941"),
            ("[, 1941-05-02]", "", "1941"),
            ("<1937", "", "1936"),
            ("<=1941-05-02", "", "1941"),
            ("<1941-05", "", "1941"),
            (">=2020", "2020", ""),
            (">2020", "2021", ""),
        ] {
            let end = |text: &str| Some(text.to_string()).filter(|text| !text.is_empty());
            assert_eq!(shown(text), Some((end(low), end(high))), "{text}");
        }
        for text in ["", "x", "19500", "950", "31.2.1936", "[x, 1950]"] {
            assert_eq!(shown(text), None, "{text}");
        }
    }

    #[test]
    fn codes_decide_the_labels_of_the_years_around_them() {
        let years = Years::try_new(Some(1937), Some(2021)).unwrap();
        let label = |year, span| years.label(year, span);
        assert_eq!(label(1936, (1936, 1936)).as_deref(), Some("<1937"));
        assert_eq!(label(1936, (1930, 1939)).as_deref(), Some("<1937"));
        assert_eq!(label(1938, (1930, 1939)).as_deref(), Some("1937-1939"));
        assert_eq!(label(1938, (1938, 1938)), None);
        assert_eq!(label(1950, (1950, 1959)), None);
        assert_eq!(label(2020, (2020, 2029)).as_deref(), Some("2020"));
        assert_eq!(label(2025, (2020, 2029)).as_deref(), Some(">=2021"));
        let said = |bottom, top| Years::try_new(bottom, top).unwrap_err().to_string();
        assert!(said(Some(0), None).contains("not a year from 1 to 9999"));
        assert!(said(None, Some(19_370_101)).contains("not a year from 1 to 9999"));
        assert!(said(Some(2000), Some(2000)).contains("must be less than TOP CODE 2000"));
    }
}
