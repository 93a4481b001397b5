//! Tests that every kind of hierarchy fulfils the contract of [`GeneralizationRule`], with simple
//! loops over the labels of the rule.

use super::coverage::Coverage;
use super::intervals::Intervals;
use super::number::Number;
use super::prefix::PrefixRule;
use super::quantiles::Quantiles;
use super::rule::MAX_LEVELS;
use super::suppression::Suppression;
use super::truncate::{Truncate, Unit};
use super::*;
use arrow::array::{Array, ArrayRef, AsArray, Date32Array, DictionaryArray, Float64Array, Int64Array, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int32Type};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Returns a rule that lists the even numbers from 0 to below `n`, in groups of ten and of fifty.
/// The label of the top level is `all`.
fn evens(n: i64) -> Arc<dyn GeneralizationRule> {
    let row = |i: i64| {
        [
            i.to_string(),
            format!("t{}", i / 10),
            format!("f{}", i / 50),
            "all".into(),
        ]
        .map(Some)
        .to_vec()
    };
    Arc::new(values::listed(&(0..n).step_by(2).map(row).collect::<Vec<_>>()).unwrap())
}

fn integers(values: &BTreeSet<i64>, null: bool) -> ArrayRef {
    Arc::new(
        values
            .iter()
            .map(|v| Some(*v))
            .chain(null.then_some(None))
            .collect::<Int64Array>(),
    )
}

/// Returns rules of every type, each with a column that the rule accepts. QUANTILES is left out if
/// its bounds cannot be computed.
fn every_kind(values: &BTreeSet<i64>, null: bool) -> Vec<(Arc<dyn GeneralizationRule>, ArrayRef)> {
    let numbers = integers(values, null);
    let number = Number::from;
    let intervals =
        Intervals::try_new(&[number(5), number(20)], number(3), Some(number(-7)), Some(number(60))).unwrap();
    let quantiles = Quantiles::of(&[8, 4, 2], &numbers, &vec![1; numbers.len()]);
    let mut strings: Vec<String> = values.iter().map(|v| format!("{:b}", v.abs())).collect();
    strings.sort();
    strings.dedup();
    let strings = strings.iter().map(|s| Some(s.as_str())).chain(null.then_some(None));
    let dates = values.iter().map(|v| Some(*v as i32 * 40)).chain(null.then_some(None));
    let strings: StringArray = strings.collect();
    let dictionary: DictionaryArray<Int32Type> = strings.iter().collect();
    let mut kinds: Vec<(Arc<dyn GeneralizationRule>, ArrayRef)> = vec![
        (evens(100), Arc::clone(&numbers)),
        (Arc::new(intervals.clone()), Arc::clone(&numbers)),
        (Arc::new(intervals), cast(&numbers, &DataType::Float64).unwrap()),
        (Arc::new(PrefixRule::try_new(&[3, 1]).unwrap()), Arc::new(strings)),
        (
            Arc::new(PrefixRule::try_new(&[2]).and_then(|p| p.mask("1")).unwrap()),
            Arc::new(dictionary),
        ),
        (
            Arc::new(Truncate::try_new(&[Unit::Month, Unit::Quarter, Unit::Decade]).unwrap()),
            Arc::new(dates.collect::<Date32Array>()),
        ),
        (Arc::new(Suppression), Arc::clone(&numbers)),
    ];
    kinds.extend(
        quantiles
            .ok()
            .map(|q| (Arc::new(q) as Arc<dyn GeneralizationRule>, numbers)),
    );
    kinds
}

fn hierarchy(rule: Arc<dyn GeneralizationRule>, on_unmapped: OnUnmapped, on_null: OnNull) -> Hierarchy {
    Hierarchy::new("h", rule, on_unmapped, on_null).unwrap()
}

fn text(array: &ArrayRef, i: usize) -> Option<String> {
    let labels = cast(array, &DataType::Utf8).unwrap();
    (!labels.is_null(i)).then(|| labels.as_string::<i32>().value(i).to_string())
}

/// Checks a hierarchy that is bound to `values` against the labels of its rule, value by value.
fn check(h: &Hierarchy, values: &ArrayRef) {
    // This is one function, because all checks need the same labels.
    let lookup = h.bind(Arc::clone(values)).unwrap();
    let own = h.rule().labels(values).unwrap();
    let ground = h
        .rule()
        .ground(values.data_type())
        .unwrap()
        .unwrap_or_else(|| Arc::clone(values));
    let listed = h.rule().labels(&ground).unwrap();
    let has_null = values.null_count() > 0;
    let is_mapped = |labels: &[StringArray], i: usize| labels.first().is_none_or(|l| !l.is_null(i));
    let n = values.len();
    let domain = (0..ground.len()).filter(|&i| !ground.is_null(i) && is_mapped(&listed, i));
    let total = domain.clone().count() as u64 + u64::from(has_null);
    assert_eq!(lookup.total_leaves(), total);
    assert_eq!(
        (lookup.top(), lookup.levels().len()),
        (h.height(), usize::from(h.height()) + 1)
    );
    assert_eq!(lookup.values(), values);
    let (zero, hidden) = (lookup.level(0), h.rule().hidden(values).unwrap());
    match h.rule().codes() {
        None => {
            assert_eq!(zero.codes, (0..n as u32).collect::<Vec<_>>());
            assert_eq!(zero.leaves, vec![1; n]);
        }
        Some(codes) => {
            // Each value is its own label, except that a value that a code hides has the same label
            // at every level.
            for (i, by_code) in hidden.iter().enumerate() {
                let label = text(&zero.labels, zero.codes[i] as usize);
                let own = match by_code {
                    Some(_) => own.iter().map(|level| level.value(i).to_string()).collect(),
                    None => vec![text(values, i).unwrap_or_default()],
                };
                assert!(own.iter().all(|own| label.as_ref() == Some(own) || values.is_null(i)));
                let alike = (0..n).filter(|j| zero.codes[*j] == zero.codes[i]).count();
                assert_eq!(zero.leaves[zero.codes[i] as usize], alike as u64);
                assert!(alike == 1 || by_code.is_some());
                for level in 0..h.height() {
                    let level = lookup.level(level);
                    let label = text(&level.labels, level.codes[i] as usize);
                    let label = label.as_deref().filter(|label| *label != TOP);
                    assert!(!codes.are_told_by(label, false, values.data_type()));
                }
            }
        }
    }

    let top_label = listed
        .last()
        .filter(|_| h.rule().ends_in_top())
        .map_or(TOP, |l| l.value(0));
    for level in 1..=h.height() {
        let bound = lookup.level(level);
        let is_top = level == h.height();
        for label in own
            .get(usize::from(level) - 1)
            .iter()
            .flat_map(|labels| labels.iter().flatten())
        {
            assert_ne!(
                h.rule().is_label(level, label),
                Some(false),
                "{} level {level}",
                h.kind()
            );
        }
        let of = |labels: &[StringArray], i: usize| match labels.get(usize::from(level) - 1) {
            Some(labels) => labels.value(i).to_string(),
            None => TOP.to_string(),
        };
        let expected = |i: usize| match (values.is_null(i), is_mapped(&own, i)) {
            (true, _) => (is_top || h.on_null() == OnNull::Top).then(|| top_label.to_string()),
            (_, false) => (is_top || h.on_unmapped() != OnUnmapped::Error).then(|| top_label.to_string()),
            _ => Some(of(&own, i)),
        };
        let mut leaves: BTreeMap<String, u64> = BTreeMap::new();
        domain
            .clone()
            .for_each(|i| *leaves.entry(of(&listed, i)).or_default() += 1);
        let raised = (0..n).any(|i| (values.is_null(i) || !is_mapped(&own, i)) && expected(i).is_some());
        for i in 0..n {
            let code = bound.codes[i] as usize;
            let label = text(&bound.labels, code);
            assert_eq!(label, expected(i), "{} level {level}", h.kind());
            let least = (0..n).find(|&j| bound.codes[j] == bound.codes[i]);
            assert_eq!(Some(bound.representatives[i] as usize), least);
            assert_eq!(lookup.is_unmapped(i), !values.is_null(i) && !is_mapped(&own, i));
            let under = match &label {
                Some(label) if raised && label == top_label => total,
                Some(label) => leaves[label],
                None => u64::from(has_null && h.on_null() != OnNull::Top),
            };
            assert_eq!(bound.leaves[code], under, "{} level {level}", h.kind());
            // Nesting: values that share this label share the labels at all higher levels.
            for j in (0..i).filter(|j| bound.codes[*j] == bound.codes[i]) {
                assert!(
                    lookup.levels()[usize::from(level)..]
                        .iter()
                        .all(|l| l.codes[i] == l.codes[j])
                );
            }
        }
        let shown: Vec<Option<String>> = (0..bound.labels.len()).map(|i| text(&bound.labels, i)).collect();
        assert!(
            shown
                .windows(2)
                .all(|p| (p[0].is_none(), &p[0]) < (p[1].is_none(), &p[1])),
            "labels ascend"
        );
        assert!(!is_top || shown.len() <= 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_kind_keeps_its_promises(
        values in prop::collection::btree_set(-30i64..130, 0..40),
        null in any::<bool>(),
    ) {
        for (rule, values) in every_kind(&values, null) {
            for on_unmapped in [OnUnmapped::Error, OnUnmapped::Suppress, OnUnmapped::Top] {
                for on_null in [OnNull::Value, OnNull::Top, OnNull::Error] {
                    check(&hierarchy(Arc::clone(&rule), on_unmapped, on_null), &values);
                }
            }
        }
    }

    #[test]
    fn extents_are_the_least_and_the_greatest_value(values in prop::collection::btree_set(-30i64..130, 1..40)) {
        let numbers = integers(&values, true);
        let intervals = Intervals::try_new(&[Number::from(5), Number::from(20)], Number::ZERO, None, None).unwrap();
        let lookup = hierarchy(Arc::new(intervals), OnUnmapped::Error, OnNull::Value).bind(numbers).unwrap();
        for (level, width) in [(0, 1), (1, 5), (2, 20), (3, 1_000_000)] {
            let bound = lookup.level(level);
            let extents = bound.extents.as_ref().unwrap();
            for (i, v) in values.iter().enumerate() {
                let group = |v: i64| if level == 3 { 0 } else { v.div_euclid(width) };
                let members: Vec<i64> = values.iter().copied().filter(|w| group(*w) == group(*v)).collect();
                let expected = (members[0] as f64, members[members.len() - 1] as f64);
                prop_assert_eq!(extents[bound.codes[i] as usize], expected);
            }
            if level < 3 {
                let null = bound.codes[values.len()] as usize;
                prop_assert_eq!(extents[null], (f64::INFINITY, f64::NEG_INFINITY));
            }
        }
    }

    #[test]
    fn coverage_counts_values_and_rows(
        column in prop::collection::btree_map(-10i64..120, 1u64..100, 0..40), null in 0u64..5,
        on_unmapped in prop::sample::select(vec![OnUnmapped::Error, OnUnmapped::Suppress, OnUnmapped::Top]),
        on_null in prop::sample::select(vec![OnNull::Value, OnNull::Top, OnNull::Error]),
    ) {
        let values = integers(&column.keys().copied().collect(), null > 0);
        let counts: Vec<u64> = column.values().copied().chain((null > 0).then_some(null)).collect();
        let h = hierarchy(evens(100), on_unmapped, on_null);
        let known = |v: &i64| (0..100).contains(v) && v % 2 == 0;
        let mapped = column.iter().filter(|(v, _)| known(v));
        let unmapped = column.iter().filter(|(v, _)| !known(v));
        let expected = Coverage {
            values_mapped: mapped.clone().count() as u64,
            rows_mapped: mapped.map(|(_, c)| c).sum(),
            values_unmapped: unmapped.clone().count() as u64,
            rows_unmapped: unmapped.map(|(_, c)| c).sum(),
            rows_null: null,
        };
        let coverage = h.coverage(&values, &counts).unwrap();
        prop_assert_eq!(coverage, expected);
        prop_assert_eq!(h.bind(values).unwrap().coverage(&counts).unwrap(), expected);
        let refused = (on_unmapped == OnUnmapped::Error && expected.rows_unmapped > 0)
            || (on_null == OnNull::Error && null > 0);
        prop_assert_eq!(h.admit("c", &coverage).is_err(), refused);
    }
}

#[test]
fn numbers_that_are_none_are_counted_and_refused_by_every_kind() {
    let values: ArrayRef = Arc::new(Float64Array::from(vec![
        Some(1.0),
        Some(f64::INFINITY),
        Some(f64::NAN),
        None,
    ]));
    let ones = values::listed(&[vec![Some("1".into()), Some("x".into())]]).unwrap();
    let intervals = Intervals::try_new(&[Number::from(5)], Number::ZERO, None, Some(Number::from(50))).unwrap();
    let quantiles = Quantiles::from_bounds(&[2], &["1".to_string()]).unwrap();
    let kinds: [Arc<dyn GeneralizationRule>; 4] = [
        Arc::new(ones),
        Arc::new(intervals),
        Arc::new(quantiles),
        Arc::new(Suppression),
    ];
    for rule in kinds {
        let h = hierarchy(rule, OnUnmapped::Top, OnNull::Value);
        let e = h.bind(Arc::clone(&values)).unwrap_err().to_string();
        assert!(e.contains("hierarchy h: 2 values are NaN or infinite"), "{e}");
        let coverage = h.coverage(&values, &[1, 2, 4, 8]).unwrap();
        assert_eq!(
            (coverage.rows_mapped, coverage.rows_unmapped, coverage.rows_null),
            (1, 6, 8),
            "{}",
            h.kind()
        );
    }
}

#[test]
fn an_error_about_a_column_says_counts() {
    let h = hierarchy(evens(100), OnUnmapped::Error, OnNull::Error);
    let values = integers(&[0, 1, 3].into(), true);
    let coverage = h.coverage(&values, &[5, 7, 11, 13]).unwrap();
    let e = h.admit("age", &coverage).unwrap_err().to_string();
    assert!(
        e.contains("hierarchy h does not map 2 values (18 rows) of column age"),
        "{e}"
    );
    let e = h
        .admit(
            "age",
            &Coverage {
                values_unmapped: 0,
                ..coverage
            },
        )
        .unwrap_err()
        .to_string();
    assert!(e.contains("column age is NULL in 13 rows"), "{e}");
}

#[test]
fn a_hierarchy_describes_its_levels_and_prints_its_definition() {
    let described = |rule: Arc<dyn GeneralizationRule>| {
        let rows = hierarchy(rule, OnUnmapped::Top, OnNull::Error).describe().unwrap();
        arrow::util::pretty::pretty_format_batches(&[rows]).unwrap().to_string()
    };
    assert_eq!(
        described(evens(100)),
        "+-------+--------+------------------+\n\
         | level | labels | rule             |\n\
         +-------+--------+------------------+\n\
         | 0     | 50     | the value itself |\n\
         | 1     | 10     | listed labels    |\n\
         | 2     | 2      | listed labels    |\n\
         | 3     | 1      | listed labels    |\n\
         +-------+--------+------------------+"
    );
    let prefix = Arc::new(PrefixRule::try_new(&[2]).unwrap());
    let shown = described(prefix.clone());
    assert!(
        shown.contains("| 2     | 1      | everything is *") && shown.contains("the first 2 characters"),
        "{shown}"
    );
    let h = hierarchy(prefix, OnUnmapped::Suppress, OnNull::Top);
    assert_eq!(h.definition(), "AS PREFIX (2) ON UNMAPPED SUPPRESS NULLS AS TOP");
    let h = hierarchy(Arc::new(Suppression), OnUnmapped::Error, OnNull::Value);
    assert_eq!(h.definition(), "AS SUPPRESSION");
}

#[test]
fn every_kind_is_in_the_catalogue_once() {
    let names: BTreeSet<&str> = KINDS.iter().map(|k| k.info.name).collect();
    assert_eq!((names.len(), KINDS.len()), (8, 8));
    for (rule, _) in every_kind(&[1, 2, 3].into(), false) {
        assert!(names.contains(rule.kind()));
        assert_eq!(rule.describe().len(), rule.levels());
    }
    for kind in KINDS {
        assert!(
            kind.info.example.starts_with("CREATE HIERARCHY ")
                && !kind.info.reference.is_empty()
                && !kind.info.summary.is_empty()
                && kind.clause.syntax.starts_with(kind.clause.start)
        );
    }
}

#[test]
fn a_hierarchy_has_at_most_so_many_levels() {
    let kept: Vec<u32> = (0..=MAX_LEVELS as u32).rev().collect();
    let rule = Arc::new(PrefixRule::try_new(&kept).unwrap());
    let e = Hierarchy::new("h", rule, OnUnmapped::Error, OnNull::Value).unwrap_err();
    assert!(e.to_string().contains("at most 200"), "{e}");
}
