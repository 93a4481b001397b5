//! TOP CODE and BOTTOM CODE for dates. A release does not distinguish the years before BOTTOM CODE
//! from each other. Likewise, it does not distinguish the year TOP CODE and all later years from
//! each other.

use super::codes::Side;
use crate::base::error::{Error, Result};

/// The codes of a rule that labels dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Years {
    pub(super) bottom: Option<u32>,
    pub(super) top: Option<u32>,
}

impl Years {
    /// Creates the codes. Fails unless they are years from 1 to 9999 and BOTTOM CODE is less than
    /// TOP CODE.
    pub(super) fn try_new(bottom: Option<u32>, top: Option<u32>) -> Result<Self> {
        if let Some(code) = bottom.iter().chain(&top).find(|code| !(1..=9999).contains(*code)) {
            return Err(Error::usage(format!(
                "TRUNCATE: {code} is not a year from 1 to 9999; the code of a date hierarchy is a year, as in BOTTOM \
                 CODE 1937"
            )));
        }
        match (bottom, top) {
            (Some(bottom), Some(top)) if bottom >= top => Err(Error::usage(format!(
                "TRUNCATE: BOTTOM CODE {bottom} must be less than TOP CODE {top}"
            ))),
            _ => Ok(Self { bottom, top }),
        }
    }

    /// Returns true if there is neither a bottom code nor a top code.
    pub(super) fn is_empty(self) -> bool {
        self.bottom.is_none() && self.top.is_none()
    }

    /// Returns the code that hides a year; `None` if no code hides it.
    pub(super) fn side(self, year: i32) -> Option<Side> {
        let (year, of) = (i64::from(year), |code: Option<u32>| code.map(i64::from));
        match (of(self.bottom), of(self.top)) {
            (Some(bottom), _) if year < bottom => Some(Side::Below),
            (_, Some(top)) if year >= top => Some(Side::Above),
            _ => None,
        }
    }

    /// Returns the label for `year` if a code hides the year or another part of its unit, and
    /// `None` otherwise. `first` and `last` are the first and the last year of the unit that
    /// contains `year`.
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

#[cfg(test)]
mod tests {
    use super::*;

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
