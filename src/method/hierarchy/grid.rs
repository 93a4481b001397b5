//! A grid over a column of numbers, dates or timestamps. A range whose ends are lines of the grid
//! does not reveal a value.
//!
//! A range from the minimum to the maximum of a group reveals that the group contains these two
//! values. Therefore the ends of the range are moved outward to lines of a grid. If a hierarchy has
//! groups that are intervals, the lines are the ends of these intervals, so a release is never
//! finer than the hierarchy. Otherwise the lines depend only on the width of the whole column, the
//! difference between its maximum and its minimum. The width of a cell is then the smallest of 1,
//! 2, 5, 10, 20, 50, ... units that is at least one twentieth of the width of the column. Units are
//! days for dates and timestamps. For timestamps, a width below one day is 1, 5 or 15 seconds or
//! minutes, or 1, 6 or 12 hours. A cell is always wider than one value.

use super::codes::{Codes, Side};
use super::ground::{self, numbers};
use super::instant::texts;
use super::number::Number;
use super::units::Units;
use crate::base::error::Result;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, StringArray};
use arrow::compute::{cast, nullif};
use arrow::datatypes::{DataType, Float64Type, TimeUnit};

/// The cells of a column's values.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    /// For each ground code (the index of a distinct value), the lower end of the cell, as text and
    /// as a number. An open end is NULL as text and infinite as a number.
    low: (StringArray, Vec<f64>),
    /// For each ground code, the upper end of the cell, like `low`.
    high: (StringArray, Vec<f64>),
    /// For each ground code, the first ground code in the same cell.
    first: Vec<u32>,
    /// For each ground code, the last ground code in the same cell.
    last: Vec<u32>,
}

/// The width of a cell is at least the width of the column divided by this number.
const CELLS: i128 = 20;
const DAY: i128 = 86_400;
/// The possible cell widths below one day, in seconds.
const SECONDS: [i128; 9] = [1, 5, 15, 60, 300, 900, 3_600, 21_600, 43_200];

impl Grid {
    /// Returns the grid of `values`, which are in ascending order with NULL last. Returns `None` if
    /// no grid can be computed. The grid depends only on the minimum and the maximum of `values`,
    /// and on the codes. No cell extends across a TOP or BOTTOM CODE, and a cell of hidden values
    /// has an open end, because an end beyond the code would reveal more than the code. `hidden`
    /// returns, for a ground code, the TOP or BOTTOM CODE that hides the value.
    pub(super) fn of_values(
        values: &ArrayRef,
        codes: Option<&Codes>,
        hidden: impl Fn(u32) -> Option<Side>,
    ) -> Result<Option<Self>> {
        let values = ground::plain(values)?;
        let codes: Vec<Number> = codes.iter().flat_map(|c| [c.bottom, c.top]).flatten().collect();
        let ends = match values.data_type() {
            t if t.is_floating() => fractions(&values, &codes)?,
            _ => units(&values, &codes)?,
        };
        let Some((low, high)) = ends else { return Ok(None) };
        let complete = |ends: &ArrayRef| (0..values.len()).all(|i| ends.is_valid(i) || values.is_null(i));
        // Near the minimum and the maximum of the type, a line may be outside the type, or its text
        // may not be parsed as a value.
        if !complete(&read_back(&low)?) || !complete(&read_back(&high)?) {
            return Ok(None);
        }
        let by = |side: Side| {
            (0..values.len() as u32)
                .map(|code| Some(hidden(code) == Some(side)))
                .collect()
        };
        let (below, above): (BooleanArray, BooleanArray) = (by(Side::Below), by(Side::Above));
        let (low, high) = (nullif(&low, &below)?, nullif(&high, &above)?);
        let (Some(lows), Some(highs)) = (numbers(&low)?, numbers(&high)?) else {
            return Ok(None);
        };
        let own = lows.clone();
        let same = |a: usize, b: usize| own[a].is_some() && own[a] == own[b];
        Self::between((low, lows), (high, highs), same).map(Some)
    }

    /// Returns the grid with the given ends of the cells. Ends are given for each ground code, as
    /// values and as numbers; `None` means an open end. Two neighbouring codes share a cell if
    /// `same` is true for them.
    pub(super) fn between(
        (low, lows): (ArrayRef, Vec<Option<f64>>),
        (high, highs): (ArrayRef, Vec<Option<f64>>),
        same: impl Fn(usize, usize) -> bool,
    ) -> Result<Self> {
        let as_numbers =
            |ends: Vec<Option<f64>>, open: f64| -> Vec<f64> { ends.into_iter().map(|x| x.unwrap_or(open)).collect() };
        let (mut first, mut last): (Vec<u32>, Vec<u32>) = (0..low.len() as u32).map(|c| (c, c)).unzip();
        for code in 1..low.len() {
            if same(code - 1, code) {
                first[code] = first[code - 1];
            }
        }
        for code in (1..low.len()).rev() {
            if same(code - 1, code) {
                last[code - 1] = last[code];
            }
        }
        Ok(Self {
            low: (texts(&low)?, as_numbers(lows, f64::NEG_INFINITY)),
            high: (texts(&high)?, as_numbers(highs, f64::INFINITY)),
            first,
            last,
        })
    }

    /// Returns the first code in the cell of `low` and the last code in the cell of `high`.
    pub(super) fn widened(&self, low: u32, high: u32) -> (u32, u32) {
        (self.first[low as usize], self.last[high as usize])
    }

    /// Returns the ends of the range from the cell of `low` to the cell of `high`, as numbers. An
    /// open end is infinite.
    pub(super) fn ends(&self, low: u32, high: u32) -> (f64, f64) {
        (self.low.1[low as usize], self.high.1[high as usize])
    }

    /// Returns the ends of the range from the cell of `low` to the cell of `high`, as text; `None`
    /// for an open end.
    pub(super) fn texts(&self, low: u32, high: u32) -> (Option<&str>, Option<&str>) {
        fn text(ends: &StringArray, code: u32) -> Option<&str> {
            ends.is_valid(code as usize).then(|| ends.value(code as usize))
        }
        (text(&self.low.0, low), text(&self.high.0, high))
    }
}

/// Returns the smallest of 1, 2, 5, 10, ... times `unit` that is at least `least`.
fn round_number(least: i128, unit: i128) -> i128 {
    let mut power = unit;
    loop {
        for step in [power, 2 * power, 5 * power] {
            if step >= least {
                return step;
            }
        }
        power *= 10;
    }
}

/// Returns the width of a cell in units of the type, for a column whose maximum and minimum differ
/// by `width` units.
fn step(data_type: &DataType, width: i128) -> i128 {
    let least = (width / CELLS + i128::from(width % CELLS > 0)).max(2);
    let a_second = match data_type {
        DataType::Timestamp(TimeUnit::Second, _) => 1,
        DataType::Timestamp(TimeUnit::Millisecond, _) => 1_000,
        DataType::Timestamp(TimeUnit::Microsecond, _) => 1_000_000,
        DataType::Timestamp(TimeUnit::Nanosecond, _) => 1_000_000_000,
        _ => return round_number(least, 1),
    };
    let natural = SECONDS.iter().map(|s| s * a_second).find(|step| *step >= least);
    natural.unwrap_or_else(|| round_number(least, DAY * a_second))
}

/// Writes the ends as text, and parses the texts again; null for a text that is not a value.
fn read_back(ends: &ArrayRef) -> Result<ArrayRef> {
    ground::parse(&texts(ends)?, ends.data_type())
}

type Ends = Option<(ArrayRef, ArrayRef)>;

/// Returns the lower and upper ends of the cells for types whose values are whole numbers of units:
/// integers, decimals, dates and timestamps.
fn units(values: &ArrayRef, codes: &[Number]) -> Result<Ends> {
    let data_type = values.data_type();
    let Some(units) = Units::of(data_type) else {
        return Ok(None);
    };
    let own = units.read(values)?;
    let Some((least, greatest)) = own.iter().flatten().next().zip(own.iter().flatten().last()) else {
        return Ok(None);
    };
    let step = step(data_type, greatest - least);
    let codes: Vec<i128> = codes.iter().filter_map(|code| code.ceil_at(units.scale())).collect();
    let line = |x: i128| x.div_euclid(step) * step;
    let low = |x: i128| {
        codes
            .iter()
            .filter(|code| **code <= x)
            .fold(line(x), |low, code| low.max(*code))
    };
    let high = |x: i128| {
        let last = line(x) + step - 1;
        codes
            .iter()
            .filter(|code| **code > x)
            .fold(last, |high, code| high.min(code - 1))
    };
    let lows = units.write(own.iter().map(|x| x.map(low)))?;
    let highs = units.write(own.iter().map(|x| x.map(high)))?;
    Ok(Some((lows, highs)))
}

/// Returns the lower and upper ends of the cells for floating-point numbers.
fn fractions(values: &ArrayRef, codes: &[Number]) -> Result<Ends> {
    let wide = cast(values, &DataType::Float64)?;
    let own = wide.as_primitive::<Float64Type>();
    let mut finite = own.iter().flatten().filter(|x| x.is_finite());
    let Some(least) = finite.next() else { return Ok(None) };
    let width = finite.last().unwrap_or(least) - least;
    if !width.is_finite() || width <= 0.0 {
        return Ok(None);
    }
    let exponent = (width / CELLS as f64).log10().floor();
    let power = 10f64.powf(exponent);
    let times = [1i64, 2, 5, 10];
    let Some(times) = times.into_iter().find(|m| *m as f64 * power * CELLS as f64 >= width) else {
        return Ok(None);
    };
    let codes = codes.iter().map(ToString::to_string);
    let codes: Vec<(f64, String)> = codes.filter_map(|text| Some((text.parse().ok()?, text))).collect();
    let line = |n: f64| format!("{}e{exponent}", (n * times as f64) as i64);
    let parsed = |n: f64| line(n).parse::<f64>().unwrap_or(f64::NAN);
    let cell = |x: f64| {
        let n = (x / (times as f64 * power)).floor();
        // The precision of a float is not sufficient for cells of this width.
        if n.abs() > 1e15 {
            return None;
        }
        // The result of the division is rounded, so the neighbouring cells are tried too.
        let n = [n, n - 1.0, n + 1.0]
            .into_iter()
            .find(|n| parsed(*n) <= x && x <= parsed(n + 1.0))?;
        let (low, high) = (line(n), line(n + 1.0));
        let below = codes.iter().rfind(|(code, _)| *code <= x && *code > parsed(n));
        let above = codes.iter().find(|(code, _)| *code > x && *code < parsed(n + 1.0));
        Some((
            below.map_or(low, |(_, text)| text.clone()),
            above.map_or(high, |(_, text)| text.clone()),
        ))
    };
    let ends: (Vec<Option<String>>, Vec<Option<String>>) = own.iter().map(|x| x.and_then(cell).unzip()).unzip();
    let parse = |ends: Vec<Option<String>>| ground::parse(&ends.into_iter().collect(), values.data_type());
    Ok(Some((parse(ends.0)?, parse(ends.1)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{
        Date32Array, Decimal128Array, Float64Array, Int8Array, Int64Array, TimestampMicrosecondArray,
        TimestampSecondArray, UInt64Array,
    };
    use proptest::prelude::*;
    use std::sync::Arc;

    fn shown(values: ArrayRef) -> Vec<String> {
        let grid = Grid::of_values(&values, None, |_| None).unwrap().unwrap();
        let valid = (0..values.len() as u32).filter(|c| values.is_valid(*c as usize));
        let text = |code| grid.texts(code, code);
        let shown = |code| format!("{} {}", text(code).0.unwrap(), text(code).1.unwrap());
        valid.map(shown).collect()
    }

    #[test]
    fn cells_end_at_codes() {
        let codes = Codes::parse(Some("3"), Some("87")).unwrap();
        let hidden = |code: u32| match code {
            0 => Some(Side::Below),
            5.. => Some(Side::Above),
            _ => None,
        };
        // The first value is below BOTTOM CODE, and the last two are at or above TOP CODE.
        let ends = |values: ArrayRef| {
            let grid = Grid::of_values(&values, Some(&codes), hidden).unwrap().unwrap();
            let ends = |code| {
                let (low, high) = grid.texts(code, code);
                format!("{} {}", low.unwrap_or("open"), high.unwrap_or("open"))
            };
            (0..values.len() as u32).map(ends).collect::<Vec<_>>()
        };
        assert_eq!(
            ends(Arc::new(Int64Array::from(vec![1, 4, 15, 81, 86, 88, 99]))),
            ["open 2", "3 4", "15 19", "80 84", "85 86", "87 open", "95 open"]
        );
        assert_eq!(
            ends(Arc::new(Float64Array::from(vec![
                1.5, 4.0, 15.0, 81.0, 86.5, 88.0, 99.0
            ]))),
            [
                "open 3.0",
                "3.0 5.0",
                "15.0 20.0",
                "80.0 85.0",
                "85.0 87.0",
                "87.0 open",
                "95.0 open"
            ]
        );
    }

    #[test]
    fn lines_are_round_and_depend_on_the_width_alone() {
        assert_eq!(
            shown(Arc::new(Int64Array::from(vec![Some(17), Some(29), Some(90), None]))),
            ["15 19", "25 29", "90 94"]
        );
        // A cell is always wider than one value, and never extends beyond the minimum or the
        // maximum of the type.
        assert_eq!(
            shown(Arc::new(Int8Array::from(vec![-128, 3, 127]))),
            ["-128 -121", "0 19", "120 127"]
        );
        assert_eq!(shown(Arc::new(Int64Array::from(vec![4, 5]))), ["4 5", "4 5"]);
        assert_eq!(
            shown(Arc::new(UInt64Array::from(vec![u64::MAX - 1]))),
            [format!("{} {}", u64::MAX - 1, u64::MAX)]
        );
        assert_eq!(
            shown(Arc::new(Date32Array::from(vec![0, 1_000]))),
            ["1970-01-01 1970-02-19", "1972-09-27 1972-11-15"]
        );
        let hours = TimestampMicrosecondArray::from(vec![0, 20 * 3_600_000_000]);
        assert_eq!(
            shown(Arc::new(hours))[0],
            "1970-01-01T00:00:00 1970-01-01T00:59:59.999999"
        );
        assert_eq!(
            shown(Arc::new(Float64Array::from(vec![0.12, 0.9]))),
            ["0.1 0.15", "0.9 0.95"]
        );
        let cents = Decimal128Array::from(vec![-1, 1_234])
            .with_precision_and_scale(10, 2)
            .unwrap();
        assert_eq!(shown(Arc::new(cents)), ["-1.00 -0.01", "12.00 12.99"]);
    }

    /// Tests two columns in which the end of the last cell cannot be parsed again: in one, it is
    /// outside Float16, and in the other, it is an instant whose text cannot be parsed.
    #[test]
    fn what_cannot_be_read_back_is_no_end() {
        let halves = Float64Array::from(vec![-65_504.0, 1.0, 65_504.0]);
        let halves = cast(&halves, &DataType::Float16).unwrap();
        assert!(Grid::of_values(&halves, None, |_| None).unwrap().is_none());
        let far: ArrayRef = Arc::new(TimestampSecondArray::from(vec![0, 979_000_000_000]));
        assert!(Grid::of_values(&far, None, |_| None).unwrap().is_none());
    }

    proptest! {
        #[test]
        fn cells_hold_their_values(mut values in prop::collection::vec(-1e6f64..1e6, 1..20), whole: bool) {
            values.sort_by(f64::total_cmp);
            values.dedup();
            let array: ArrayRef = match whole {
                true => Arc::new(values.iter().map(|x| Some(*x as i64)).collect::<Int64Array>()),
                false => Arc::new(Float64Array::from(values.clone())),
            };
            let Some(grid) = Grid::of_values(&array, None, |_| None).unwrap() else { return Ok(()) };
            for (code, value) in values.iter().enumerate() {
                let (value, code) = (if whole { *value as i64 as f64 } else { *value }, code as u32);
                let (low, high) = grid.ends(code, code);
                prop_assert!(low <= value && value <= high && low < high);
                let (first, last) = grid.widened(code, code);
                prop_assert!(first <= code && code <= last);
                prop_assert_eq!(grid.texts(first, last), grid.texts(code, code));
            }
        }
    }
}
