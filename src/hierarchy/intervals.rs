//! INTERVALS: numbers in groups of equal width, wider level by level.
//!
//! Level i puts x into the group of all values with the same floor((x - origin) / width_i). Every width is a multiple
//! of the one before, so groups nest whatever the data. Values below BOTTOM CODE are `<code` and values from TOP CODE on
//! `>=code` at every level; the group that a code lies in ends there. Integers get labels with both ends included
//! (`20-24`), other numbers half-open ones (`[20.0, 25.0)`). Integers and decimals are computed exactly, floats in
//! their shortest decimal form. NaN and infinity are in no group.
//!
//! Example: `CREATE HIERARCHY age AS INTERVALS (5, 10, 20) BOTTOM CODE 20 TOP CODE 90`.
//!
//! Reference: Hundepool et al., Statistical Disclosure Control, 2012, sections 3.3.1 (global recoding) and 3.3.2 (top
//! and bottom coding), doi:10.1002/9781118348239.

use super::number::{Number, common_scale, decimal, floored};
use super::{Ladder, LevelRule, ground};
use crate::catalogue::Info;
use crate::error::{Error, Result};
use arrow::array::{ArrayRef, StringArray};
use arrow::datatypes::DataType;

/// Groups of equal width. Numbers are in units of 10^-`scale`.
#[derive(Debug, Clone)]
pub struct Intervals {
    widths: Vec<i128>,
    origin: i128,
    bottom: Option<i128>,
    top: Option<i128>,
    scale: i32,
}

impl Intervals {
    /// Groups of `widths`, one level each, that start at `origin`, with everything below `bottom` and everything from
    /// `top` on as one group each.
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

    fn check(&self) -> Result<()> {
        let show = |units| decimal(units, self.scale, 0);
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

    /// The label of a value of `units` in groups of `width`; `None` when the group's ends are too large to compute.
    fn label(&self, units: i128, width: i128, form: Form) -> Option<String> {
        if let Some(bottom) = self.bottom.filter(|b| units < *b) {
            return Some(format!("<{}", form.number(bottom)));
        }
        if let Some(top) = self.top.filter(|t| units >= *t) {
            return Some(format!(">={}", form.number(top)));
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

/// How the ends of a group are written.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// Whole numbers, both ends included.
    Inclusive,
    /// Numbers with this scale, the upper end excluded.
    HalfOpen(i32),
}

impl Form {
    fn number(self, units: i128) -> String {
        match self {
            Form::Inclusive => units.to_string(),
            Form::HalfOpen(scale) => decimal(units, scale, 1),
        }
    }

    /// The values from `low` to below `high`.
    fn range(self, low: i128, high: i128) -> String {
        match self {
            Form::Inclusive if high - low == 1 => low.to_string(),
            Form::Inclusive if low < 0 => format!("{low} to {}", high - 1),
            Form::Inclusive => format!("{low}-{}", high - 1),
            Form::HalfOpen(_) => format!("[{}, {})", self.number(low), self.number(high)),
        }
    }
}

/// Whether a column of this type holds whole numbers only.
pub(super) fn is_whole(data_type: &DataType) -> bool {
    match data_type {
        DataType::Decimal32(_, s)
        | DataType::Decimal64(_, s)
        | DataType::Decimal128(_, s)
        | DataType::Decimal256(_, s) => *s <= 0,
        other => other.is_integer(),
    }
}

impl Ladder for Intervals {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn levels(&self) -> usize {
        self.widths.len()
    }

    fn accepts(&self, data_type: &DataType) -> Result<()> {
        if ground::plain_type(data_type).is_numeric() {
            return Ok(());
        }
        Err(Error::usage(format!(
            "INTERVALS generalizes numbers, not a column of type {data_type}"
        )))
    }

    fn labels(&self, values: &ArrayRef) -> Result<Vec<StringArray>> {
        let values = ground::plain(values)?;
        let form = match self.scale {
            0 if is_whole(values.data_type()) => Form::Inclusive,
            scale => Form::HalfOpen(scale),
        };
        let units = floored(&values, self.scale)?;
        // The widest group decides whether a value is mapped, so that it is at all levels or at none.
        let widest = self.widths.last().copied().unwrap_or(1);
        let mapped: Vec<Option<i128>> = units
            .into_iter()
            .map(|u| u.filter(|u| self.label(*u, widest, form).is_some()))
            .collect();
        let level = |width: &i128| mapped.iter().map(|u| self.label((*u)?, *width, form)).collect();
        Ok(self.widths.iter().map(level).collect())
    }

    fn ground(&self, _data_type: &DataType) -> Result<Option<ArrayRef>> {
        Ok(None)
    }

    fn ends_in_top(&self) -> bool {
        false
    }

    fn sql(&self) -> String {
        let show = |units: &i128| decimal(*units, self.scale, 0);
        let widths: Vec<String> = self.widths.iter().map(show).collect();
        let mut sql = format!("AS INTERVALS ({})", widths.join(", "));
        let origin = Some(self.origin).filter(|o| *o != 0);
        for (word, number) in [("ORIGIN", origin), ("BOTTOM CODE", self.bottom), ("TOP CODE", self.top)] {
            if let Some(units) = number {
                sql += &format!(" {word} {}", decimal(units, self.scale, 0));
            }
        }
        sql
    }

    fn describe(&self) -> Vec<LevelRule> {
        let rules = self.widths.iter().map(|width| LevelRule {
            rule: format!("intervals of width {}", decimal(*width, self.scale, 0)),
            labels: None,
        });
        rules.collect()
    }
}

/// What SHOW and help say of it.
pub static INFO: Info = Info {
    name: "intervals",
    summary: "numbers in groups of equal width; each width a multiple of the one before",
    params: &[],
    example: "CREATE HIERARCHY age AS INTERVALS (5, 10, 20) ORIGIN 0 BOTTOM CODE 20 TOP CODE 90",
    reference: "Hundepool et al., 2012, sections 3.3.1 and 3.3.2, doi:10.1002/9781118348239",
};
