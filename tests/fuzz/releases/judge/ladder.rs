//! A second implementation of hierarchies, from the README and the language reference of each kind,
//! value by value.

use super::cell::{Cell, Exact, Ground, cells, is_whole, plain_type};
use super::round::roundest;
use crate::releases::case::{Hierarchy, Intervals, Nulls, PREFIX_WIDTH, Rule, Unmapped};
use arrow::array::StringArray;
use arrow::compute::cast;
use arrow::datatypes::DataType;
use chrono::{Datelike, NaiveDateTime};

/// The label of a suppressed cell, and of the top level that is added to a hierarchy without one.
pub const TOP: &str = "*";

/// A hierarchy over one column.
#[derive(Debug, Clone)]
pub struct Ladder {
    rule: Rule,
    pub unmapped: Unmapped,
    pub nulls: Nulls,
    /// True if the column contains whole numbers only.
    whole: bool,
    /// The listed rows whose original value is a value of the column's type.
    listed: Option<Vec<Vec<String>>>,
    /// The original values of the listed rows, independent of their spelling.
    keys: Vec<Option<String>>,
    /// The cuts of QUANTILES, ascending: the values where all groups but the first begin.
    cuts: Vec<Cell>,
    /// The number of digits to which PREFIX pads whole numbers. A CSV column that is meant as text
    /// may be read as whole numbers.
    digits: usize,
}

impl Ladder {
    /// Returns the hierarchy over a column of this type. `of` has the values and the type of the
    /// column, or of the column that QUANTILES divides.
    pub fn new(hierarchy: &Hierarchy, data_type: &DataType, of: (&[Cell], &DataType)) -> Self {
        let cuts = match &hierarchy.rule {
            Rule::Quantiles { groups, .. } => cuts(groups[0] as usize, of),
            _ => vec![],
        };
        let (mut listed, mut keys) = (None, vec![]);
        if let Rule::Listed(rows, _) = &hierarchy.rule {
            let values = keys_of(rows, data_type);
            let of_type = rows.iter().zip(values).filter(|(_, key)| key.is_some());
            let (rows, values): (Vec<_>, Vec<_>) = of_type.map(|(row, key)| (row.clone(), key)).unzip();
            (listed, keys) = (Some(rows), values);
        }
        let codes = of.0.iter().filter_map(|cell| cell.text.as_deref());
        let lengths = codes.filter(|text| !text.starts_with('-')).map(str::len);
        let digits = match hierarchy.rule {
            Rule::Prefix { mask: Some(_), .. } => PREFIX_WIDTH,
            _ => lengths.max().unwrap_or(0),
        };
        let (unmapped, nulls) = (hierarchy.unmapped, hierarchy.nulls);
        Self {
            rule: hierarchy.rule.clone(),
            unmapped,
            nulls,
            whole: is_whole(data_type),
            listed,
            keys,
            cuts,
            digits,
        }
    }

    /// Returns the hierarchy of a quasi-identifier that names no hierarchy.
    pub fn suppression() -> Self {
        Self {
            rule: Rule::Suppression,
            unmapped: Unmapped::Error,
            nulls: Nulls::Value,
            whole: false,
            listed: None,
            keys: vec![],
            cuts: vec![],
            digits: 0,
        }
    }

    /// Returns the highest level.
    pub fn height(&self) -> usize {
        match &self.rule {
            Rule::Intervals(intervals) => intervals.widths.len() + 1,
            Rule::Prefix { kept, .. } => kept.len() + 1,
            Rule::Truncate(units) => units.len() + 1,
            Rule::Quantiles { groups, .. } => groups.len() + 1,
            Rule::Suppression => 1,
            Rule::Listed(rows, _) => {
                let own = rows[0].len() - 1;
                let topped = own > 0 && rows.iter().all(|r| r[own] == rows[0][own]);
                own + usize::from(!topped)
            }
        }
    }

    /// Returns the label of the top level.
    pub fn top(&self) -> &str {
        match &self.rule {
            Rule::Listed(rows, _) if self.height() + 1 == rows[0].len() => rows[0].last().map_or(TOP, String::as_str),
            _ => TOP,
        }
    }

    /// Returns the rows of a listed hierarchy.
    pub fn listed(&self) -> Option<&[Vec<String>]> {
        self.listed.as_deref()
    }

    /// Returns true if the hierarchy maps the value. NULL always counts as mapped.
    pub fn knows(&self, cell: &Cell) -> bool {
        self.own(cell, 1).is_some() || matches!(cell.ground, Ground::Null)
    }

    /// Returns true if a row with this value is suppressed because there is no label for the value.
    pub fn suppresses(&self, cell: &Cell) -> bool {
        self.unmapped == Unmapped::Suppress && !self.knows(cell)
    }

    /// Returns true if the hierarchy does not map the value, so that ON UNMAPPED TOP gives it the
    /// top label at every level from 1 on. Level 0 is then not available for the column.
    pub fn raises(&self, cell: &Cell) -> bool {
        self.unmapped == Unmapped::Top && !self.knows(cell)
    }

    /// Returns the label of a value at a level; `None` for NULL. The result has no meaning for a
    /// value that suppresses its row.
    pub fn label(&self, cell: &Cell, level: usize) -> Option<String> {
        match level {
            0 if self.coded(cell).is_some() => self.coded(cell),
            0 => match (cell.text.as_deref(), &cell.ground) {
                // Positive and negative zero are the same value.
                (Some(text), Ground::Number(n)) if n.digits == 0 => Some(text.trim_start_matches('-').to_string()),
                (text, _) => text.map(str::to_string),
            },
            l if l >= self.height() => Some(self.top().to_string()),
            _ if matches!(cell.ground, Ground::Null) => (self.nulls == Nulls::Top).then(|| self.top().to_string()),
            l => Some(self.own(cell, l).unwrap_or_else(|| self.top().to_string())),
        }
    }

    /// Returns the label that a TOP CODE or BOTTOM CODE gives a value at every level, including
    /// level 0.
    pub fn coded(&self, cell: &Cell) -> Option<String> {
        match (&self.rule, &cell.ground) {
            (Rule::Intervals(intervals), Ground::Number(n)) => intervals.code(*n, self.whole),
            _ => None,
        }
    }

    /// Returns the label of a mapped value at a level above 0.
    fn own(&self, cell: &Cell, level: usize) -> Option<String> {
        let text = cell.text.as_deref()?;
        match &self.rule {
            Rule::Suppression => Some(TOP.into()),
            Rule::Intervals(intervals) => {
                let Ground::Number(n) = cell.ground else { return None };
                let widths = &intervals.widths;
                // A value is mapped if it has a group of the widest width.
                let of = |width: &str| intervals.label(n, width, self.whole);
                of(widths.last()?)?;
                widths.get(level - 1).map_or(Some(TOP.into()), |w| of(w))
            }
            Rule::Prefix { kept, mask } => {
                let Some(kept) = kept.get(level - 1) else {
                    return Some(TOP.into());
                };
                let padded = match self.whole {
                    true if text.starts_with('-') || text.len() > self.digits => return None,
                    true => format!("{text:0>width$}", width = self.digits),
                    false => text.to_string(),
                };
                let beginning: Vec<char> = padded.chars().take(*kept as usize).collect();
                Some(match mask {
                    None if *kept == 0 => TOP.into(),
                    None => beginning.into_iter().collect(),
                    Some(mask) => beginning
                        .iter()
                        .chain(std::iter::repeat_n(mask, PREFIX_WIDTH - beginning.len()))
                        .collect(),
                })
            }
            Rule::Truncate(units) => {
                let Ground::Instant(_, Some(at)) = cell.ground else {
                    return None;
                };
                Some(units.get(level - 1).map_or(TOP.into(), |unit| truncated(unit, &at)))
            }
            Rule::Listed(..) => {
                let at = self.keys.iter().position(|key| *key == cell.key)?;
                Some(
                    self.listed.as_ref()?[at]
                        .get(level)
                        .cloned()
                        .unwrap_or_else(|| TOP.into()),
                )
            }
            Rule::Quantiles { groups, .. } => {
                if matches!(cell.ground, Ground::NotFinite) {
                    return None;
                }
                let Some(n) = groups.get(level - 1) else {
                    return Some(TOP.into());
                };
                Some(self.quantile(cell, (groups[0] / n) as usize))
            }
        }
    }

    /// Returns the group of a value if only every `step`-th cut divides the groups.
    fn quantile(&self, cell: &Cell, step: usize) -> String {
        let mut at: Vec<&Cell> = self.cuts.iter().skip(step - 1).step_by(step).collect();
        at.dedup_by(|a, b| a.order(b).is_eq());
        let group = at.iter().filter(|cut| cut.order(cell).is_le()).count();
        let text = |c: &Cell| c.text.clone().unwrap_or_default();
        match (
            group.checked_sub(1).map(|g| text(at[g])),
            at.get(group).map(|c| text(c)),
        ) {
            (None, None) => TOP.into(),
            (None, Some(high)) => format!("<{high}"),
            (Some(low), None) => format!(">={low}"),
            (Some(low), Some(high)) => match (self.whole, low.parse::<i128>(), high.parse::<i128>()) {
                (true, Ok(first), Ok(end)) if end - 1 == first => low,
                (true, Ok(first), Ok(end)) if first < 0 => format!("{low} to {}", end - 1),
                (true, Ok(_), Ok(end)) => format!("{low}-{}", end - 1),
                _ => format!("[{low}, {high})"),
            },
        }
    }
}

/// Returns the original values of listed rows, independent of their spelling; `None` for a text
/// that is not a value of the type.
fn keys_of(rows: &[Vec<String>], data_type: &DataType) -> Vec<Option<String>> {
    let decimal = match plain_type(data_type) {
        DataType::Decimal32(p, s) | DataType::Decimal64(p, s) => Some((*p, *s)),
        DataType::Decimal128(p, s) | DataType::Decimal256(p, s) => Some((*p, *s)),
        _ => None,
    };
    let Some((precision, scale)) = decimal else {
        let texts: StringArray = rows.iter().map(|row| Some(&row[0])).collect();
        let values = cast(&texts, plain_type(data_type)).map(|values| cells(&values, data_type));
        return values.unwrap_or_default().into_iter().map(|cell| cell.key).collect();
    };
    // With a negative scale, the cast of a text to a decimal multiplies the number.
    let key = |text: &str| {
        let number = Exact::parse(text)?;
        if number.digits == 0 {
            return Some("0e0".to_string());
        }
        let shift = u32::try_from(number.exponent + i32::from(scale)).ok()?;
        let units = number.digits.checked_mul(10i128.checked_pow(shift)?)?;
        let fits = 10i128
            .checked_pow(precision.into())
            .is_none_or(|limit| units.abs() < limit);
        fits.then(|| format!("{}e{}", number.digits, number.exponent))
    };
    rows.iter().map(|row| key(&row[0])).collect()
}

fn scale_of(text: &str) -> i32 {
    Exact::parse(text).map_or(0, |n| (-n.exponent).max(0))
}

impl Intervals {
    fn scale(&self) -> i32 {
        let (widths, others) = (self.widths.iter(), [&self.origin, &self.bottom, &self.top]);
        let all = widths.chain(others.into_iter().flatten());
        all.map(|t| scale_of(t)).max().unwrap_or(0)
    }

    fn units(&self, text: &str) -> Option<i128> {
        Exact::parse(text).and_then(|n| n.floor(self.scale()))
    }

    /// Returns an end of a group as text, without a fraction if ends and values are whole numbers.
    fn show(&self, units: i128, whole: bool) -> String {
        match self.scale() {
            0 if whole => units.to_string(),
            scale => decimal(units, scale),
        }
    }

    /// Returns the label of a value, of any size, that a TOP CODE or BOTTOM CODE hides.
    fn code(&self, x: Exact, whole: bool) -> Option<String> {
        let x = x
            .floor(self.scale())
            .unwrap_or(if x.digits < 0 { i128::MIN } else { i128::MAX });
        let below = self.bottom.as_deref().and_then(|t| self.units(t)).filter(|b| x < *b);
        let above = self.top.as_deref().and_then(|t| self.units(t)).filter(|t| x >= *t);
        below
            .map(|b| format!("<{}", self.show(b, whole)))
            .or_else(|| above.map(|t| format!(">={}", self.show(t, whole))))
    }

    /// Returns the group with the number floor((x - origin) / width), cut off at the TOP CODE and
    /// the BOTTOM CODE.
    fn label(&self, x: Exact, width: &str, whole: bool) -> Option<String> {
        if let Some(code) = self.code(x, whole) {
            return Some(code);
        }
        let x = x.floor(self.scale())?;
        let end = |text: &Option<String>| text.as_deref().and_then(|t| self.units(t));
        let (width, origin) = (self.units(width)?, end(&self.origin).unwrap_or(0));
        let low = x
            .checked_sub(origin)?
            .div_euclid(width)
            .checked_mul(width)?
            .checked_add(origin)?;
        let high = low.checked_add(width)?;
        let (low, high) = (
            end(&self.bottom).map_or(low, |b| b.max(low)),
            end(&self.top).map_or(high, |t| t.min(high)),
        );
        Some(match self.scale() == 0 && whole {
            true if high - low == 1 => low.to_string(),
            true if low < 0 => format!("{low} to {}", high - 1),
            true => format!("{low}-{}", high - 1),
            false => format!("[{}, {})", self.show(low, whole), self.show(high, whole)),
        })
    }
}

/// Writes a number of units of 10^-`scale` with at least one digit after the point.
fn decimal(units: i128, scale: i32) -> String {
    let scale = scale.max(0) as usize;
    let digits = format!("{:0>width$}", units.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let sign = if units < 0 { "-" } else { "" };
    match fraction {
        "" => format!("{sign}{whole}.0"),
        fraction => format!("{sign}{whole}.{fraction}"),
    }
}

/// Truncates a calendar time to a unit.
fn truncated(unit: &str, at: &NaiveDateTime) -> String {
    let year = at.year();
    let format = |f: &str| at.format(f).to_string();
    match unit {
        "SECOND" => format("%Y-%m-%dT%H:%M:%S"),
        "MINUTE" => format("%Y-%m-%dT%H:%M"),
        "HOUR" => format("%Y-%m-%dT%H"),
        "DAY" => format("%Y-%m-%d"),
        "WEEK" => format("%G-W%V"),
        "MONTH" => format("%Y-%m"),
        "QUARTER" => format!("{}-Q{}", format("%Y"), at.month0() / 3 + 1),
        "YEAR" => format("%Y"),
        "DECADE" => format!("{:04}s", year.div_euclid(10) * 10),
        _ => format!(
            "{:04}-{:04}",
            year.div_euclid(100) * 100,
            year.div_euclid(100) * 100 + 99
        ),
    }
}

/// Returns the cuts of QUANTILES. The i-th of n - 1 cuts lies between the two neighbouring distinct
/// values where the number of rows below is nearest to i N / n. If two places are equally near, the
/// cut lies at the lower one. The cut is the roundest value that divides the two values.
fn cuts(n: usize, (column, data_type): (&[Cell], &DataType)) -> Vec<Cell> {
    let mut sorted: Vec<&Cell> = column
        .iter()
        .filter(|c| !matches!(c.ground, Ground::Null | Ground::NotFinite))
        .collect();
    sorted.sort_by(|a, b| a.order(b));
    let rows = sorted.len() as i128;
    // Every distinct value, with the number of rows below the value.
    let mut distinct: Vec<(i128, &Cell)> = vec![];
    for (below, cell) in sorted.iter().enumerate() {
        if distinct.last().is_none_or(|(_, last)| last.order(cell).is_ne()) {
            distinct.push((below as i128, cell));
        }
    }
    // A cut before the smallest value would make an empty group.
    let candidates = if distinct.len() > 1 {
        &distinct[1..]
    } else {
        &distinct[..]
    };
    let cut = |i: usize| {
        let far = |(below, _): &&(i128, &Cell)| (below * n as i128 - i as i128 * rows).abs();
        let (below, cell) = candidates.iter().min_by_key(far)?;
        let before = distinct.iter().rfind(|(rows, _)| rows < below);
        let mut cell = match before {
            Some((_, before)) => roundest(before, cell, data_type),
            None => (*cell).clone(),
        };
        // Positive and negative zero are the same value.
        if matches!(&cell.ground, Ground::Number(n) if n.digits == 0) {
            cell.text = cell.text.map(|text| text.trim_start_matches('-').to_string());
        }
        Some(cell)
    };
    (1..n).filter_map(cut).collect()
}
