//! Tests labels in forms other than text, on random tables. Plain Rust and plain SQL recount every
//! form.

use crate::common::{collect, context};
use anonsql::error::ErrorKind;
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A row: a number, and a letter.
type Row = (i64, u8);

/// A released row: the number or its two bounds, and the letter.
type Released = (Vec<Option<i64>>, String);

const FORMS: [&str; 5] = ["BOUNDS", "MIDPOINT", "MEAN", "MEDIAN", "MODE"];

fn table(rows: &[Row]) -> String {
    let rows: Vec<String> = rows.iter().map(|(a, c)| format!("({a}, 'c{c}')")).collect();
    format!("CREATE TABLE t AS VALUES {}", rows.join(", "))
}

fn released(batches: &[RecordBatch]) -> Vec<Released> {
    let mut rows = vec![];
    for batch in batches {
        let numbers = match batch.column(0).as_struct_opt() {
            Some(ends) => ends.columns().to_vec(),
            None => vec![batch.column(0).clone()],
        };
        let numbers: Vec<_> = numbers.iter().map(|c| cast(c, &DataType::Int64).unwrap()).collect();
        let letters = cast(batch.column(1), &DataType::Utf8).unwrap();
        for row in 0..batch.num_rows() {
            let number = |c: &std::sync::Arc<dyn Array>| {
                let values = c.as_primitive::<Int64Type>();
                values.is_valid(row).then(|| values.value(row))
            };
            rows.push((
                numbers.iter().map(number).collect(),
                letters.as_string::<i32>().value(row).to_string(),
            ));
        }
    }
    rows
}

/// Returns the integer nearest to `sum` / `n`, found by trying all. If two integers are equally
/// near, returns the even one.
fn nearest(sum: i64, n: i64) -> i64 {
    (-200..200)
        .min_by_key(|m| ((m * n - sum).abs(), m.rem_euclid(2)))
        .unwrap()
}

/// Returns the clause that creates the hierarchy. The hierarchy has no code if the released value
/// is computed from the values of a class. Such a value would distinguish values that a code hides,
/// so the statement would be refused.
fn hierarchy(form: &str) -> String {
    let code = if is_of_label(form) { " TOP CODE 30" } else { "" };
    format!("CREATE HIERARCHY a AS INTERVALS (5, 10){code}")
}

fn is_of_label(form: &str) -> bool {
    ["BOUNDS", "MIDPOINT"].contains(&form)
}

/// Returns the rows of a release at level 1, in intervals of 5. With a code, the intervals go from
/// 0 to 30, and values from 30 on have one label.
fn expected(rows: &[Row], form: &str, k: usize) -> Vec<Released> {
    let mut classes: BTreeMap<(i64, u8), Vec<i64>> = BTreeMap::new();
    let last = if is_of_label(form) { 6 } else { i64::MAX };
    for (a, c) in rows {
        classes.entry((a.div_euclid(5).min(last), *c)).or_default().push(*a);
    }
    let mut all = vec![];
    for ((span, c), mut values) in classes.into_iter().filter(|(_, values)| values.len() >= k) {
        values.sort_unstable();
        let (n, low) = (values.len(), span * 5);
        let count = |v: i64| values.iter().filter(|x| **x == v).count();
        let shown = match form {
            "BOUNDS" if span == 6 => vec![Some(30), None],
            "BOUNDS" => vec![Some(low), Some(low + 4)],
            "MIDPOINT" if span == 6 => vec![Some(30)],
            "MIDPOINT" => vec![Some(low + 2)],
            "MEAN" => vec![Some(nearest(values.iter().sum(), n as i64))],
            "MEDIAN" => vec![Some(nearest(values[(n - 1) / 2] + values[n / 2], 2))],
            _ => vec![values.iter().copied().rev().max_by_key(|v| count(*v))],
        };
        all.extend(std::iter::repeat_n((shown, format!("c{c}")), n));
    }
    all.sort();
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn a_form_is_of_the_class(rows in prop::collection::vec((0i64..40, 0u8..3), 1..60), k in 2usize..4) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            for form in FORMS {
                let mut answers = vec![];
                for (threads, rows) in [(1, rows.clone()), (3, rows.iter().rev().copied().collect())] {
                    let context = context(threads);
                    collect(&context, &table(&rows)).await;
                    collect(&context, &hierarchy(form)).await;
                    let sql = format!(
                        "ANONYMIZE t QUASI IDENTIFIERS (column1 USING a LABELS {form}, column2) SATISFYING k_anonymity({k}) \
                         SUPPRESSING AT MOST 100 PERCENT AT NODE (column1 1, column2 0)"
                    );
                    // A release with fewer rows than k cannot satisfy the model.
                    if rows.len() < k {
                        let refused = context.sql(&sql).await.expect_err("too few rows");
                        assert_eq!(refused.kind(), ErrorKind::Infeasible);
                        answers.push(vec![]);
                        continue;
                    }
                    let anonymized = collect(&context, &sql).await;
                    answers.push(released(&anonymized));
                    // Plain SQL finds no class that is too small.
                    let smallest = collect(
                        &context,
                        &format!("SELECT count(*) FROM ({sql}) GROUP BY column1, column2 HAVING count(*) < {k}"),
                    )
                    .await;
                    assert_eq!(smallest.iter().map(RecordBatch::num_rows).sum::<usize>(), 0);
                }
                assert_eq!(answers[0], answers[1], "{form}");
                let mut sorted = answers.remove(0);
                sorted.sort();
                assert_eq!(sorted, expected(&rows, form, k), "{form}");
            }
        });
    }

    /// VERIFY checks a release of local recoding on disk against its source. If possible, the
    /// labels include single values.
    #[test]
    fn local_recoding_is_verified(rows in prop::collection::vec((0i64..40, 0u8..3), 4..60)) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let (context, folder) = (context(2), tempfile::tempdir().unwrap());
            collect(&context, &table(&rows)).await;
            for search in ["mondrian", "mondrian(ranges => exact)", "peel", "peel(numbers => hierarchy)", "auto"] {
                for form in FORMS {
                    collect(&context, &hierarchy(form).replace("CREATE", "CREATE OR REPLACE")).await;
                    let target = folder.path().join("released").display().to_string();
                    let sql = format!(
                        "ANONYMIZE t TO '{target}' OVERWRITE QUASI IDENTIFIERS (column1 USING a LABELS {form}, column2) \
                         SATISFYING k_anonymity(2) SUPPRESSING AT MOST 100 PERCENT SEARCH USING {search}"
                    );
                    collect(&context, &sql).await;
                    let verified = context
                        .verify(&format!(
                            "VERIFY '{target}' QUASI IDENTIFIERS (column1, column2) SATISFYING k_anonymity(2) AGAINST t"
                        ))
                        .await
                        .unwrap();
                    let failed: Vec<_> = verified.checks.iter().filter(|c| !c.ok).collect();
                    assert!(failed.is_empty(), "{search} {form}: {failed:?}");
                }
            }
        });
    }
}
