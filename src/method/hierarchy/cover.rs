//! Proves that a released label covers a value, so that a release states nothing false about a row.
//!
//! The proof uses only the value itself and the text of the label, which everyone with access to
//! the release can read. It does not matter how the label was chosen. A label covers a value if it
//! is the value's own label at some level of the hierarchy, the value itself, or a range of
//! numbers, dates or timestamps that contains the value. Both ends of a range are inclusive, and
//! one end may be open (`[20, 24]`, `>=85`, `<=34`).

use super::bounds::spelled;
use super::ground;
use super::lookup::{Level, Lookup};
use crate::base::error::Result;
use arrow::array::{Array, ArrayRef, AsArray, DynComparator, StringArray, make_comparator};
use arrow::compute::{SortOptions, cast};
use arrow::datatypes::DataType;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The released labels of one column, which are compared with the values of the column.
pub struct Cover {
    lookup: Arc<Lookup>,
    labels: StringArray,
    /// The labels of the hierarchy at each level above level 0.
    levels: Vec<StringArray>,
    ends: Option<Ends>,
    /// True if a NULL label covers every value. If false, a NULL label covers only NULL.
    null_is_any: bool,
}

/// The ends of those labels that are a value or a range of values. Ends are compared as values of
/// the column's type.
struct Ends {
    is_read: Vec<bool>,
    /// For each label, two flags: the first is true if the lower end is open, the second if the
    /// upper end is open.
    is_open: Vec<(bool, bool)>,
    low: DynComparator,
    high: DynComparator,
}

impl Cover {
    /// Returns the cover of the released `labels`, for the column to which `lookup` is bound.
    pub fn new(lookup: Arc<Lookup>, labels: StringArray) -> Result<Self> {
        let values = ground::plain(lookup.values())?;
        let levels = lookup.levels().iter().skip(1);
        let levels = levels.map(|level| Ok(cast(&level.labels, &DataType::Utf8)?.as_string::<i32>().clone()));
        Ok(Self {
            levels: levels.collect::<Result<_>>()?,
            ends: Ends::new(&values, &labels, lookup.is_ordered())?,
            lookup,
            labels,
            null_is_any: false,
        })
    }

    /// Returns the cover of released bounds, which are structs with the fields `low` and `high`.
    pub fn of_bounds(lookup: Arc<Lookup>, bounds: &ArrayRef) -> Result<Self> {
        let ends = bounds.as_struct();
        Ok(Self::new(lookup, spelled(ends.column(0), ends.column(1))?)?.with_null_as_any())
    }

    /// Changes the cover so that a NULL label covers every value.
    pub fn with_null_as_any(self) -> Self {
        Self {
            null_is_any: true,
            ..self
        }
    }

    /// Returns true if the label with index `label` covers the value with ground code `code`.
    pub fn covers(&self, code: u32, label: u32) -> bool {
        let (value, text) = (code as usize, label as usize);
        let own = (!self.labels.is_null(text)).then(|| self.labels.value(text));
        if own.is_none() && (self.null_is_any || self.lookup.values().is_null(value)) {
            return true;
        }
        let is_own = |(level, labels): (&Level, &StringArray)| {
            let at = level.codes[value] as usize;
            own.is_some() && (!labels.is_null(at)).then(|| labels.value(at)) == own
        };
        if self.lookup.levels().iter().skip(1).zip(&self.levels).any(is_own) {
            return true;
        }
        self.ends.as_ref().is_some_and(|ends| ends.enclose(value, text)) && !self.lookup.values().is_null(value)
    }

    /// Returns, for each label, the ground codes of the values that the label covers, in ascending
    /// order. The values of the lookup must be in ascending order.
    pub fn covered(&self) -> Vec<Vec<u32>> {
        let values = self.lookup.values();
        let known = values.len() - values.null_count();
        let mut by_text: HashMap<&str, Vec<u32>> = HashMap::new();
        for (level, labels) in self.lookup.levels().iter().skip(1).zip(&self.levels) {
            for (code, at) in level.codes.iter().enumerate() {
                if labels.is_valid(*at as usize) {
                    by_text.entry(labels.value(*at as usize)).or_default().push(code as u32);
                }
            }
        }
        let covered = self.labels.iter().enumerate().map(|(label, text)| {
            let Some(text) = text else {
                let first = if self.null_is_any { 0 } else { known };
                return (first as u32..values.len() as u32).collect();
            };
            let mut codes = by_text.get(text).cloned().unwrap_or_default();
            codes.extend(self.ends.as_ref().map_or(0..0, |ends| ends.between(label, known)));
            codes.sort_unstable();
            codes.dedup();
            codes
        });
        covered.collect()
    }

    /// Returns true if the label with index `label` can be parsed as a value of the column, or as a
    /// range of such values.
    pub fn reads(&self, label: usize) -> bool {
        self.ends.as_ref().is_some_and(|ends| ends.is_read[label])
    }

    fn len(&self) -> (usize, usize) {
        (self.lookup.values().len(), self.labels.len())
    }
}

impl fmt::Debug for Cover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Debug output must not show labels and values.
        f.debug_struct("Cover").finish_non_exhaustive()
    }
}

impl Ends {
    fn new(values: &ArrayRef, labels: &StringArray, is_ordered: bool) -> Result<Option<Self>> {
        if ground::has_text(values.data_type()).is_err() {
            return Ok(None);
        }
        let range = |text: &str| {
            let open = text.strip_prefix(">=").map(|low| (low, ""));
            let open = open.or_else(|| text.strip_prefix("<=").map(|high| ("", high)));
            let closed = || text.strip_prefix('[')?.strip_suffix(']')?.split_once(", ");
            let (low, high) = open.or_else(closed)?;
            Some((low.to_string(), high.to_string()))
        };
        let ends = labels.iter().map(|text| {
            let range = text.filter(|_| is_ordered).and_then(range);
            range.or_else(|| text.map(|t| (t.to_string(), t.to_string()))).unzip()
        });
        let (low, high): (Vec<Option<String>>, Vec<Option<String>>) = ends.unzip();
        let is_empty = |text: &Option<String>| is_ordered && text.as_deref() == Some("");
        let open = |(low, high): (&Option<String>, &Option<String>)| match (is_empty(low), is_empty(high)) {
            (true, true) => (false, false),
            ends => ends,
        };
        let is_open: Vec<(bool, bool)> = low.iter().zip(&high).map(open).collect();
        let parse = |texts: Vec<Option<String>>| {
            let parsed = ground::parse(&texts.into_iter().collect(), values.data_type())?;
            ground::positive_zero(&parsed)
        };
        let (low, high, values) = (parse(low)?, parse(high)?, ground::positive_zero(values)?);
        Ok(Some(Self {
            is_read: (0..labels.len())
                .map(|i| (low.is_valid(i) || is_open[i].0) && (high.is_valid(i) || is_open[i].1))
                .collect(),
            is_open,
            low: make_comparator(&low, &values, SortOptions::default())?,
            high: make_comparator(&values, &high, SortOptions::default())?,
        }))
    }

    /// Returns the codes of the values that a label encloses. The first `known` values are in
    /// ascending order and not NULL.
    fn between(&self, label: usize, known: usize) -> Range<u32> {
        if !self.is_read[label] {
            return 0..0;
        }
        let first = |is_before: &dyn Fn(usize) -> bool| {
            let (mut from, mut to) = (0, known);
            while from < to {
                let middle = (from + to) / 2;
                match is_before(middle) {
                    true => from = middle + 1,
                    false => to = middle,
                }
            }
            from as u32
        };
        let (is_low_open, is_high_open) = self.is_open[label];
        let from = first(&|value| !is_low_open && (self.low)(label, value) == Ordering::Greater);
        let to = first(&|value| is_high_open || (self.high)(value, label) != Ordering::Greater);
        from..to.max(from)
    }

    fn enclose(&self, value: usize, label: usize) -> bool {
        self.is_read[label]
            && (self.is_open[label].0 || (self.low)(label, value) != Ordering::Greater)
            && (self.is_open[label].1 || (self.high)(value, label) != Ordering::Greater)
    }
}

/// A [`Cover`] with a cache of the pairs of a value and a label that were proven. For each further
/// row with the same pair, the proof is one lookup.
#[derive(Debug)]
pub struct Proven {
    cover: Arc<Cover>,
    known: Pairs,
}

/// The proven pairs.
#[derive(Debug)]
enum Pairs {
    /// One bit per pair.
    Few(Vec<u64>),
    /// `last` contains, for each value, 1 plus the index of the last label that was proven for it,
    /// or 0 if there is none. `all` contains every proven pair.
    Many { last: Vec<u32>, all: HashSet<(u32, u32)> },
}

/// The maximum number of pairs that are stored as one bit per pair, which is one megabyte of bits.
const FEW: usize = 1 << 23;

impl Proven {
    /// Creates an empty cache.
    pub fn new(cover: Arc<Cover>) -> Self {
        let (values, labels) = cover.len();
        let known = match values.checked_mul(labels) {
            Some(pairs) if pairs <= FEW => Pairs::Few(vec![0; pairs.div_ceil(64)]),
            _ => Pairs::Many {
                last: vec![0; values],
                all: HashSet::new(),
            },
        };
        Self { cover, known }
    }

    /// Returns true if the label with index `label` covers the value with ground code `code`.
    #[inline]
    pub fn covers(&mut self, code: u32, label: u32) -> bool {
        match &mut self.known {
            Pairs::Few(bits) => {
                let pair = code as usize * self.cover.labels.len() + label as usize;
                let (word, bit) = (&mut bits[pair / 64], 1 << (pair % 64));
                if *word & bit == 0 && self.cover.covers(code, label) {
                    *word |= bit;
                }
                *word & bit != 0
            }
            Pairs::Many { last, all } => {
                let last = &mut last[code as usize];
                if *last == label + 1 {
                    return true;
                }
                let is_known =
                    all.contains(&(code, label)) || self.cover.covers(code, label) && all.insert((code, label));
                if is_known {
                    *last = label + 1;
                }
                is_known
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::hierarchy::{Hierarchy, OnNull, OnUnmapped, values};
    use arrow::array::{Date32Array, Float64Array, Int64Array};

    /// Returns the lookup of a column with these values, under a hierarchy that lists these rows.
    fn lookup(values: ArrayRef, rows: &[[&str; 3]]) -> Arc<Lookup> {
        let rows: Vec<Vec<Option<String>>> = rows
            .iter()
            .map(|r| r.iter().map(|v| Some(v.to_string())).collect())
            .collect();
        let table = values::listed(&rows).unwrap();
        let hierarchy = Hierarchy::new("h", Arc::new(table), OnUnmapped::Error, OnNull::Value).unwrap();
        Arc::new(hierarchy.bind(values).unwrap())
    }

    #[test]
    fn a_label_covers_what_it_says() {
        let rows = [["20", "20-29", "*"], ["23", "20-29", "*"], ["61", "60-69", "*"]];
        let values: ArrayRef = Arc::new(Int64Array::from(vec![Some(20), Some(23), Some(61), None]));
        let labels = [
            "20-29", "60-69", "*", "[20, 22]", "[21, 61]", "[x, 61]", "61", "[20, 61",
        ];
        let texts: StringArray = labels.iter().map(Some).chain([None]).collect();
        let cover = Arc::new(Cover::new(lookup(values, &rows), texts).unwrap());
        let expected: [&[usize]; 4] = [&[0, 2, 3], &[0, 2, 4], &[1, 2, 4, 6], &[2, 8]];
        let mut proven = Proven::new(Arc::clone(&cover));
        let mut many = Proven {
            known: Pairs::Many {
                last: vec![0; 4],
                all: HashSet::new(),
            },
            cover: Arc::clone(&cover),
        };
        let covered = cover.covered();
        for (code, covering) in expected.iter().enumerate() {
            let found: Vec<usize> = (0..covered.len())
                .filter(|l| covered[*l].contains(&(code as u32)))
                .collect();
            assert_eq!(&found, covering, "{code}");
        }
        for _ in 0..2 {
            for (code, covering) in expected.iter().enumerate() {
                for label in 0..=labels.len() {
                    let (code, covered) = (code as u32, covering.contains(&label));
                    assert_eq!(cover.covers(code, label as u32), covered, "{code} {label}");
                    assert_eq!(proven.covers(code, label as u32), covered);
                    assert_eq!(many.covers(code, label as u32), covered);
                }
            }
        }
    }

    proptest::proptest! {
        /// Checks that `covered` agrees with `covers` for every value.
        #[test]
        fn the_codes_under_a_label_are_those_that_it_covers(
            numbers in proptest::collection::btree_set(-20i64..60, 1..12),
            ranges in proptest::collection::vec((-25i64..65, -25i64..65, 0u8..4), 0..6),
            has_null in proptest::bool::ANY,
            null_is_any in proptest::bool::ANY,
        ) {
            let rows: Vec<[String; 3]> = numbers
                .iter()
                .map(|n| [n.to_string(), format!("[{}, {}]", n.div_euclid(10) * 10, n.div_euclid(10) * 10 + 9), "*".into()])
                .collect();
            let rows: Vec<[&str; 3]> = rows.iter().map(|r| r.each_ref().map(String::as_str)).collect();
            let values = numbers.iter().map(|n| Some(*n)).chain(has_null.then_some(None));
            let values: ArrayRef = Arc::new(values.collect::<Int64Array>());
            let ranges = ranges.iter().map(|(a, b, open)| match open {
                0 => format!("[, {b}]"),
                1 => format!("[{a}, ]"),
                _ => format!("[{a}, {b}]"),
            });
            let own = rows.iter().flat_map(|r| r.map(str::to_string));
            let texts: StringArray = own.chain(ranges).map(Some).chain([Some("x".into()), None]).collect();
            let cover = Cover::new(lookup(Arc::clone(&values), &rows), texts).unwrap();
            let cover = if null_is_any { cover.with_null_as_any() } else { cover };
            for (label, codes) in cover.covered().iter().enumerate() {
                let one_by_one: Vec<u32> = (0..values.len() as u32).filter(|c| cover.covers(*c, label as u32)).collect();
                proptest::prop_assert_eq!(codes, &one_by_one, "{}", label);
            }
        }
    }

    #[test]
    fn ranges_are_of_ordered_types_only() {
        let text: ArrayRef = Arc::new(StringArray::from(vec!["b"]));
        let labels = StringArray::from(vec!["[a, c]", "b", "x"]);
        let cover = Cover::new(lookup(text, &[["b", "x", "*"]]), labels).unwrap();
        assert_eq!([0, 1, 2].map(|label| cover.covers(0, label)), [false, true, true]);
        let floats: ArrayRef = Arc::new(Float64Array::from(vec![-0.0, 0.5]));
        let labels = StringArray::from(vec!["[0.0, 0.5]", "0.0", "[-1, 1e0]"]);
        let cover = Cover::new(lookup(floats, &[["0", "x", "*"], ["0.5", "x", "*"]]), labels).unwrap();
        assert_eq!([0, 1, 2].map(|label| cover.covers(0, label)), [true; 3]);
        assert_eq!([0, 1, 2].map(|label| cover.covers(1, label)), [true, false, true]);
        let dates: ArrayRef = Arc::new(Date32Array::from(vec![0]));
        let labels = StringArray::from(vec!["[1969-12-31, 1970-01-01]", "[1970-01-02, 1970-01-03]"]);
        let cover = Cover::new(lookup(dates, &[["1970-01-01", "x", "*"]]), labels).unwrap();
        assert_eq!([0, 1].map(|label| cover.covers(0, label)), [true, false]);
    }
}
