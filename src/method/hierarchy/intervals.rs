//! INTERVALS: numbers in groups of equal width, which grows from level to level.
//!
//! At level i, values x with the same floor((x - origin) / width_i) form a group. Every width is a
//! multiple of the width of the level below, so groups nest for any data. At every level, values
//! below BOTTOM CODE have the label `<code`, and values of TOP CODE or more have the label
//! `>=code`. This includes level 0, where the label of every other value is the value itself. A
//! group that contains a code is cut off at the code. Labels of integers include both ends
//! (`20-24`); labels of other numbers exclude the upper end (`[20.0, 25.0)`). Integers and decimals
//! are computed exactly, and floats in their shortest decimal form. NaN and infinity belong to no
//! group. A number that is too large to be computed exactly belongs to no group either, unless a
//! code hides it.
//!
//! Example: `CREATE HIERARCHY age AS INTERVALS (5, 10, 20) BOTTOM CODE 20 TOP CODE 90`.
//!
//! Reference: Hundepool et al., Statistical Disclosure Control, 2012, sections 3.3.1 (global
//! recoding) and 3.3.2 (top and bottom coding), doi:10.1002/9781118348239.

use super::clause::{Clause, Item, Kind, Part, Takes};
use super::codes::{Coded, Codes, Side};
use super::ground;
use super::line::LabelEnds;
use super::number::{BEYOND, Number, common_scale, decimal, floored, is_whole};
use super::rule::{GeneralizationRule, LevelRule};
use crate::base::catalogue::Info;
use crate::base::error::{Error, Result};
use arrow::array::{ArrayRef, StringArray};
use arrow::datatypes::DataType;
use std::sync::Arc;

/// The rule with groups of equal width. All numbers are in units of 10^-`scale`.
#[derive(Debug, Clone)]
pub struct Intervals {
    widths: Vec<i128>,
    origin: i128,
    bottom: Option<i128>,
    top: Option<i128>,
    scale: i32,
}

impl Intervals {
    /// Creates the rule with one level per width in `widths`. One group starts at `origin`, and all
    /// groups of a level have the same width. All values below `bottom` form one group, and all
    /// values of `top` or more form one group.
    pub fn try_new(widths: &[Number], origin: Number, bottom: Option<Number>, top: Option<Number>) -> Result<Self> {
        let all: Vec<Number> = widths
            .iter()
            .chain([&origin])
            .chain(&bottom)
            .chain(&top)
            .copied()
            .collect();
        let scale = common_scale(&all)?;
        let units = |n: Number| {
            n.exact_at(scale)
                .filter(|u| u.unsigned_abs() < 1 << 100)
                .ok_or_else(|| Error::usage(format!("INTERVALS: {n} is too large")))
        };
        let intervals = Self {
            widths: widths.iter().map(|w| units(*w)).collect::<Result<_>>()?,
            origin: units(origin)?,
            bottom: bottom.map(units).transpose()?,
            top: top.map(units).transpose()?,
            scale,
        };
        intervals.check().map(|()| intervals)
    }

    fn number(&self, units: i128) -> Number {
        Number::new(units, -self.scale)
    }

    fn check(&self) -> Result<()> {
        let show = |units| self.number(units);
        let Some(first) = self.widths.first() else {
            return Err(Error::usage("INTERVALS needs at least one width"));
        };
        if *first <= 0 {
            return Err(Error::usage("INTERVALS: widths must be above 0"));
        }
        for (pair, level) in self.widths.windows(2).zip(1..) {
            if pair[1] <= pair[0] || pair[1] % pair[0] != 0 {
                return Err(Error::usage(format!(
                    "INTERVALS: groups do not nest: width {} of level {} is not a larger multiple of width {} of level {level}",
                    show(pair[1]),
                    level + 1,
                    show(pair[0]),
                )));
            }
        }
        match (self.bottom, self.top) {
            (Some(bottom), Some(top)) if bottom >= top => Err(Error::usage(format!(
                "INTERVALS: BOTTOM CODE {} must be less than TOP CODE {}",
                show(bottom),
                show(top)
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the code that hides a value, which is given in units; `None` if no code hides it.
    fn side(&self, units: i128) -> Option<Side> {
        if self.bottom.is_some_and(|bottom| units < bottom) {
            return Some(Side::Below);
        }
        self.top.filter(|top| units >= *top).map(|_| Side::Above)
    }

    /// Returns the label of a value at a level with groups of width `width`, both in units. Returns
    /// `None` if the ends of the group are too large to compute.
    fn label(&self, units: i128, width: i128, form: Form) -> Option<String> {
        match (self.side(units), self.bottom, self.top) {
            (Some(Side::Below), Some(bottom), _) => return Some(format!("<{}", form.number(bottom))),
            (Some(Side::Above), _, Some(top)) => return Some(format!(">={}", form.number(top))),
            _ => {}
        }
        if units.unsigned_abs() == BEYOND.unsigned_abs() {
            return None;
        }
        let group = units.checked_sub(self.origin)?.div_euclid(width);
        let low = group.checked_mul(width)?.checked_add(self.origin)?;
        let high = low.checked_add(width)?;
        Some(form.range(
            self.bottom.map_or(low, |b| b.max(low)),
            self.top.map_or(high, |t| t.min(high)),
        ))
    }
}

impl Intervals {
    /// Returns true if `label` is the label of a group of width `width`. The only group that can
    /// have this label is the group that contains the lower end of the label, or, for a label
    /// without a lower end, the group of the values below BOTTOM CODE.
    fn has_label(&self, width: i128, label: &str) -> bool {
        let line = LabelEnds::read(label, |text| Number::parse(text).is_some());
        let units = line.and_then(|line| match line.low {
            Some((low, _)) => Number::parse(low)?.exact_at(self.scale),
            None => self.bottom.map(|bottom| bottom - 1),
        });
        let forms = [Form::HalfOpen(self.scale), Form::Inclusive];
        let mut forms = forms.iter().take(if self.scale == 0 { 2 } else { 1 });
        units.is_some_and(|units| forms.any(|form| self.label(units, width, *form).as_deref() == Some(label)))
    }
}

/// The format of the ends of a group in a label.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// Whole numbers; both ends are inclusive.
    Inclusive,
    /// Numbers with this many digits after the decimal point; the upper end is exclusive.
    HalfOpen(i32),
}

impl Form {
    fn number(self, units: i128) -> String {
        match self {
            Form::Inclusive => units.to_string(),
            Form::HalfOpen(scale) => decimal(units, scale, 1),
        }
    }

    /// Returns the label of the group of values that are at least `low` and less than `high`.
    fn range(self, low: i128, high: i128) -> String {
        match self {
            Form::Inclusive if high - low == 1 => low.to_string(),
            Form::Inclusive if low < 0 => format!("{low} to {}", high - 1),
            Form::Inclusive => format!("{low}-{}", high - 1),
            Form::HalfOpen(_) => format!("[{}, {})", self.number(low), self.number(high)),
        }
    }
}

impl GeneralizationRule for Intervals {
    fn kind(&self) -> &'static str {
        KIND.info.name
    }

    fn levels(&self) -> usize {
        self.widths.len()
    }

    fn accepts(&self, data_type: &DataType) -> Result<()> {
        if ground::plain_type(data_type).is_numeric() {
            return Ok(());
        }
        Err(ground::unfit("INTERVALS", "numbers", data_type))
    }

    fn labels(&self, values: &ArrayRef) -> Result<Vec<StringArray>> {
        let values = ground::plain(values)?;
        let form = match self.scale {
            0 if is_whole(values.data_type()) => Form::Inclusive,
            scale => Form::HalfOpen(scale),
        };
        let units = floored(&values, self.scale)?;
        // A value is mapped if it has a label at the level with the widest groups, so that each
        // value is mapped at all levels or at none.
        let widest = self.widths.last().copied().unwrap_or(1);
        let mapped: Vec<Option<i128>> = units
            .into_iter()
            .map(|u| u.filter(|u| self.label(*u, widest, form).is_some()))
            .collect();
        let level = |width: &i128| mapped.iter().map(|u| self.label((*u)?, *width, form)).collect();
        Ok(self.widths.iter().map(level).collect())
    }

    fn codes(&self) -> Option<Codes> {
        let code = |units: Option<i128>| units.map(|units| self.number(units));
        (self.bottom.is_some() || self.top.is_some()).then(|| Codes {
            bottom: code(self.bottom),
            top: code(self.top),
            of: Coded::Numbers,
        })
    }

    fn hidden(&self, values: &ArrayRef) -> Result<Vec<Option<Side>>> {
        let units = floored(&ground::plain(values)?, self.scale)?;
        Ok(units.into_iter().map(|units| self.side(units?)).collect())
    }

    fn is_label(&self, level: u8, label: &str) -> Option<bool> {
        let width = self.widths.get(usize::from(level).checked_sub(1)?)?;
        Some(self.has_label(*width, label))
    }

    fn is_intervals(&self) -> bool {
        true
    }

    fn is_free_of_data(&self) -> bool {
        true
    }

    fn sql(&self) -> String {
        let widths: Vec<String> = self.widths.iter().map(|w| self.number(*w).to_string()).collect();
        let mut sql = format!("AS INTERVALS ({})", widths.join(", "));
        let origin = Some(self.origin).filter(|o| *o != 0);
        for (word, number) in [("ORIGIN", origin), ("BOTTOM CODE", self.bottom), ("TOP CODE", self.top)] {
            if let Some(units) = number {
                sql += &format!(" {word} {}", self.number(units));
            }
        }
        sql
    }

    fn describe(&self) -> Vec<LevelRule> {
        let rules = self.widths.iter().map(|width| LevelRule {
            rule: format!("intervals of width {}", self.number(*width)),
            labels: None,
        });
        rules.collect()
    }
}

/// The entry of the kind in the catalogue.
pub(super) const KIND: Kind = Kind {
    info: Info {
        name: "intervals",
        summary: "numbers in groups of equal width; each width a multiple of the one before",
        params: &[],
        example: "CREATE HIERARCHY age AS INTERVALS (5, 10, 20) ORIGIN 0 BOTTOM CODE 20 TOP CODE 90",
        reference: "Hundepool et al., 2012, sections 3.3.1 and 3.3.2, doi:10.1002/9781118348239",
    },
    clause: Clause {
        start: "AS INTERVALS",
        syntax: "AS INTERVALS (5, 10, 20) [ORIGIN 0] [BOTTOM CODE 10] [TOP CODE 90]",
        parts: &[
            Part::First("widths", Takes::List("width", Item::Number, "a width")),
            Part::Maybe("ORIGIN", Takes::One(Item::Number, "a number")),
            Part::Maybe("BOTTOM CODE", Takes::One(Item::Number, "a number")),
            Part::Maybe("TOP CODE", Takes::One(Item::Number, "a number")),
        ],
    },
    build: |given| {
        let number = |part| Ok::<_, Error>(given.numbers(part)?.pop());
        let (widths, origin) = (given.numbers("widths")?, number("ORIGIN")?);
        let (bottom, top) = (number("BOTTOM CODE")?, number("TOP CODE")?);
        let intervals = Intervals::try_new(&widths, origin.unwrap_or(Number::ZERO), bottom, top)?;
        Ok(Arc::new(intervals))
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Array, Decimal128Array, Float64Array, Int32Array, Int64Array};
    use proptest::prelude::*;

    fn intervals(widths: &str, origin: &str, bottom: Option<&str>, top: Option<&str>) -> Result<Intervals> {
        let number = |t: &str| t.parse::<Number>();
        let widths: Vec<Number> = widths
            .split(' ')
            .filter(|w| !w.is_empty())
            .map(number)
            .collect::<Result<_>>()?;
        Intervals::try_new(
            &widths,
            number(origin)?,
            bottom.map(number).transpose()?,
            top.map(number).transpose()?,
        )
    }

    fn labels(intervals: &Intervals, values: impl Array + 'static) -> Vec<Vec<String>> {
        let values: ArrayRef = Arc::new(values);
        let levels = intervals.labels(&values).unwrap();
        let level = |l: &StringArray| l.iter().map(|l| l.unwrap_or("-").to_string()).collect();
        levels.iter().map(level).collect()
    }

    #[test]
    fn integers_have_inclusive_labels() {
        let i = intervals("1 5 20", "0", None, None).unwrap();
        assert_eq!(
            labels(&i, Int32Array::from(vec![Some(24), Some(0), Some(-1), None])),
            [
                ["24", "0", "-1", "-"],
                ["20-24", "0-4", "-5 to -1", "-"],
                ["20-39", "0-19", "-20 to -1", "-"]
            ]
        );
        let i = intervals("10", "3", None, None).unwrap();
        assert_eq!(
            labels(&i, Int32Array::from(vec![2, 3, 12, 13])),
            [["-7 to 2", "3-12", "3-12", "13-22"]]
        );
    }

    #[test]
    fn other_numbers_have_half_open_labels() {
        let i = intervals("5", "0", None, None).unwrap();
        assert_eq!(
            labels(&i, Float64Array::from(vec![20.0, 24.99, -0.1])),
            [["[20.0, 25.0)", "[20.0, 25.0)", "[-5.0, 0.0)"]]
        );
        let i = intervals("0.1 0.5", "0", None, None).unwrap();
        assert_eq!(
            labels(&i, Float64Array::from(vec![0.3, 0.7, 0.6])),
            [
                ["[0.3, 0.4)", "[0.7, 0.8)", "[0.6, 0.7)"],
                ["[0.0, 0.5)", "[0.5, 1.0)", "[0.5, 1.0)"]
            ]
        );
        let decimals = Decimal128Array::from(vec![30, 99, -1])
            .with_precision_and_scale(8, 2)
            .unwrap();
        assert_eq!(labels(&i, decimals)[0], ["[0.3, 0.4)", "[0.9, 1.0)", "[-0.1, 0.0)"]);
        assert_eq!(labels(&i, Int32Array::from(vec![3]))[1], ["[3.0, 3.5)"]);
        let whole = Decimal128Array::from(vec![7]).with_precision_and_scale(8, 0).unwrap();
        assert_eq!(labels(&intervals("5", "0", None, None).unwrap(), whole), [["5-9"]]);
    }

    #[test]
    fn codes_end_the_groups_they_lie_in() {
        let i = intervals("20 40", "0", Some("10"), Some("90")).unwrap();
        assert_eq!(
            labels(&i, Int32Array::from(vec![9, 10, 19, 20, 81, 89, 90, 500])),
            [
                ["<10", "10-19", "10-19", "20-39", "80-89", "80-89", ">=90", ">=90"],
                ["<10", "10-39", "10-39", "10-39", "80-89", "80-89", ">=90", ">=90"],
            ]
        );
        assert_eq!(
            labels(&i, Float64Array::from(vec![9.99, 10.0]))[0],
            ["<10.0", "[10.0, 20.0)"]
        );
    }

    #[test]
    fn only_labels_of_the_level_are_labels() {
        let i = intervals("5 10 20", "0", Some("12"), Some("90")).unwrap();
        for (label, levels) in [
            ("20-24", [true, false, false]),
            ("20-29", [false, true, false]),
            ("20-39", [false, false, true]),
            ("12-14", [true, false, false]),
            ("12-19", [false, true, true]),
            ("80-89", [false, true, true]),
            ("<12", [true; 3]),
            (">=90", [true; 3]),
            ("[20.0, 25.0)", [true, false, false]),
            ("27-31", [false; 3]),
            ("20-25", [false; 3]),
            ("20 to 24", [false; 3]),
            ("[20, 25)", [false; 3]),
            (" 20-24", [false; 3]),
            ("<20", [false; 3]),
            (">=85", [false; 3]),
            ("90-94", [false; 3]),
            ("21", [false; 3]),
            ("", [false; 3]),
            ("*", [false; 3]),
            ("thirty-one", [false; 3]),
        ] {
            assert_eq!(
                [1, 2, 3].map(|level| i.is_label(level, label)),
                levels.map(Some),
                "{label}"
            );
        }
        assert_eq!([i.is_label(0, "20-24"), i.is_label(4, "20-24")], [None; 2]);
    }

    #[test]
    fn what_is_wrong_with_the_numbers_is_said() {
        for (widths, origin, bottom, top, said) in [
            (
                "5 12",
                "0",
                None,
                None,
                "width 12 of level 2 is not a larger multiple of width 5 of level 1",
            ),
            ("5 5", "0", None, None, "not a larger multiple"),
            ("0", "0", None, None, "above 0"),
            ("-5", "0", None, None, "above 0"),
            ("", "0", None, None, "at least one width"),
            (
                "5",
                "0",
                Some("90"),
                Some("90"),
                "BOTTOM CODE 90 must be less than TOP CODE 90",
            ),
            ("1e-30", "0", None, None, "at most 18 digits"),
            ("1e35", "0", None, None, "too large"),
            ("5", "x", None, None, "not a number"),
        ] {
            let e = intervals(widths, origin, bottom, top).unwrap_err().to_string();
            assert!(e.contains(said), "{e}");
        }
        let i = intervals("5", "0", None, None).unwrap();
        assert!(i.accepts(&DataType::Utf8).is_err() && i.accepts(&DataType::Date32).is_err());
        let nan = Float64Array::from(vec![f64::NAN, f64::INFINITY, 1e300]);
        assert_eq!(labels(&i, nan), [["-", "-", "-"]]);
        let coded = intervals("5", "0", Some("0"), Some("90")).unwrap();
        let huge = Float64Array::from(vec![1e300, -1e300, 3.0]);
        assert_eq!(labels(&coded, huge), [[">=90.0", "<0.0", "[0.0, 5.0)"]]);
        assert_eq!(labels(&i, Int64Array::from(vec![i64::MAX, i64::MIN])).len(), 1);
    }

    #[test]
    fn the_definition_makes_it_again() {
        let i = intervals("0.50 5", "-1", Some("1.5"), Some("9e1")).unwrap();
        assert_eq!(i.sql(), "AS INTERVALS (0.5, 5) ORIGIN -1 BOTTOM CODE 1.5 TOP CODE 90");
        assert_eq!(
            intervals("5 10", "0", None, None).unwrap().sql(),
            "AS INTERVALS (5, 10)"
        );
    }

    proptest! {
        #[test]
        fn labels_hold_their_values(
            values in prop::collection::vec(-2_000i64..2_000, 1..60),
            first in 1i64..50, factor in 2i64..5, origin in -100i64..100,
            bottom in prop::option::of(-500i64..0), top in prop::option::of(1i64..500),
        ) {
            let number = Number::from;
            let i = Intervals::try_new(
                &[number(first), number(first * factor)], number(origin), bottom.map(number), top.map(number)
            ).unwrap();
            let got = labels(&i, Int64Array::from(values.clone()));
            for (level, width) in [first, first * factor].into_iter().enumerate() {
                for (label, &v) in got[level].iter().zip(&values) {
                    // Brute force: steps from the origin to the group that contains the value.
                    let mut low = origin;
                    while low > v { low -= width; }
                    while low + width <= v { low += width; }
                    let (low, high) = (low.max(bottom.unwrap_or(low)), (low + width).min(top.unwrap_or(low + width)));
                    let expected = match (bottom, top) {
                        (Some(b), _) if v < b => format!("<{b}"),
                        (_, Some(t)) if v >= t => format!(">={t}"),
                        _ if high - low == 1 => format!("{low}"),
                        _ if low < 0 => format!("{low} to {}", high - 1),
                        _ => format!("{low}-{}", high - 1),
                    };
                    prop_assert_eq!(label, &expected);
                }
            }
        }
    }
}
