//! Codes: the promise of a hierarchy that nothing tells values beyond TOP CODE or BOTTOM CODE apart.
//!
//! A code holds for the column, and not for a level: the values that it hides have one label at every level, level 0
//! included, and no range, bound or single value that stands for one of them may say more. [`Codes::are_told_by`] reads
//! what was released, as a reader does, and shares no code with the choice of labels.

use super::line::Line;
use super::number::Number;
use super::units::Units;
use crate::error::Result;
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
    /// The value is TOP CODE or above it.
    Above,
}

/// The codes of a hierarchy: values below `bottom` are one to a reader, and so are values from `top` on.
///
/// ```
/// use anonsql::extend::hierarchy::Codes;
/// let codes = Codes::parse(None, Some("90"))?;
/// assert_eq!(codes.to_string(), "TOP CODE 90");
/// # Ok::<(), anonsql::error::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Codes {
    pub(super) bottom: Option<Number>,
    pub(super) top: Option<Number>,
}

/// An end of a label, and whether it is included; `None` for an open end.
type End = Option<(Number, bool)>;

impl Codes {
    /// Returns the codes that these texts are. Fails if one is no number.
    pub fn parse(bottom: Option<&str>, top: Option<&str>) -> Result<Self> {
        let number = |text: Option<&str>| text.map(str::parse).transpose();
        Ok(Self {
            bottom: number(bottom)?,
            top: number(top)?,
        })
    }

    /// Returns the name of the check that the labels of a column keep to the codes.
    pub(crate) fn check_of(&self, column: &str) -> String {
        format!("values of {column} that say more than {self}")
    }

    /// Returns true if a released text of a column of this type tells apart what a code hides: a label, the text of bounds
    /// (`[90, ]`), or with `is_point` one value that stands for a label. `None` and the empty text say nothing, and what
    /// cannot be read counts as told.
    pub(crate) fn are_told_by(&self, text: Option<&str>, is_point: bool, data_type: &DataType) -> bool {
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            return false;
        };
        // The value next below a code is the greatest that it hides, where there is one.
        let unit = Units::of(data_type).map(|units| Number::new(1, -units.scale()));
        if is_point {
            return Number::parse(text).is_none_or(|point| self.is_told_by_point(point, unit));
        }
        let Some((low, high)) = ends(text) else { return true };
        let order = |(end, included): (Number, bool), code: Number| (end.compared(code), included);
        let top = self.top.is_some_and(|top| {
            let low_at_code = low.is_some_and(|low| low.0 == top);
            let by_low = matches!(
                low.map(|low| order(low, top)),
                Some((Ordering::Greater, _) | (Ordering::Equal, false))
            );
            by_low
                || match high.map(|high| order(high, top)) {
                    Some((Ordering::Greater, _)) => true,
                    // A range of fractions is written with the end that none of its values has.
                    Some((Ordering::Equal, true)) => unit.is_some() || low_at_code,
                    _ => false,
                }
        });
        let bottom = self.bottom.is_some_and(|bottom| {
            low.is_some_and(|low| low.0.compared(bottom).is_lt())
                || high.is_some_and(|high| high.0.compared(bottom).is_lt() && !hides_up_to(high, bottom, unit))
        });
        top || bottom
    }

    fn is_told_by_point(&self, point: Number, unit: Option<Number>) -> bool {
        self.top.is_some_and(|top| point.compared(top).is_gt())
            || self
                .bottom
                .is_some_and(|bottom| point.compared(bottom).is_lt() && !hides_up_to((point, true), bottom, unit))
    }
}

/// Returns true if an end is that of the values below a code.
fn hides_up_to((end, included): (Number, bool), code: Number, unit: Option<Number>) -> bool {
    included && unit.and_then(|unit| end.plus(unit)) == Some(code)
}

/// Reads the ends of a label, or of the text of bounds, in which an open end is empty.
fn ends(text: &str) -> Option<(End, End)> {
    let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    if let Some((low, high)) = inside.and_then(|inside| inside.split_once(", ")) {
        let end = |text: &str| match text {
            "" => Some(None),
            text => Number::parse(text).map(|number| Some((number, true))),
        };
        return end(low).zip(end(high));
    }
    let line = Line::read(text, |text| Number::parse(text).is_some())?;
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
