//! The bounds of labels: the minimum and the maximum value that a label covers, as values of the
//! column's type.
//!
//! Bounds are derived from the text of the label, which everyone with access to the release knows,
//! and never from the values of the table. Therefore they reveal no more than the text. A text is
//! parsed as one value, as a range (`20-24`, `-5 to -1`, `[20, 24]`, `[20.0, 25.0)`), as a range
//! with one bound (`<20`, `>=90`, `90+`), or as a span of the calendar (`2024-05`, `2024-Q2`,
//! `1990s`). A range with one bound has NULL for the other bound. `*` and NULL have no bounds.
//!
//! Both bounds are inclusive. For whole numbers, decimals, dates and timestamps, they are computed
//! exactly: the upper bound of `[20, 25)` is the last value before 25. For floating-point numbers,
//! each bound is the number in the label, even if the label excludes that number.

use super::calendar::Calendar;
use super::ground;
use super::label::Label;
use super::line::LabelEnds;
use super::lookup::Lookup;
use super::number::Number;
use super::rule::TOP;
use super::units::Units;
use crate::base::error::{Error, Result};
use arrow::array::{Array, ArrayRef, AsArray, Float64Array, StringArray, StructArray, make_comparator};
use arrow::buffer::NullBuffer;
use arrow::compute::{SortOptions, cast};
use arrow::datatypes::{DataType, Field, Fields, Float64Type};
use std::cmp::Ordering;
use std::sync::Arc;

/// The bounds of the labels in one column, by label index.
#[derive(Clone)]
pub struct Bounds {
    numbers: Numbers,
    data_type: DataType,
}

/// The bounds as numbers, one pair per label; `None` means that there is no bound.
#[derive(Clone)]
enum Numbers {
    Whole(Units, Vec<Ends<i128>>),
    Fractions(Vec<Ends<f64>>),
}

type Ends<T> = (Option<T>, Option<T>);

impl std::fmt::Debug for Bounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Debug output must not show data.
        f.debug_struct("Bounds").finish_non_exhaustive()
    }
}

impl Bounds {
    /// Returns the bounds of the labels at a level. Fails if the column has no order, if a label
    /// cannot be parsed as bounds, or if a value under a label is outside the bounds of the label.
    pub fn of_level(lookup: &Lookup, level: u8) -> Result<Self> {
        let reader = Reader::of(lookup)?;
        let bounds = match level {
            0 if !lookup.has_codes() => reader.of_values(lookup.values(), lookup.values())?,
            level if level == lookup.top() => reader.of_texts(&[None])?,
            level => reader.of_texts(&reader.texts(level)?)?,
        };
        let level_of = lookup.level(level);
        let (low, high) = bounds.ends()?;
        let values = ground::positive_zero(&ground::plain(lookup.values())?)?;
        let encloses = enclosing(&low, &high, &values)?;
        let labels = level_of.codes.iter().enumerate();
        let outside = labels.filter(|(code, label)| values.is_valid(*code) && !encloses(**label as usize, *code));
        match outside.count() {
            0 => Ok(bounds),
            n => Err(Error::usage(format!(
                "as numbers, the labels of level {level} do not enclose {n} of their values; {INSTEAD}"
            ))),
        }
    }

    /// Returns the bounds of `labels`, which may be labels from several levels, or ranges.
    pub fn of_labels(lookup: &Lookup, labels: &[Label]) -> Result<Self> {
        let reader = Reader::of(lookup)?;
        let mut levels: Vec<Option<Bounds>> = vec![None; lookup.levels().len()];
        let ground = Self::of_level(lookup, 0)?;
        let at_ground = |code: &u32| lookup.level(0).codes[*code as usize] as usize;
        let grid_ends = lookup.grid().map(|grid| {
            let rounded = labels.iter().filter_map(|label| match label {
                Label::Rounded { low, high } => Some(grid.texts(*low, *high)),
                _ => None,
            });
            let (low, high): (Vec<Option<&str>>, Vec<Option<&str>>) = rounded.unzip();
            let parse = |texts: Vec<Option<&str>>| ground::parse(&StringArray::from(texts), &reader.data_type);
            Ok::<_, Error>((parse(low)?, parse(high)?))
        });
        let rounded = match grid_ends.transpose()? {
            Some((low, high)) => Some(reader.of_values(&low, &high)?),
            None => None,
        };
        let (mut bounds, mut next) = (reader.of_texts(&[])?, 0);
        for label in labels {
            match label {
                Label::Level { level: 0, code } => {
                    bounds.push((&ground, at_ground(code)), (&ground, at_ground(code)))?
                }
                Label::Level { level, code } => {
                    let own = &mut levels[usize::from(*level)];
                    if own.is_none() {
                        *own = Some(Self::of_level(lookup, *level)?);
                    }
                    let place = lookup.level(*level).codes[*code as usize] as usize;
                    if let Some(own) = own {
                        bounds.push((&*own, place), (&*own, place))?;
                    }
                }
                Label::Range { low, high } => bounds.push((&ground, at_ground(low)), (&ground, at_ground(high)))?,
                Label::Rounded { .. } => {
                    let rounded = rounded
                        .as_ref()
                        .ok_or_else(|| Error::internal("a column without a grid"))?;
                    bounds.push((rounded, next), (rounded, next))?;
                    next += 1;
                }
            }
        }
        Ok(bounds)
    }

    /// Adds bounds that consist of the lower bound of label `i` in `low` and the upper bound of
    /// label `j` in `high`.
    fn push(&mut self, (low, i): (&Bounds, usize), (high, j): (&Bounds, usize)) -> Result<()> {
        match (&mut self.numbers, &low.numbers, &high.numbers) {
            (Numbers::Whole(_, ends), Numbers::Whole(_, low), Numbers::Whole(_, high)) => {
                ends.push((low[i].0, high[j].1));
            }
            (Numbers::Fractions(ends), Numbers::Fractions(low), Numbers::Fractions(high)) => {
                ends.push((low[i].0, high[j].1));
            }
            _ => return Err(Error::internal("bounds of two kinds of numbers")),
        }
        Ok(())
    }

    /// Returns two arrays, the lower and the upper bounds, as values of the column's type.
    pub(super) fn ends(&self) -> Result<(ArrayRef, ArrayRef)> {
        Ok(match &self.numbers {
            Numbers::Whole(units, ends) => (
                units.write(ends.iter().map(|(low, _)| *low))?,
                units.write(ends.iter().map(|(_, high)| *high))?,
            ),
            Numbers::Fractions(ends) => (
                self.fractions(ends.iter().map(|(low, _)| *low))?,
                self.fractions(ends.iter().map(|(_, high)| *high))?,
            ),
        })
    }

    fn fractions(&self, values: impl Iterator<Item = Option<f64>>) -> Result<ArrayRef> {
        let values: Float64Array = values.map(|x| x.map(|x| x + 0.0)).collect();
        Ok(cast(&values, &self.data_type)?)
    }

    /// Returns the bounds as structs with the fields `low` and `high`; NULL for a label without
    /// bounds.
    pub fn structs(&self) -> Result<ArrayRef> {
        let (low, high) = self.ends()?;
        let valid: NullBuffer = (0..low.len()).map(|i| low.is_valid(i) || high.is_valid(i)).collect();
        Ok(Arc::new(StructArray::try_new(
            Self::fields(&self.data_type),
            vec![low, high],
            Some(valid),
        )?))
    }

    /// Returns the fields of [`Bounds::structs`] for a column of this type.
    pub fn fields(data_type: &DataType) -> Fields {
        let data_type = ground::plain_type(data_type);
        ["low", "high"]
            .map(|name| Field::new(name, data_type.clone(), true))
            .into_iter()
            .collect()
    }

    /// Returns the midpoint of each label's bounds. For types with units (integers, decimals, dates
    /// and timestamps), it is rounded down to a whole unit. If a label has only one bound, the
    /// midpoint is this bound; if it has none, the midpoint is NULL.
    pub fn midpoints(&self) -> Result<ArrayRef> {
        match &self.numbers {
            Numbers::Whole(units, ends) => units.write(ends.iter().map(|(low, high)| match (low, high) {
                // The floor of the mean, which does not overflow.
                (Some(low), Some(high)) => Some((low & high) + ((low ^ high) >> 1)),
                (low, high) => low.or(*high),
            })),
            Numbers::Fractions(ends) => self.fractions(ends.iter().map(|(low, high)| match (low, high) {
                (Some(low), Some(high)) if low == high => Some(*low),
                (Some(low), Some(high)) => Some(low / 2.0 + high / 2.0),
                (low, high) => low.or(*high),
            })),
        }
    }

    /// Returns the bounds as text, in the format of [`spelled`].
    pub fn texts(&self) -> Result<StringArray> {
        let (low, high) = self.ends()?;
        spelled(&low, &high)
    }

    /// Returns a predicate over a label index and an index in `texts`. It is true if the bounds of
    /// the label enclose the value in the text. A label without bounds encloses every value. A text
    /// that is not a valid value is never enclosed.
    pub fn enclosing_texts(&self, texts: &StringArray) -> Result<Box<dyn Fn(usize, usize) -> bool + Send + Sync>> {
        let values = ground::parse(texts, &self.data_type)?;
        let (low, high) = self.ends()?;
        let encloses = enclosing(&low, &high, &values)?;
        Ok(Box::new(move |label, value| {
            values.is_valid(value) && encloses(label, value)
        }))
    }

    /// Returns true if the bounds of each label enclose the value at the same index in `values`.
    /// NULL counts as enclosed. A label without bounds encloses every value.
    pub fn enclose(&self, values: &ArrayRef) -> Result<bool> {
        let (low, high) = self.ends()?;
        let encloses = enclosing(&low, &high, values)?;
        Ok((0..values.len()).all(|i| values.is_null(i) || encloses(i, i)))
    }
}

/// Returns bounds as text: `[low, high]`. A missing bound is written as an empty text. The result
/// is NULL if both bounds are missing. Times with a time zone are written in UTC, because a Parquet
/// file stores only whether a time has a zone, not which zone.
pub(crate) fn spelled(low: &ArrayRef, high: &ArrayRef) -> Result<StringArray> {
    let text = |ends: &ArrayRef| {
        let ends = cast(ends, &in_utc(ends.data_type()))?;
        Ok::<_, Error>(cast(&ends, &DataType::Utf8)?.as_string::<i32>().clone())
    };
    let (low, high) = (text(low)?, text(high)?);
    let text = |(low, high): (Option<&str>, Option<&str>)| {
        let is_known = low.is_some() || high.is_some();
        is_known.then(|| format!("[{}, {}]", low.unwrap_or_default(), high.unwrap_or_default()))
    };
    Ok(low.iter().zip(high.iter()).map(text).collect())
}

/// Returns the type in which bounds are written: the same type, but in UTC for times with a time
/// zone.
pub(crate) fn in_utc(data_type: &DataType) -> DataType {
    match ground::plain_type(data_type) {
        DataType::Timestamp(unit, Some(_)) => DataType::Timestamp(*unit, Some("UTC".into())),
        other => other.clone(),
    }
}

/// Returns a predicate over a label index and a value index. It is true if the bounds of the label
/// enclose the value.
fn enclosing(low: &ArrayRef, high: &ArrayRef, values: &ArrayRef) -> Result<impl Fn(usize, usize) -> bool + use<>> {
    let above = make_comparator(low, values, SortOptions::default())?;
    let below = make_comparator(values, high, SortOptions::default())?;
    let (low, high) = (Arc::clone(low), Arc::clone(high));
    Ok(move |label: usize, value: usize| {
        (low.is_null(label) || above(label, value) != Ordering::Greater)
            && (high.is_null(label) || below(value, label) != Ordering::Greater)
    })
}

/// The advice in errors about labels without bounds.
const INSTEAD: &str = "write LABELS TEXT, leave the level out with LEVELS, or name a hierarchy whose labels are ranges, \
                       such as 20-24, [20, 25) or >=90";

/// Parses the labels of one column as bounds.
struct Reader<'a> {
    lookup: &'a Lookup,
    data_type: DataType,
    units: Option<Units>,
    calendar: Option<Calendar>,
}

impl<'a> Reader<'a> {
    fn of(lookup: &'a Lookup) -> Result<Self> {
        let data_type = ground::plain_type(lookup.values().data_type()).clone();
        if !lookup.is_ordered() {
            return Err(Error::usage(format!(
                "the bounds of labels are computed with numbers, dates and timestamps, not with a column of type \
                 {data_type}"
            )));
        }
        Ok(Self {
            lookup,
            units: Units::of(&data_type),
            calendar: Calendar::of(&data_type)?,
            data_type,
        })
    }

    /// Returns the labels at a level; `None` for NULL, for `*`, and for the label of the top level.
    fn texts(&self, level: u8) -> Result<Vec<Option<String>>> {
        let text = |level: u8| Ok::<_, Error>(cast(&self.lookup.level(level).labels, &DataType::Utf8)?);
        let (labels, top) = (text(level)?, text(self.lookup.top())?);
        let top = top.as_string::<i32>().iter().flatten().next();
        let says = |label: &&str| Some(*label) != top && *label != TOP;
        Ok(labels
            .as_string::<i32>()
            .iter()
            .map(|label| label.filter(says).map(str::to_string))
            .collect())
    }

    fn of_values(&self, low: &ArrayRef, high: &ArrayRef) -> Result<Bounds> {
        let numbers = match &self.units {
            Some(units) => {
                let (low, high) = (units.read(low)?, units.read(high)?);
                Numbers::Whole(units.clone(), low.iter().zip(high.iter()).collect())
            }
            None => {
                let float = |values: &ArrayRef| Ok::<_, Error>(cast(&ground::plain(values)?, &DataType::Float64)?);
                let (low, high) = (float(low)?, float(high)?);
                let (low, high) = (low.as_primitive::<Float64Type>(), high.as_primitive::<Float64Type>());
                Numbers::Fractions(low.iter().zip(high.iter()).collect())
            }
        };
        Ok(self.bounds(numbers))
    }

    fn of_texts(&self, texts: &[Option<String>]) -> Result<Bounds> {
        fn all<T>(texts: &[Option<String>], read: impl Fn(&str) -> Option<Ends<T>>) -> Result<Vec<Ends<T>>> {
            let ends: Vec<Option<Ends<T>>> = texts
                .iter()
                .map(|text| text.as_ref().map_or(Some((None, None)), |text| read(text)))
                .collect();
            let unread = ends.iter().filter(|ends| ends.is_none()).count();
            match unread {
                0 => Ok(ends.into_iter().flatten().collect()),
                n => Err(Error::usage(format!(
                    "{n} of {} labels of a level have no bounds; {INSTEAD}",
                    texts.len()
                ))),
            }
        }
        let numbers = match &self.units {
            Some(units) => Numbers::Whole(units.clone(), all(texts, |text| self.whole(units, text))?),
            None => Numbers::Fractions(all(texts, fraction)?),
        };
        Ok(self.bounds(numbers))
    }

    fn bounds(&self, numbers: Numbers) -> Bounds {
        Bounds {
            numbers,
            data_type: self.data_type.clone(),
        }
    }

    /// Returns the bounds of a label in units; `None` if the label cannot be parsed as bounds.
    fn whole(&self, units: &Units, text: &str) -> Option<Ends<i128>> {
        if let Some((first, last)) = self.calendar.as_ref().and_then(|c| c.span(text)) {
            return Some((Some(first), Some(last)));
        }
        // Returns the first and the last unit at one end of the range. They are equal if the end is
        // exactly one unit. If the end is a number between two units, the first is the upper of
        // these units and the last is the lower.
        let span = |text: &str| match &self.calendar {
            Some(calendar) => calendar
                .span(text)
                .or_else(|| self.value(units, text).map(|at| (at, at))),
            None => {
                let (number, scale) = (Number::parse(text)?, units.scale());
                let floor = number.floor_at(scale)?;
                let ceiling = floor + i128::from(number.exact_at(scale).is_none());
                Some((ceiling, floor))
            }
        };
        let line = LabelEnds::read(text, |text| span(text).is_some())?;
        let low = |(text, included): (&str, bool)| {
            let (first, last) = span(text)?;
            Some(if included { first } else { last + 1 })
        };
        let high = |(text, included): (&str, bool)| {
            let (first, last) = span(text)?;
            Some(if included { last } else { first - 1 })
        };
        Some((
            line.low.map(low).map_or(Some(None), |end| end.map(Some))?,
            line.high.map(high).map_or(Some(None), |end| end.map(Some))?,
        ))
    }

    /// Parses a text as a value of the column, in units.
    fn value(&self, units: &Units, text: &str) -> Option<i128> {
        let parsed = ground::parse(&StringArray::from(vec![text]), &self.data_type).ok()?;
        units.read(&parsed).ok()?.iter().next().flatten()
    }
}

/// Returns the bounds of a label as floating-point numbers; `None` if the label cannot be parsed as
/// bounds.
fn fraction(text: &str) -> Option<Ends<f64>> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
    let line = LabelEnds::read(text, |text| number(text).is_some())?;
    let end = |(text, _): (&str, bool)| number(text);
    Some((line.low.and_then(end), line.high.and_then(end)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::hierarchy::{Hierarchy, OnNull, OnUnmapped, values};
    use arrow::array::{Date32Array, Int8Array, Int64Array};

    /// Returns the bounds and the midpoint of the label of each value, where `labels` are the
    /// labels of `values` at level 1.
    fn shown(values: ArrayRef, labels: &[&str]) -> std::result::Result<Vec<(String, String)>, String> {
        let texts = cast(&values, &DataType::Utf8).unwrap();
        let row = |(value, label): (Option<&str>, &&str)| vec![value.map(str::to_string), Some(label.to_string())];
        let rows: Vec<_> = texts.as_string::<i32>().iter().zip(labels).map(row).collect();
        let rule = values::listed(&rows).unwrap();
        let hierarchy = Hierarchy::new("h", Arc::new(rule), OnUnmapped::Error, OnNull::Value).unwrap();
        let lookup = hierarchy.bind(values).unwrap();
        let bounds = Bounds::of_level(&lookup, 1).map_err(|e| e.to_string())?;
        let midpoints = cast(&bounds.midpoints().unwrap(), &DataType::Utf8).unwrap();
        assert!(bounds.enclose(&bounds.midpoints().unwrap()).unwrap());
        let (texts, midpoints) = (bounds.texts().unwrap(), midpoints.as_string::<i32>());
        let codes = lookup.level(1).codes.iter().map(|label| *label as usize);
        Ok(codes
            .map(|i| (texts.value(i).to_string(), midpoints.value(i).to_string()))
            .collect())
    }

    fn pairs(expected: &[[&str; 2]]) -> std::result::Result<Vec<(String, String)>, String> {
        Ok(expected.iter().map(|[a, b]| (a.to_string(), b.to_string())).collect())
    }

    #[test]
    fn labels_of_integers_are_read() {
        let values = || Arc::new(Int64Array::from(vec![-7, -3, 0, 5, 8, 12, 23, 95])) as ArrayRef;
        let labels = [
            "<-5", "-5 to -1", "-0.5-2", "[5, 8)", "8", "(10, 15]", "[20, 25[", "90+",
        ];
        let expected = [
            ["[, -6]", "-6"],
            ["[-5, -1]", "-3"],
            ["[0, 2]", "1"],
            ["[5, 7]", "6"],
            ["[8, 8]", "8"],
            ["[11, 15]", "13"],
            ["[20, 24]", "22"],
            ["[90, ]", "90"],
        ];
        assert_eq!(shown(values(), &labels), pairs(&expected));
        let error = shown(values(), &["<-5", "a", "b", "b", "8", "c", "d", "e"]).unwrap_err();
        assert!(error.contains("5 of 7 labels"), "{error}");
        let error = shown(values(), &["<-5", "0-2", "0-2", "5-7", "8", "10-15", "20-24", "90+"]).unwrap_err();
        assert!(error.contains("enclose 1 of their values"), "{error}");
    }

    #[test]
    fn bounds_stay_within_the_type() {
        let values: ArrayRef = Arc::new(Int8Array::from(vec![-128, 120]));
        assert_eq!(
            shown(values, &["-150 to -101", "100-149"]),
            pairs(&[["[-128, -101]", "-126"], ["[100, 127]", "124"]])
        );
    }

    #[test]
    fn labels_of_fractions_and_dates_are_read() {
        let floats: ArrayRef = Arc::new(Float64Array::from(vec![0.25, 7.5]));
        assert_eq!(
            shown(floats, &["[0.0, 0.5)", ">=7.25"]),
            pairs(&[["[0.0, 0.5]", "0.25"], ["[7.25, ]", "7.25"]])
        );
        let days: ArrayRef = Arc::new(Date32Array::from(vec![3, 40, 400]));
        assert_eq!(
            shown(days, &["1970-01", "[1970-02-01, 1970-02-11)", ">=1971"]),
            pairs(&[
                ["[1970-01-01, 1970-01-31]", "1970-01-16"],
                ["[1970-02-01, 1970-02-10]", "1970-02-05"],
                ["[1971-01-01, ]", "1971-01-01"],
            ])
        );
    }

    #[test]
    fn ranges_and_the_top_have_bounds_of_their_own() {
        let values: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), Some(12), Some(40), None]));
        let lookup = Hierarchy::suppression_of("x").unwrap().bind(values).unwrap();
        let labels = [
            Label::range(&lookup, 0, 1),
            Label::rounded(&lookup, 0, 1),
            Label::at(&lookup, 0, 2),
            Label::at(&lookup, 1, 0),
            Label::at(&lookup, 0, 3),
        ];
        let bounds = Bounds::of_labels(&lookup, &labels).unwrap().texts().unwrap();
        let texts: Vec<Option<&str>> = bounds.iter().collect();
        assert_eq!(texts, [Some("[1, 12]"), Some("[0, 13]"), Some("[40, 40]"), None, None]);
    }
}
