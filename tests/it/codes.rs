//! Tests TOP CODE and BOTTOM CODE on random tables. For every recoding and form of labels, no
//! released label distinguishes the values that the codes hide. Plain Rust reads the labels.

use crate::common::{collect, context};
use anonsql::error::ErrorKind;
use arrow::array::{AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use proptest::prelude::*;

/// The ways of choosing a node or a partition.
const CHOICES: [&str; 12] = [
    "AT NODE (column1 0, column2 0)",
    "AT NODE (column1 1, column2 0)",
    "SEARCH USING auto",
    "RECODING LOCAL",
    "SEARCH USING mondrian",
    "SEARCH USING mondrian(relaxed, ranges => exact)",
    "SEARCH USING mondrian(numbers => hierarchy)",
    "SEARCH USING peel",
    "SEARCH USING peel(ranges => exact)",
    "SEARCH USING adaptive_clustering",
    "SEARCH USING local_suppression",
    "SEARCH USING mdav",
];

type Ends = (Option<i64>, Option<i64>);

/// Returns the bounds of a label, both inclusive.
fn read(label: &str) -> Ends {
    let number = |text: &str| text.parse::<i64>().unwrap_or_else(|_| panic!("{label:?}"));
    if label == "*" {
        return (None, None);
    }
    for (sign, add) in [(">=", 0), (">", 1)] {
        if let Some(low) = label.strip_prefix(sign) {
            return (Some(number(low) + add), None);
        }
    }
    for (sign, add) in [("<=", 0), ("<", -1)] {
        if let Some(high) = label.strip_prefix(sign) {
            return (None, Some(number(high) + add));
        }
    }
    let inside = label.strip_prefix('[').and_then(|l| l.strip_suffix(']'));
    if let Some((low, high)) = inside.and_then(|l| l.split_once(", ")) {
        return (Some(number(low)), Some(number(high)));
    }
    match label.split_once('-').filter(|(low, _)| !low.is_empty()) {
        Some((low, high)) => (Some(number(low)), Some(number(high))),
        None => (Some(number(label)), Some(number(label))),
    }
}

/// Returns the bounds of every released label.
fn released(batches: &[RecordBatch]) -> Vec<Ends> {
    let mut all = vec![];
    for batch in batches {
        let column = batch.column(0);
        let Some(ends) = column.as_struct_opt() else {
            let texts = cast(column, &DataType::Utf8).unwrap();
            all.extend(
                texts
                    .as_string::<i32>()
                    .iter()
                    .map(|label| label.map_or((None, None), read)),
            );
            continue;
        };
        let end = |i: usize| {
            let values = cast(ends.column(i), &DataType::Int64).unwrap();
            values.as_primitive::<Int64Type>().iter().collect::<Vec<_>>()
        };
        all.extend(end(0).into_iter().zip(end(1)));
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn nothing_tells_hidden_values_apart(
        rows in prop::collection::vec((0i64..110, 0u8..3), 2..40),
        bottom in prop::option::of(prop::sample::select(vec![15i64, 18, 20])),
        top in prop::sample::select(vec![85i64, 88, 90]),
        k in 1usize..4,
    ) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let context = context(2);
            let values: Vec<String> = rows.iter().map(|(age, sex)| format!("({age}, 's{sex}')")).collect();
            collect(&context, &format!("CREATE TABLE t AS VALUES {}", values.join(", "))).await;
            let code = bottom.map_or(String::new(), |code| format!("BOTTOM CODE {code}"));
            collect(&context, &format!("CREATE HIERARCHY age AS INTERVALS (5, 10, 20) {code} TOP CODE {top}")).await;
            for choice in CHOICES {
                for form in ["TEXT", "BOUNDS", "MIDPOINT"] {
                    // Texts have no distances, so their values are kept for mdav.
                    let levels = if choice.contains("mdav") { "LEVELS 0 TO 0" } else { "" };
                    let sql = format!(
                        "ANONYMIZE t QUASI IDENTIFIERS (column1 USING age LABELS {form}, column2 {levels}) \
                         SATISFYING k_anonymity({k}) SUPPRESSING AT MOST 100 PERCENT {choice}"
                    );
                    let anonymized = match context.sql(&sql).await {
                        Ok(anonymized) => anonymized,
                        Err(refused) => {
                            assert_eq!(refused.kind(), ErrorKind::Infeasible, "{choice} {form}: {refused}");
                            continue;
                        }
                    };
                    for (low, high) in released(&anonymized) {
                        if form == "MIDPOINT" {
                            // The label is a single value that represents the class: at most the
                            // top code, and at least the value just below the bottom code.
                            let point = low.unwrap_or(top);
                            assert!(point <= top && bottom.is_none_or(|b| point >= b - 1), "{choice}: {point}");
                            continue;
                        }
                        assert!(low.is_none_or(|low| low <= top), "{choice} {form}: {low:?} {high:?}");
                        assert!(high.is_none_or(|high| high < top), "{choice} {form}: {low:?} {high:?}");
                        if let Some(bottom) = bottom {
                            assert!(low.is_none_or(|low| low >= bottom), "{choice} {form}: {low:?} {high:?}");
                            assert!(high.is_none_or(|high| high >= bottom - 1), "{choice} {form}: {low:?} {high:?}");
                        }
                    }
                }
            }
        });
    }
}

/// After APPEND, the manifest contains the check of the code over all rows and over the rows of
/// each batch.
#[tokio::test]
async fn a_release_that_grows_has_the_check_of_codes() {
    let (context, scratch) = (context(2), tempfile::tempdir().unwrap());
    let target = scratch.path().join("grown");
    collect(&context, "CREATE HIERARCHY age AS INTERVALS (5, 10) TOP CODE 90").await;
    for ages in ["(90), (104), (31), (32)", "(93), (95), (33), (34)"] {
        collect(
            &context,
            &format!("CREATE OR REPLACE TABLE people AS SELECT column1 AS age FROM (VALUES {ages})"),
        )
        .await;
        let statement = format!(
            "ANONYMIZE people TO '{}' APPEND QUASI IDENTIFIERS (age USING age) SATISFYING k_anonymity(2)",
            target.display()
        );
        collect(&context, &statement).await;
    }
    let manifest = anonsql::manifest::Manifest::read(&target).unwrap().unwrap();
    let of_batches = manifest.batches.iter().map(|batch| &batch.checks);
    for checks in of_batches.chain([&manifest.checks]) {
        let code = checks.iter().find(|check| check.check.contains("TOP CODE 90"));
        let code = code.unwrap_or_else(|| panic!("{checks:?}"));
        assert_eq!((code.required, code.reached, code.ok), (0.0, Some(0.0), true));
    }
    assert_eq!(manifest.batches.len(), 2);
    let verify = format!(
        "VERIFY '{}' QUASI IDENTIFIERS (age USING age) SATISFYING k_anonymity(2)",
        target.display()
    );
    collect(&context, &verify).await;
}
