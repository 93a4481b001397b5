//! Hierarchies that list their ground values: FROM file, AS query and AS VALUES.
//!
//! Such a hierarchy has one row per ground value. A row has one label per level. Ground values are
//! stored as text and compared as values of the column's type: `1` and `1.0` are the same number,
//! but two different strings, and neither is a date. A listed value that is not valid in the
//! column's type never matches. CREATE HIERARCHY checks three conditions: groups nest (every label
//! has exactly one label at the next level), every ground value is listed only once, and no label
//! is NULL or empty. If the last level has more than one label, the level `*` is added.
//!
//! Reference: Sweeney, Achieving k-anonymity privacy protection using generalization and
//! suppression, 2002, doi:10.1142/S021848850200165X (value generalization hierarchies).

use super::ground;
use super::nesting::{does_not_nest, torn};
use super::places::Places;
use super::rule::{GeneralizationRule, LevelRule, MAX_LEVELS, TOP};
use crate::base::error::{Error, Result};
use crate::base::quoting::literal;
use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::take;
use arrow::datatypes::DataType;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

const NO_VALUES: &str = "a hierarchy needs at least one ground value";

/// The origin of a listed hierarchy.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The name of the kind.
    pub(super) kind: &'static str,
    /// The clause that recreates the hierarchy; `None` if this is the clause `AS VALUES` with every
    /// row.
    pub(super) clause: Option<String>,
}

/// The rule that lists ground values with their labels.
#[derive(Debug, Clone)]
pub struct Listed {
    origin: Origin,
    ground: StringArray,
    levels: Vec<StringArray>,
    places: Places,
}

impl Listed {
    /// Creates the rule that lists the ground values `ground`. `labels` contains one array per
    /// level, starting at level 1.
    ///
    /// Values and labels may be of any type that can be written as text.
    pub(super) fn try_new(origin: Origin, ground: &ArrayRef, labels: &[ArrayRef], places: Places) -> Result<Self> {
        if let Some(other) = labels.iter().find(|l| l.len() != ground.len()) {
            return Err(Error::internal(format!(
                "a hierarchy with {} ground values and {} labels",
                ground.len(),
                other.len()
            )));
        }
        if ground.is_empty() {
            return Err(Error::usage(NO_VALUES));
        }
        if labels.len() > MAX_LEVELS {
            return Err(Error::usage(format!(
                "{} levels are too many; at most {MAX_LEVELS} are supported",
                labels.len()
            )));
        }
        let ground = ground::text(ground).map_err(|e| e.context("ground values"))?;
        check_ground(&ground, &places)?;
        let mut levels = Vec::with_capacity(labels.len() + 1);
        for (labels, level) in labels.iter().zip(1..) {
            let labels = ground::text(labels).map_err(|e| e.context(format!("labels of level {level}")))?;
            let is_missing = |label: Option<&str>| label.is_none_or(str::is_empty);
            let missing = labels.iter().filter(|l| is_missing(*l)).count();
            if let Some(first) = labels.iter().position(is_missing) {
                return Err(Error::usage(format!(
                    "{missing} labels of level {level} are NULL or empty, the first in {}",
                    places.one(first)
                )));
            }
            levels.push(labels);
        }
        for (pair, level) in levels.windows(2).zip(1..) {
            if let Some(rows) = torn(pair[0].iter().zip(pair[1].iter())) {
                return Err(does_not_nest(level, Some(places.two(rows))));
            }
        }
        let topped = levels
            .last()
            .is_some_and(|l| l.iter().all(|label| label == l.iter().next().flatten()));
        if !topped {
            levels.push(StringArray::from(vec![TOP; ground.len()]));
        }
        Ok(Self {
            origin,
            ground,
            levels,
            places,
        })
    }

    /// Creates the rule that lists these rows. A row consists of a ground value and its labels;
    /// `None` means NULL.
    pub(super) fn from_rows(origin: Origin, rows: &[Vec<Option<String>>]) -> Result<Self> {
        let width = rows.first().map_or(0, Vec::len);
        if let Some((row, number)) = rows.iter().zip(1..).find(|(row, _)| row.len() != width || width == 0) {
            return Err(Error::usage(format!(
                "row {number} has {} values, the first has {width}",
                row.len()
            )));
        }
        let column = |i: usize| Arc::new(rows.iter().map(|r| r[i].as_deref()).collect::<StringArray>()) as ArrayRef;
        let columns: Vec<ArrayRef> = (0..width).map(column).collect();
        match columns.split_first() {
            Some((ground, labels)) => Self::try_new(origin, ground, labels, Places::Rows),
            None => Err(Error::usage(NO_VALUES)),
        }
    }
}

fn check_ground(ground: &StringArray, places: &Places) -> Result<()> {
    if let Some(first) = (0..ground.len()).find(|row| ground.is_null(*row)) {
        return Err(Error::usage(format!(
            "{} ground values are NULL, the first in {}; write NULLS AS VALUE, NULLS AS TOP or NULLS ERROR for the \
             treatment of NULL",
            ground.null_count(),
            places.one(first)
        )));
    }
    let mut known = HashMap::with_capacity(ground.len());
    let mut repeated = (0u64, None);
    for (row, value) in ground.iter().enumerate() {
        if let Some(first) = known.get(&value).copied() {
            repeated = (repeated.0 + 1, repeated.1.or(Some((first, row))));
        } else {
            known.insert(value, row);
        }
    }
    match repeated {
        (n, Some(rows)) => Err(Error::usage(format!(
            "{n} ground values are repeated; list every ground value once: {} have the same value",
            places.two(rows)
        ))),
        _ => Ok(()),
    }
}

impl GeneralizationRule for Listed {
    fn kind(&self) -> &'static str {
        self.origin.kind
    }

    fn levels(&self) -> usize {
        self.levels.len()
    }

    fn listed(&self) -> Option<u64> {
        Some(self.ground.len() as u64)
    }

    fn accepts(&self, data_type: &DataType) -> Result<()> {
        let values = ground::parse(&self.ground, data_type)?;
        if values.null_count() == values.len() {
            return Err(Error::usage(format!(
                "none of the {} listed ground values is a value of type {data_type}",
                values.len()
            )));
        }
        Ok(())
    }

    fn labels(&self, values: &ArrayRef) -> Result<Vec<StringArray>> {
        let listed = ground::parse(&self.ground, values.data_type())?;
        let positions = ground::positions(&listed, values, |rows| self.places.two(rows))?;
        let labels = self
            .levels
            .iter()
            .map(|l| Ok(take(l, &positions, None)?.as_string().clone()));
        labels.collect()
    }

    fn ground(&self, data_type: &DataType) -> Result<Option<ArrayRef>> {
        Ok(Some(ground::parse(&self.ground, data_type)?))
    }

    fn ends_in_top(&self) -> bool {
        true
    }

    fn sql(&self) -> String {
        if let Some(clause) = &self.origin.clause {
            return clause.clone();
        }
        let rows: Vec<String> = (0..self.ground.len())
            .map(|i| {
                let labels = self.levels.iter().map(|l| l.value(i));
                let row: Vec<String> = std::iter::once(self.ground.value(i))
                    .chain(labels)
                    .map(literal)
                    .collect();
                format!("({})", row.join(", "))
            })
            .collect();
        format!("AS VALUES {}", rows.join(",\n  "))
    }

    fn describe(&self) -> Vec<LevelRule> {
        let rules = self.levels.iter().map(|labels| LevelRule {
            rule: "listed labels".to_string(),
            labels: Some(labels.iter().collect::<HashSet<_>>().len() as u64),
        });
        rules.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::*;
    use arrow::datatypes::{Int8Type, TimeUnit};

    /// The origin of a hierarchy that was created with `AS VALUES`.
    const STATED: Origin = Origin {
        kind: "values",
        clause: None,
    };

    fn table(rows: &[&[&str]]) -> Result<Listed> {
        let rows: Vec<Vec<Option<String>>> = rows
            .iter()
            .map(|row| row.iter().map(|v| Some(v.to_string())).collect())
            .collect();
        Listed::from_rows(STATED, &rows)
    }

    fn error(rows: &[&[&str]]) -> String {
        table(rows).unwrap_err().to_string()
    }

    /// Returns the labels at level 1, with `-` for an unmapped value.
    fn level_1(table: &Listed, values: impl Array + 'static) -> Vec<String> {
        let values: ArrayRef = Arc::new(values);
        table.accepts(values.data_type()).unwrap();
        let labels = table.labels(&values).unwrap();
        labels[0].iter().map(|l| l.unwrap_or("-").to_string()).collect()
    }

    #[test]
    fn a_top_is_added_only_where_it_is_missing() {
        assert_eq!(table(&[&["a", "x", "*"], &["b", "y", "*"]]).unwrap().levels(), 2);
        assert_eq!(table(&[&["a", "x", "9"], &["b", "y", "9"]]).unwrap().levels(), 2);
        let added = table(&[&["a", "x"], &["b", "y"]]).unwrap();
        assert_eq!(added.levels(), 2);
        assert_eq!(added.sql(), "AS VALUES ('a', 'x', '*'),\n  ('b', 'y', '*')");
        assert_eq!(table(&[&["a"], &["b"]]).unwrap().levels(), 1);
    }

    #[test]
    fn what_is_wrong_is_told_by_level_and_count_without_values() {
        let e = error(&[&["a", "x", "g"], &["b", "x", "h"], &["c", "y", "h"]]);
        assert!(
            e.contains("a group of level 1 lies in more than one group of level 2"),
            "{e}"
        );
        assert!(e.ends_with("rows 1 and 2 have the same label on level 1"), "{e}");
        let e = error(&[&["seven", "x"], &["seven", "x"], &["seven", "y"], &["b", "x"]]);
        assert!(e.starts_with("2 ground values are repeated"), "{e}");
        assert!(e.ends_with("rows 1 and 2 have the same value"), "{e}");
        assert!(!e.contains("seven"), "{e}");
        assert!(
            error(&[&["a", ""], &["b", "x"]]).contains("1 labels of level 1 are NULL or empty, the first in row 1")
        );
        assert!(error(&[&["a", "x"], &["b"]]).contains("row 2 has 1 values, the first has 2"));
        assert!(error(&[]).contains("at least one ground value"));
        let null = Listed::from_rows(STATED, &[vec![None, Some("x".into())]]).unwrap_err();
        assert!(null.to_string().contains("1 ground values are NULL"), "{null}");
        let null = Listed::from_rows(STATED, &[vec![Some("x".into()), None]]).unwrap_err();
        assert!(null.to_string().contains("1 labels of level 1 are NULL"), "{null}");
    }

    #[test]
    fn numbers_match_by_value_and_strings_by_text() {
        let t = table(&[&["1", "one"], &["2.0", "two"], &["2.5", "more"], &["x", "other"]]).unwrap();
        assert_eq!(level_1(&t, Int8Array::from(vec![1, 2, 3])), ["one", "two", "-"]);
        assert_eq!(level_1(&t, UInt64Array::from(vec![Some(2), None])), ["two", "-"]);
        assert_eq!(
            level_1(&t, Float64Array::from(vec![1.0, 2.5, -1.0])),
            ["one", "more", "-"]
        );
        assert_eq!(level_1(&t, Float32Array::from(vec![1.0, 2.5])), ["one", "more"]);
        let decimals = Decimal128Array::from(vec![100, 250, 255])
            .with_precision_and_scale(5, 2)
            .unwrap();
        assert_eq!(level_1(&t, decimals), ["one", "more", "-"]);
        let decimals = Decimal256Array::from_iter_values([2, 25].map(arrow::datatypes::i256::from_i128))
            .with_precision_and_scale(40, 0)
            .unwrap();
        assert_eq!(level_1(&t, decimals), ["two", "-"]);
        assert_eq!(
            level_1(&t, StringArray::from(vec!["1", "1.0", "2.0", "x"])),
            ["one", "-", "two", "other"]
        );
        assert_eq!(level_1(&t, StringViewArray::from(vec!["x", "y"])), ["other", "-"]);
        assert_eq!(level_1(&t, LargeStringArray::from(vec!["x", "y"])), ["other", "-"]);
        let dictionary: DictionaryArray<Int8Type> = vec![Some("x"), None, Some("1")].into_iter().collect();
        assert_eq!(level_1(&t, dictionary), ["other", "-", "one"]);
    }

    #[test]
    fn zero_has_one_sign() {
        let t = table(&[&["0", "none"], &["1", "some"]]).unwrap();
        assert_eq!(level_1(&t, Float64Array::from(vec![-0.0, 0.0])), ["none", "none"]);
        assert_eq!(level_1(&t, Float32Array::from(vec![-0.0, 1.0])), ["none", "some"]);
        let t = table(&[&["-0.0", "none"], &["1", "some"]]).unwrap();
        assert_eq!(level_1(&t, Float64Array::from(vec![-0.0, 0.0])), ["none", "none"]);
        assert_eq!(level_1(&t, Int64Array::from(vec![0])), ["none"]);
    }

    #[test]
    fn dates_timestamps_times_and_booleans_match() {
        let t = table(&[&["2024-05-03", "day"], &["true", "yes"], &["12:30:00", "time"]]).unwrap();
        let date = |text: &str, to: DataType| arrow::compute::cast(&StringArray::from(vec![text]), &to).unwrap();
        assert_eq!(
            level_1(&t, Date32Array::from(date("2024-05-03", DataType::Date32).to_data())),
            ["day"]
        );
        assert_eq!(
            level_1(&t, Date64Array::from(date("2024-05-03", DataType::Date64).to_data())),
            ["day"]
        );
        let stamp = date("2024-05-03T00:00:00", DataType::Timestamp(TimeUnit::Microsecond, None));
        assert_eq!(level_1(&t, TimestampMicrosecondArray::from(stamp.to_data())), ["day"]);
        let time = date("12:30:00", DataType::Time32(TimeUnit::Second));
        assert_eq!(level_1(&t, Time32SecondArray::from(time.to_data())), ["time"]);
        assert_eq!(level_1(&t, BooleanArray::from(vec![true, false])), ["yes", "-"]);
    }

    #[test]
    fn what_a_type_would_cut_or_round_is_no_value_of_it() {
        let read = |texts: &[&str], to: DataType| {
            let values = ground::parse(&StringArray::from(texts.to_vec()), &to).unwrap();
            (0..values.len()).map(|i| values.is_valid(i)).collect::<Vec<_>>()
        };
        let stamp = |unit| DataType::Timestamp(unit, None);
        for (texts, to, wanted) in [
            (
                &["2020-01-31", "2020-01-31 00:00:00", "9999-12-31", "0001-01-01"][..],
                DataType::Date32,
                true,
            ),
            (
                &[
                    "2020-01-31 10:00:00",
                    "2020-01-31T23:59:59Z",
                    "2020-02-01T00:30:00+01:00",
                ],
                DataType::Date32,
                false,
            ),
            (
                &["2020-01-31 10:00:00", "9999-12-31 23:59:59"],
                stamp(TimeUnit::Second),
                true,
            ),
            (
                &["2020-01-31 10:00:00.9", "9999-12-31 23:59:59.5"],
                stamp(TimeUnit::Second),
                false,
            ),
            (&["2020-01-31 10:00:00.000001"], stamp(TimeUnit::Microsecond), true),
            (&["2020-01-31 10:00:00.0000014"], stamp(TimeUnit::Microsecond), false),
            (&["10:00:00"], DataType::Time32(TimeUnit::Second), true),
            (&["10:00:00.5"], DataType::Time32(TimeUnit::Second), false),
            (&["10:00:00.0000004"], DataType::Time64(TimeUnit::Microsecond), false),
            (
                &["9007199254740992", "0.1", "0.10000000000000001", "1e300"],
                DataType::Float64,
                true,
            ),
            (&["9007199254740993", "-9007199254740993"], DataType::Float64, false),
            (&["16777216", "0.1", "2.5"], DataType::Float32, true),
            (&["123456790", "123456792"], DataType::Float32, true),
            (
                &["100000000000000000000000", "99999999999999991611392"],
                DataType::Float64,
                true,
            ),
            (&["16777217"], DataType::Float32, false),
            (&["2049"], DataType::Float16, false),
        ] {
            assert_eq!(read(texts, to.clone()), vec![wanted; texts.len()], "{texts:?} as {to}");
        }
    }

    #[test]
    fn values_of_every_type_that_a_query_answers_are_found_again() {
        let stamps: ArrayRef =
            Arc::new(TimestampMillisecondArray::from(vec![1_700_000_000_123, -5]).with_timezone("+02:00"));
        let decimals: ArrayRef = Arc::new(
            Decimal128Array::from(vec![1005, -7])
                .with_precision_and_scale(9, 3)
                .unwrap(),
        );
        let all: [ArrayRef; 9] = [
            stamps,
            decimals,
            Arc::new(TimestampNanosecondArray::from(vec![1_700_000_000_123_456_789, 0])),
            Arc::new(Float64Array::from(vec![0.1, 1e300])),
            Arc::new(Float32Array::from(vec![0.1, 1e-30])),
            Arc::new(UInt64Array::from(vec![u64::MAX, 0])),
            Arc::new(Int64Array::from(vec![i64::MIN, 3])),
            Arc::new(Date32Array::from(vec![-800_000, 20_000])),
            Arc::new(BooleanArray::from(vec![true, false])),
        ];
        for ground in all {
            let labels: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
            let table = Listed::try_new(STATED, &ground, &[labels], Places::Rows).unwrap();
            let found = table.labels(&ground).unwrap();
            assert_eq!(found[0], StringArray::from(vec!["1", "2"]), "{}", ground.data_type());
        }
    }

    #[test]
    fn values_that_are_equal_in_the_column_are_an_error() {
        let t = table(&[&["1", "a"], &["1.0", "b"], &["01", "c"], &["2", "d"]]).unwrap();
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        let e = t.labels(&numbers).unwrap_err().to_string();
        assert!(e.starts_with("2 listed ground values are equal to another"), "{e}");
        assert!(e.ends_with("rows 1 and 2 have the same value"), "{e}");
        assert_eq!(level_1(&t, StringArray::from(vec!["1.0"])), ["b"]);
        let e = table(&[&["red", "a"]])
            .unwrap()
            .accepts(&DataType::Int32)
            .unwrap_err()
            .to_string();
        assert!(
            e.contains("none of the 1 listed ground values is a value of type Int32"),
            "{e}"
        );
        let list = DataType::new_list(DataType::Utf8, true);
        assert!(t.accepts(&list).is_err());
    }

    #[test]
    fn fifty_thousand_values_bind_fast() {
        let ground: ArrayRef = Arc::new(StringArray::from_iter_values((0..50_000).map(|i| i.to_string())));
        let labels: ArrayRef = Arc::new(Int32Array::from_iter_values((0..50_000).map(|i| i / 10)));
        let start = std::time::Instant::now();
        let table = Listed::try_new(STATED, &ground, &[labels], Places::Rows).unwrap();
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..50_000));
        assert_eq!(table.labels(&numbers).unwrap()[0].value(49_999), "4999");
        // Quadratic work would take minutes.
        assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    }
}
