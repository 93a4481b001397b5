//! TOP CODE and BOTTOM CODE of a hierarchy: a release does not distinguish the values beyond a
//! code.
//!
//! A code applies to the column, not to a level. All values that a code hides have the same label
//! at every level, including level 0. A range, a bound or a single value that is released in place
//! of a hidden value must not reveal more than this label. [`Codes::are_told_by`] checks this. It
//! parses the released texts, as a reader of the release would, and is implemented independently of
//! the rules that choose labels.

use super::date_format::DateFormat;
use super::line::LabelEnds;
use super::number::Number;
use super::units::Units;
use super::year_labels;
use crate::base::error::Result;
use arrow::datatypes::DataType;
use std::cmp::Ordering;
use std::fmt;

/// The code that hides a value.
///
/// ```
/// use anonsql::extend::hierarchy::Side;
/// assert_ne!(Side::Below, Side::Above);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The value is below BOTTOM CODE.
    Below,
    /// The value is equal to or above TOP CODE.
    Above,
}

/// The codes of a hierarchy. In a release, the values below `bottom` cannot be distinguished from
/// each other, and neither can the values at or above `top`.
///
/// ```
/// use anonsql::extend::hierarchy::Codes;
/// let codes = Codes::parse(None, Some("90"))?;
/// assert_eq!(codes.to_string(), "TOP CODE 90");
/// # Ok::<(), anonsql::error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Codes {
    pub(super) bottom: Option<Number>,
    pub(super) top: Option<Number>,
    pub(super) of: Coded,
}

/// The quantity that is compared with the codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Coded {
    /// The values themselves, which must be numbers.
    Numbers,
    /// The years of the values, which must be dates, timestamps, or strings in this format.
    Years(Option<DateFormat>),
}

/// An end of a label, with a flag that is true if the end is inclusive; `None` for an open end.
type End = Option<(Number, bool)>;

impl Codes {
    /// Parses the codes. Fails if a string is not a number.
    pub fn parse(bottom: Option<&str>, top: Option<&str>) -> Result<Self> {
        let number = |text: Option<&str>| text.map(str::parse).transpose();
        Ok(Self {
            bottom: number(bottom)?,
            top: number(top)?,
            of: Coded::Numbers,
        })
    }

    /// Returns the name of a check for a column. The check requires that the released labels of the
    /// column distinguish no more values than the codes allow.
    pub(crate) fn check_of(&self, column: &str) -> String {
        format!("values of {column} that say more than {self}")
    }

    /// Returns true if a released text distinguishes values that a code hides. `data_type` is the
    /// type of the column. The text is a label or the text form of bounds (`[90, ]`). If `is_point`
    /// is true, the text is a single value that represents a label. `None` and the empty text
    /// reveal nothing. A text that cannot be parsed counts as revealing.
    pub(crate) fn are_told_by(&self, text: Option<&str>, is_point: bool, data_type: &DataType) -> bool {
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            return false;
        };
        let ends = match (&self.of, is_point) {
            (Coded::Years(format), _) => year_labels::ends(text, format.as_ref()),
            (Coded::Numbers, true) => Number::parse(text).map(|point| (Some((point, true)), Some((point, true)))),
            (Coded::Numbers, false) => ends(text),
        };
        let Some((low, high)) = ends else { return true };
        let scale = match self.of {
            Coded::Years(_) => Some(0),
            Coded::Numbers => Units::of(data_type).map(|units| units.scale()),
        };
        match scale {
            Some(scale) => self.are_told_by_units(low, high, is_point, scale).unwrap_or(true),
            None => self.are_told_by_range(low, high, is_point),
        }
    }

    /// Performs the check of [`Codes::are_told_by`] for values that are whole multiples of
    /// 10^-`scale` (units). Each end is moved inward to the next unit, and each code up to the next
    /// unit, so that `>=12.5`, `[13, ]` and `>12` denote the same range of whole numbers. Returns
    /// `None` if an end or a code is too large to be counted in units.
    fn are_told_by_units(&self, low: End, high: End, is_point: bool, scale: i32) -> Option<bool> {
        let counted = |number: Option<Number>| match number {
            Some(number) => Some(Some(number.ceil_at(scale)?)),
            None => Some(None),
        };
        let (bottom, top) = (counted(self.bottom)?, counted(self.top)?);
        let low = match low {
            Some((low, true)) => Some(low.ceil_at(scale)?),
            Some((low, false)) => Some(low.floor_at(scale)?.checked_add(1)?),
            None => None,
        };
        let high = match high {
            Some((high, true)) => Some(high.floor_at(scale)?),
            Some((high, false)) => Some(high.ceil_at(scale)?.checked_sub(1)?),
            None => None,
        };
        let by_top = top.is_some_and(|top| {
            // A single value that represents a label may equal the code.
            let by_high = high.is_some_and(|high| !is_point && high >= top);
            low.is_some_and(|low| low > top) || by_high
        });
        let by_bottom = bottom.is_some_and(|bottom| {
            let by_low = low.is_some_and(|low| !is_point && low < bottom);
            by_low || high.is_some_and(|high| high < bottom - 1)
        });
        Some(by_top || by_bottom)
    }

    /// Performs the check of [`Codes::are_told_by`] for values that can be arbitrary fractions.
    fn are_told_by_range(&self, low: End, high: End, is_point: bool) -> bool {
        let by_top = self.top.is_some_and(|top| {
            let low = low.map(|(low, included)| (low.compared(top), included));
            let by_low = matches!(low, Some((Ordering::Greater, _) | (Ordering::Equal, false)));
            by_low
                || match high.map(|(high, included)| (high.compared(top), included)) {
                    Some((Ordering::Greater, _)) => true,
                    // A range of fractions is written with an exclusive upper end.
                    Some((Ordering::Equal, true)) => !is_point && low.is_some_and(|(order, _)| order.is_eq()),
                    _ => false,
                }
        });
        let below = |end: End, code: Number| end.is_some_and(|(end, _)| end.compared(code).is_lt());
        by_top
            || self
                .bottom
                .is_some_and(|bottom| below(low, bottom) || below(high, bottom))
    }
}

/// Parses the ends of a label or of the text form of bounds, in which an open end is empty. Returns
/// `None` if the text cannot be parsed.
fn ends(text: &str) -> Option<(End, End)> {
    let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    if let Some((low, high)) = inside.and_then(|inside| inside.split_once(", ")) {
        let end = |text: &str| match text {
            "" => Some(None),
            text => Number::parse(text).map(|number| Some((number, true))),
        };
        return end(low).zip(end(high));
    }
    let line = LabelEnds::read(text, |text| Number::parse(text).is_some())?;
    let end = |(text, included): (&str, bool)| Some((Number::parse(text)?, included));
    Some((line.low.and_then(end), line.high.and_then(end)))
}

impl fmt::Display for Codes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bottom = self.bottom.map(|code| format!("BOTTOM CODE {code}"));
        let top = self.top.map(|code| format!("TOP CODE {code}"));
        f.write_str(&bottom.into_iter().chain(top).collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(codes: &Codes, data_type: &DataType, is_point: bool, texts: &[&str]) -> Vec<bool> {
        let told = |text: &&str| codes.are_told_by(Some(text), is_point, data_type);
        texts.iter().map(told).collect()
    }

    fn all(of: bool, count: usize) -> Vec<bool> {
        vec![of; count]
    }

    #[test]
    fn labels_that_tell_hidden_values_apart_are_found() {
        let codes = Codes::parse(Some("20"), Some("90")).unwrap();
        let tells = [
            "93", "90", ">90", ">=91", "[85, 90]", "85-93", "[85, 95]", "[91, ]", "<95", "19", "<18", "[, 18]",
            "[15, 34]", ">=18", "15-19", "-3", "19-24", "nineteen",
        ];
        assert_eq!(told(&codes, &DataType::Int64, false, &tells), all(true, tells.len()));
        let keeps = [
            ">=90", "<20", "", "20", "89", "20-24", "[85, 89]", ">=85", "[85, ]", "<35", "<=34", "[, 34]", "[, 19]",
            "[90, ]", "<90",
        ];
        assert_eq!(told(&codes, &DataType::Int64, false, &keeps), all(false, keeps.len()));
        assert!(!codes.are_told_by(None, false, &DataType::Int64));
    }

    #[test]
    fn fractions_end_at_the_code_that_they_do_not_reach() {
        let codes = Codes::parse(Some("0.5"), Some("90")).unwrap();
        let tells = [
            "90.0",
            "[90.0, 95.0)",
            "90.5",
            "[85.0, 90.5]",
            "[0.25, 1.0)",
            "0.0",
            "<0.25",
        ];
        assert_eq!(told(&codes, &DataType::Float64, false, &tells), all(true, tells.len()));
        let keeps = [
            "[85.0, 90.0)",
            "[85.0, 90.0]",
            ">=90.0",
            "<0.5",
            "0.5",
            "89.75",
            "[, 0.5]",
        ];
        assert_eq!(told(&codes, &DataType::Float64, false, &keeps), all(false, keeps.len()));
        let cents = DataType::Decimal128(9, 2);
        assert_eq!(
            told(
                &codes,
                &cents,
                false,
                &["[85.00, 89.99]", "[, 0.49]", "[, 0.48]", "[85.00, 90.00]"]
            ),
            [false, false, true, true]
        );
    }

    #[test]
    fn codes_between_two_whole_numbers_hide_from_the_next_one_on() {
        let codes = Codes::parse(Some("4.5"), Some("12.5")).unwrap();
        let keeps = [
            ">=12.5",
            "[13, ]",
            ">12",
            "[9.0, 12.5)",
            "<4.5",
            "[, 4]",
            "<5",
            "[5, 12]",
        ];
        assert_eq!(told(&codes, &DataType::Int64, false, &keeps), all(false, keeps.len()));
        let tells = [
            "[14, ]", ">=14", "[5, 13]", "<4", "[, 3]", "[4, 12]", "13", "4", "1e300",
        ];
        assert_eq!(told(&codes, &DataType::Int64, false, &tells), all(true, tells.len()));
        let points = ["13", "4", "14", "3"];
        assert_eq!(
            told(&codes, &DataType::Int64, true, &points),
            [false, false, true, true]
        );
    }

    #[test]
    fn codes_of_dates_are_years() {
        let format = DateFormat::try_new("%d.%m.%Y").unwrap();
        let codes = Codes {
            bottom: Number::parse("1937"),
            top: None,
            of: Coded::Years(Some(format)),
        };
        let tells = [
            "1936",
            "1936-12-31",
            "31.12.1936",
            "<1936",
            "1930s",
            "[1930-01-01, 1941-12-31]",
            "<=1930-05-01",
            "unknown",
        ];
        assert_eq!(told(&codes, &DataType::Date32, false, &tells), all(true, tells.len()));
        let keeps = [
            "<1937",
            "1937",
            "1937-01-01",
            "1.1.1937",
            "1937-1939",
            "1940s",
            "<=1941-05-02",
            "[, 1936-12-31]",
            "",
        ];
        assert_eq!(told(&codes, &DataType::Date32, false, &keeps), all(false, keeps.len()));
        let points = ["1936-12-31", "1935-12-31"];
        assert_eq!(told(&codes, &DataType::Date32, true, &points), [false, true]);
    }

    #[test]
    fn one_value_may_stand_for_what_is_hidden() {
        let codes = Codes::parse(Some("20"), Some("90")).unwrap();
        let points = ["90", "91", "19", "18", "55", "x"];
        assert_eq!(
            told(&codes, &DataType::Int64, true, &points),
            [false, true, false, true, false, true]
        );
        assert_eq!(
            told(&codes, &DataType::Float64, true, &["90.0", "90.5", "20.0", "19.5"]),
            [false, true, false, true]
        );
    }
}
