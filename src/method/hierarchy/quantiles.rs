//! QUANTILES: groups of (nearly) equal numbers of rows, computed once and stored as bounds.
//!
//! If N rows are divided into n groups, there are n - 1 bounds. The i-th bound lies between two
//! neighbouring distinct values, such that the number of rows below it is nearest to i N / n. If
//! two positions are equally near, the lower is chosen. Therefore equal values stay together, and
//! groups may be empty if one value has many rows. The number of groups at a level divides the
//! number at the level below, so the bounds of a level are among the bounds of the level below, and
//! groups nest. Each bound is stored as the roundest value that separates the two groups. It is a
//! value of the column only if no rounder value separates the groups, as between 34 and 35. The
//! first and the last group are open (`<25`, `>=60`), so they do not reveal the minimum and the
//! maximum of the column, and they cover lower and higher values that are added later. Labels of
//! integers include both ends (`25-32`); labels of other values exclude the upper end (`[24.2,
//! 27.3)`).
//!
//! Example: `CREATE HIERARCHY income AS QUANTILES (16, 4) OF people.income`.
//!
//! Reference: Hundepool et al., Statistical Disclosure Control, 2012, section 3.3.1 (global
//! recoding), doi:10.1002/9781118348239.

use super::clause::{Clause, Item, Kind, Part, Takes};
use super::ground::{self, finite};
use super::number::{Number, decimal, is_whole};
use super::roundest::roundest;
use super::rule::{GeneralizationRule, LevelRule, TOP};
use crate::base::catalogue::Info;
use crate::base::error::{Error, Result};
use crate::base::quoting;
use arrow::array::{Array, ArrayRef, StringArray, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::DataType;
use arrow::row::{RowConverter, Rows, SortField};
use std::sync::Arc;

/// The maximum number of groups at a level.
pub const MAX_GROUPS: u32 = 65_536;

/// The rule with groups of nearly equal size.
#[derive(Debug, Clone)]
pub struct Quantiles {
    pub(super) groups: Vec<u32>,
    /// The bounds of level 1 as text, ascending. The number of bounds is one less than the number
    /// of groups; a bound is repeated if a group is empty.
    pub(super) bounds: StringArray,
    /// True if bounds are written in SQL as numbers without quotes, false if they are written as
    /// strings.
    pub(super) bare: bool,
}

impl Quantiles {
    /// Computes the rule with `groups[i]` groups at level i + 1. `values` contains the distinct
    /// values of the column in ascending order, and `counts` the number of rows with each value.
    /// NULL belongs to no group.
    pub fn of(groups: &[u32], values: &ArrayRef, counts: &[u64]) -> Result<Self> {
        check_groups(groups)?;
        let values = &ground::plain(values)?;
        check_type(values.data_type())?;
        let finite = finite(values)?;
        let kept: Vec<u32> = (0..values.len().min(counts.len()))
            .filter(|&i| !values.is_null(i) && finite(i))
            .map(|i| i as u32)
            .collect();
        if kept.is_empty() {
            return Err(Error::data(
                "QUANTILES: the column has no values to compute groups from",
            ));
        }
        // `below[j]` is the number of rows with a value below the j-th value.
        let below: Vec<u128> = kept
            .iter()
            .scan(0, |sum, &i| {
                let before = *sum;
                *sum += u128::from(counts[i as usize]);
                Some(before)
            })
            .collect();
        let rows: u128 = kept.iter().map(|&i| u128::from(counts[i as usize])).sum();
        let n = u128::from(groups[0]);
        // A bound below the minimum would only create an empty group, so it is moved above the
        // minimum, unless the column has no other value.
        let first = usize::from(kept.len() > 1);
        let cuts: Vec<usize> = (1..n)
            .map(|i| {
                let after = below.partition_point(|b| b * n < i * rows).clamp(first, kept.len() - 1);
                let before = after.saturating_sub(1).max(first);
                let distance = |j: usize| (below[j] * n).abs_diff(i * rows);
                match distance(before) <= distance(after) {
                    true => before,
                    false => after,
                }
            })
            .collect();
        let before: UInt32Array = cuts.iter().map(|i| i.checked_sub(1).map(|i| kept[i])).collect();
        let at: UInt32Array = cuts.iter().map(|i| Some(kept[*i])).collect();
        let bounds = roundest(&take(values, &before, None)?, &take(values, &at, None)?)?;
        let bounds = ground::text(&bounds)?;
        Ok(Self {
            groups: groups.to_vec(),
            bounds,
            bare: values.data_type().is_numeric(),
        })
    }

    /// Creates the rule from stored bounds. `bounds` contains the lower bound of each group of
    /// level 1 except the first, as text and in ascending order.
    pub fn from_bounds(groups: &[u32], bounds: &[String]) -> Result<Self> {
        check_groups(groups)?;
        if bounds.len() != groups[0] as usize - 1 {
            return Err(Error::usage(format!(
                "QUANTILES: {} groups have {} bounds, not {}",
                groups[0],
                groups[0] - 1,
                bounds.len()
            )));
        }
        let bare = bounds.iter().all(|b| Number::parse(b).is_some());
        let floats: Vec<f64> = bounds.iter().filter_map(|b| b.trim().parse().ok()).collect();
        if bare && floats.windows(2).any(|pair| pair[1] < pair[0]) {
            return Err(not_ascending());
        }
        Ok(Self {
            groups: groups.to_vec(),
            bare,
            bounds: bounds.iter().map(|b| Some(b.as_str())).collect(),
        })
    }

    /// Returns the bounds as values of this type. Fails if a bound is not a valid value of the
    /// type.
    fn bounds(&self, data_type: &DataType) -> Result<ArrayRef> {
        let bounds = ground::parse(&self.bounds, data_type)?;
        match bounds.null_count() {
            0 => ground::positive_zero(&bounds),
            n => Err(Error::usage(format!(
                "QUANTILES: {n} of {} bounds are not values of type {data_type}",
                bounds.len()
            ))),
        }
    }

    /// Returns the groups of a level, with their labels. The bounds of the level are every
    /// `step`-th element of `bounds`.
    fn names(&self, bounds: &ArrayRef, rows: &Rows, step: usize) -> Result<Level> {
        let mut at: Vec<usize> = (step - 1..bounds.len()).step_by(step).collect();
        at.dedup_by(|b, a| rows.row(*a) == rows.row(*b));
        let text = ground::text(bounds)?;
        let names = (0..=at.len())
            .map(|group| {
                let low = group.checked_sub(1).map(|g| text.value(at[g]));
                let high = at.get(group).map(|i| text.value(*i));
                match (low, high) {
                    (None, None) => TOP.to_string(),
                    (None, Some(high)) => format!("<{high}"),
                    (Some(low), None) => format!(">={low}"),
                    (Some(low), Some(high)) => range(low, high, bounds.data_type()),
                }
            })
            .collect();
        Ok(Level { at, names })
    }
}

/// The groups of one level: the indices of its bounds, and the labels of its groups. There is one
/// group more than there are bounds.
struct Level {
    at: Vec<usize>,
    names: Vec<String>,
}

pub(super) fn range(low: &str, high: &str, data_type: &DataType) -> String {
    let units = |text| Number::parse(text).and_then(|n| n.exact_at(0));
    match (units(low), units(high)) {
        (Some(first), Some(end)) if is_whole(data_type) => {
            let last = end - 1;
            match decimal(last, 0, 0) {
                last if last == low => last,
                last if first < 0 => format!("{low} to {last}"),
                last => format!("{low}-{last}"),
            }
        }
        _ => format!("[{low}, {high})"),
    }
}

fn not_ascending() -> Error {
    Error::usage("QUANTILES: bounds must ascend")
}

fn check_groups(groups: &[u32]) -> Result<()> {
    let Some(first) = groups.first() else {
        return Err(Error::usage("QUANTILES needs at least one number of groups"));
    };
    if *first > MAX_GROUPS || groups.iter().any(|n| *n < 2) {
        return Err(Error::usage(format!(
            "QUANTILES: numbers of groups must be from 2 to {MAX_GROUPS}"
        )));
    }
    match groups
        .windows(2)
        .position(|pair| pair[1] >= pair[0] || pair[0] % pair[1] != 0)
    {
        Some(i) => Err(Error::usage(format!(
            "QUANTILES: groups do not nest: {} groups of level {} cannot be merged evenly into {} of level {}",
            groups[i],
            i + 1,
            groups[i + 1],
            i + 2
        ))),
        None => Ok(()),
    }
}

fn check_type(data_type: &DataType) -> Result<()> {
    match ground::plain_type(data_type) {
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) | DataType::Time32(_) | DataType::Time64(_) => {
            Ok(())
        }
        t if t.is_numeric() => Ok(()),
        other => Err(ground::unfit(
            "QUANTILES",
            "numbers, dates, times and timestamps",
            other,
        )),
    }
}

impl GeneralizationRule for Quantiles {
    fn kind(&self) -> &'static str {
        KIND.info.name
    }

    fn levels(&self) -> usize {
        self.groups.len()
    }

    fn is_intervals(&self) -> bool {
        true
    }

    fn accepts(&self, data_type: &DataType) -> Result<()> {
        check_type(data_type)?;
        self.bounds(data_type).map(|_| ())
    }

    fn labels(&self, values: &ArrayRef) -> Result<Vec<StringArray>> {
        let plain = ground::positive_zero(&ground::plain(values)?)?;
        let finite = finite(values)?;
        let bounds = self.bounds(plain.data_type())?;
        let converter = RowConverter::new(vec![SortField::new(plain.data_type().clone())])?;
        let rows = converter.convert_columns(&[Arc::clone(&bounds)])?;
        let sought = converter.convert_columns(&[Arc::clone(&plain)])?;
        if (1..rows.num_rows()).any(|i| rows.row(i) < rows.row(i - 1)) {
            return Err(not_ascending());
        }
        let level = |groups: &u32| {
            let level = self.names(&bounds, &rows, (self.groups[0] / groups) as usize)?;
            let name = |i: usize| {
                let group = level.at.partition_point(|&b| rows.row(b) <= sought.row(i));
                (!plain.is_null(i) && finite(i)).then(|| level.names[group].as_str())
            };
            Ok((0..plain.len()).map(name).collect())
        };
        self.groups.iter().map(level).collect()
    }

    fn is_label(&self, level: u8, label: &str) -> Option<bool> {
        let groups = self.groups.get(usize::from(level).checked_sub(1)?)?;
        self.has_label(*groups, label)
    }

    fn sql(&self) -> String {
        let groups: Vec<String> = self.groups.iter().map(ToString::to_string).collect();
        let literal = |text: &str| {
            if self.bare {
                text.to_string()
            } else {
                quoting::literal(text)
            }
        };
        let bounds: Vec<String> = self.bounds.iter().flatten().map(literal).collect();
        format!("AS QUANTILES ({}) BOUNDS ({})", groups.join(", "), bounds.join(", "))
    }

    fn describe(&self) -> Vec<LevelRule> {
        let rules = self.groups.iter().map(|groups| LevelRule {
            rule: format!("at most {groups} groups of nearly equal numbers of rows"),
            labels: None,
        });
        rules.collect()
    }
}

/// The entry of the kind in the catalogue.
pub(super) const KIND: Kind = Kind {
    info: Info {
        name: "quantiles",
        summary: "groups of nearly equal numbers of rows, computed once and stored as bounds",
        params: &[],
        example: "CREATE HIERARCHY income AS QUANTILES (16, 4) OF people.income",
        reference: "Hundepool et al., 2012, section 3.3.1, doi:10.1002/9781118348239",
    },
    clause: Clause {
        start: "AS QUANTILES",
        syntax: "AS QUANTILES (16, 4) { OF table.column | BOUNDS (b, ...) }",
        parts: &[
            Part::First("groups", Takes::List("groups", Item::Whole, "a number of groups")),
            // For a hierarchy created with OF, SHOW HIERARCHIES prints BOUNDS with the computed
            // bounds.
            Part::OneOf(&[
                ("OF", Takes::Column),
                ("BOUNDS", Takes::List("bound", Item::NumberOrText, "a bound")),
            ]),
        ],
    },
    build: |given| {
        let groups = given.wholes("groups")?;
        Ok(Arc::new(match given.counts("OF") {
            Some((values, counts)) => Quantiles::of(&groups, values, counts)?,
            None => Quantiles::from_bounds(&groups, &given.texts("BOUNDS"))?,
        }))
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Date32Array, Decimal128Array, Float64Array, Int64Array, TimestampSecondArray};
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn labels(quantiles: &Quantiles, values: &ArrayRef) -> Vec<Vec<String>> {
        quantiles.accepts(values.data_type()).unwrap();
        let level = |l: &StringArray| l.iter().map(|l| l.unwrap_or("-").to_string()).collect();
        quantiles.labels(values).unwrap().iter().map(level).collect()
    }

    fn integers(values: impl IntoIterator<Item = i64>) -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(values))
    }

    #[test]
    fn rows_are_spread_evenly() {
        let values = integers(1..=8);
        let q = Quantiles::of(&[4, 2], &values, &[1; 8]).unwrap();
        assert_eq!(
            labels(&q, &values),
            [
                ["<3", "<3", "3-4", "3-4", "5-6", "5-6", ">=7", ">=7"],
                ["<5", "<5", "<5", "<5", ">=5", ">=5", ">=5", ">=5"]
            ]
        );
        assert_eq!(q.sql(), "AS QUANTILES (4, 2) BOUNDS (3, 5, 7)");
        assert_eq!(labels(&q, &integers([-9, 99]))[0], ["<3", ">=7"]);
    }

    #[test]
    fn equal_values_stay_together() {
        // Seven of 10 rows have the value 2. Therefore the bounds of three groups, ideally at 3.3
        // and 6.7 rows, move to the nearer side of this value.
        let values = integers([1, 2, 3]);
        let q = Quantiles::of(&[3], &values, &[2, 7, 1]).unwrap();
        assert_eq!(labels(&q, &values), [["<2", "2", ">=3"]]);
        let q = Quantiles::of(&[8, 4], &values, &[2, 7, 1]).unwrap();
        assert_eq!(labels(&q, &values)[1], ["<2", "2", ">=3"]);
        let q = Quantiles::of(&[2], &integers([5]), &[3]).unwrap();
        assert_eq!(labels(&q, &integers([5, 4])), [[">=5", "<5"]]);
    }

    #[test]
    fn other_types_have_half_open_labels_and_their_definition_makes_them_again() {
        let dates: ArrayRef = Arc::new(Date32Array::from(vec![0, 1, 365, 366]));
        let stamps: ArrayRef = Arc::new(TimestampSecondArray::from(vec![0, 1, 2, 3]).with_timezone("+01:00"));
        let floats: ArrayRef = Arc::new(Float64Array::from(vec![-0.5, 0.0, 24.2, 1e21]));
        let decimals: ArrayRef = Arc::new(
            Decimal128Array::from(vec![5, 10, 15, 20])
                .with_precision_and_scale(5, 1)
                .unwrap(),
        );
        for values in [dates, stamps, floats, decimals] {
            let q = Quantiles::of(&[4, 2], &values, &[1; 4]).unwrap();
            let bounds: Vec<String> = q.bounds.iter().flatten().map(Into::into).collect();
            let again = Quantiles::from_bounds(&[4, 2], &bounds).unwrap();
            assert_eq!((labels(&again, &values), again.sql()), (labels(&q, &values), q.sql()));
            let label = format!("[{}, {})", bounds[0], bounds[1]);
            assert_eq!(labels(&q, &values)[0][1], label);
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let values = integers(0..4);
        let said = |groups: &[u32]| Quantiles::of(groups, &values, &[1; 4]).unwrap_err().to_string();
        assert!(said(&[16, 5]).contains("16 groups of level 1 cannot be merged evenly into 5 of level 2"));
        assert!(said(&[4, 4]).contains("do not nest"));
        assert!(said(&[1]).contains("from 2 to"));
        assert!(said(&[]).contains("at least one"));
        assert!(
            Quantiles::of(&[2], &integers([]), &[])
                .unwrap_err()
                .to_string()
                .contains("no values")
        );
        let text: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
        assert!(Quantiles::of(&[2], &text, &[1]).is_err());
        let bounds = |b: &[&str]| Quantiles::from_bounds(&[3], &b.iter().map(|b| b.to_string()).collect::<Vec<_>>());
        assert!(
            bounds(&["1"])
                .unwrap_err()
                .to_string()
                .contains("3 groups have 2 bounds, not 1")
        );
        assert!(bounds(&["2", "1"]).unwrap_err().to_string().contains("ascend"));
        let q = bounds(&["1.5", "2"]).unwrap();
        assert!(
            q.accepts(&DataType::Int64)
                .unwrap_err()
                .to_string()
                .contains("1 of 2 bounds are not values")
        );
        assert!(q.accepts(&DataType::Float32).is_ok() && q.accepts(&DataType::Utf8).is_err());
        assert!(
            bounds(&["2024-02-01", "2024-01-01"])
                .unwrap()
                .labels(&(Arc::new(Date32Array::from(vec![0])) as ArrayRef))
                .is_err()
        );
    }

    proptest! {
        #[test]
        fn cuts_come_nearest_to_equal_numbers(counts in prop::collection::btree_map(-50i64..50, 1u64..9, 1..40)) {
            let values = integers(counts.keys().copied());
            let rows: Vec<u64> = counts.values().copied().collect();
            let total: u64 = rows.iter().sum();
            let q = Quantiles::of(&[6, 3], &values, &rows).unwrap();
            let got = labels(&q, &values);
            for (level, n) in [6u64, 3].into_iter().enumerate() {
                // Brute force: for every ideal bound, finds the value (except the minimum) for
                // which the number of rows below the value is nearest.
                let cuts: BTreeSet<i64> = (1..n).map(|i| {
                    let below = |v: i64| counts.range(..v).map(|(_, c)| c).sum::<u64>();
                    let candidates = counts.keys().skip(usize::from(counts.len() > 1));
                    *candidates.min_by_key(|v| ((below(**v) * n).abs_diff(i * total), **v)).unwrap()
                }).collect();
                let group = |v: i64| cuts.iter().filter(|c| **c <= v).count();
                let mut names: BTreeMap<usize, &String> = BTreeMap::new();
                for (label, v) in got[level].iter().zip(counts.keys()) {
                    prop_assert_eq!(*names.entry(group(*v)).or_insert(label), label);
                }
                let distinct: BTreeSet<&String> = names.values().copied().collect();
                prop_assert_eq!(distinct.len(), names.len());
            }
        }
    }
}
