//! The formats of dates that are written as text or as whole numbers.

use chrono::{Datelike, NaiveDate};

/// The usual date formats, in the syntax of `strptime`. If several formats match the same number of
/// values, the first one is used. So a format comes before the formats that match the same texts by
/// chance.
const SPELLINGS: &[&str] = &[
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%Y%m%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d %B %Y",
    "%d-%B-%Y",
    "%B %d, %Y",
    "%B %d %Y",
];

/// A date format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spelling {
    /// The format in the syntax of `strptime`.
    pub(super) format: &'static str,
    /// True if another format matches the same number of sampled values.
    pub(super) is_ambiguous: bool,
}

impl Spelling {
    /// Returns the year of a date in this format; `None` if the text is not such a date.
    pub(super) fn year(&self, text: &str) -> Option<i64> {
        let date = NaiveDate::parse_from_str(text, self.format).ok()?;
        Some(date.year().into())
    }
}

/// Returns the format that matches the most texts, counting only dates from 1800 to 2199. Returns
/// `None` if the format matches less than the share `most` of the texts.
pub(super) fn spelling(texts: &[&str], most: f64) -> Option<Spelling> {
    let read = |format: &str| texts.iter().filter(|text| is_date(text, format)).count();
    // The format with the highest count is chosen, and the first one if counts are equal. The list
    // is reversed because `max_by_key` returns the last maximum.
    let (count, format) = SPELLINGS
        .iter()
        .rev()
        .map(|format| (read(format), *format))
        .max_by_key(|(count, _)| *count)?;
    let others = SPELLINGS.iter().filter(|other| **other != format);
    let is_date = count > 0 && count as f64 >= most * texts.len() as f64;
    is_date.then(|| Spelling {
        format,
        is_ambiguous: others.into_iter().any(|other| read(other) == count),
    })
}

fn is_date(text: &str, format: &str) -> bool {
    let year = |date: NaiveDate| (1800..2200).contains(&date.year());
    NaiveDate::parse_from_str(text, format).is_ok_and(year)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_spellings_are_known() {
        for (texts, format, is_ambiguous) in [
            (["1980-12-24", "2001-01-31"], "%Y-%m-%d", false),
            (["24.12.1980", "1.2.2001"], "%d.%m.%Y", false),
            (["24/12/1980", "01/02/2001"], "%d/%m/%Y", false),
            (["12/24/1980", "01/02/2001"], "%m/%d/%Y", false),
            (["12/11/1980", "01/02/2001"], "%d/%m/%Y", true),
            (["19801224", "20010131"], "%Y%m%d", false),
            (["24 December 1980", "1 Feb 2001"], "%d %B %Y", false),
            (["24-Dec-1980", "01-FEB-2001"], "%d-%B-%Y", false),
            (["December 24, 1980", "Feb 1, 2001"], "%B %d, %Y", false),
        ] {
            assert_eq!(
                spelling(&texts, 0.8),
                Some(Spelling { format, is_ambiguous }),
                "{texts:?}"
            );
        }
        for texts in [
            ["12345678", "99999999"],
            ["24.12.80", "1.2.01"],
            ["a", "b"],
            ["10115", "80331"],
        ] {
            assert_eq!(spelling(&texts, 0.8), None, "{texts:?}");
        }
        assert_eq!(spelling(&[], 0.8), None);
    }
}
