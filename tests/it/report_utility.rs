//! Tests the utility in the report of a release: its figures are those of UTILITY OF on the
//! published files.

use crate::common::collect;
use crate::report::{census, context, json};
use arrow::array::{Array, AsArray};
use arrow::datatypes::Float64Type;
use std::collections::BTreeSet;

/// Returns a figure as text. Its last digits are omitted, because the JSON parser does not preserve
/// them.
fn figure(column: Option<&str>, values: [Option<f64>; 2]) -> String {
    let [value, of_source] = values.map(|value| value.map_or_else(|| "none".into(), |x| format!("{x:.9}")));
    format!("{} {value} {of_source}", column.unwrap_or("all"))
}

/// The section about utility has the figures of UTILITY OF on the published files, including
/// releases with suppressed rows and with labels in other forms. It has correlations with two
/// decimals.
#[tokio::test]
async fn what_is_kept_is_what_utility_of_answers() {
    let context = census(2).await;
    let scratch = tempfile::tempdir().unwrap();
    let (target, report) = (scratch.path().join("released"), scratch.path().join("report.json"));
    let source = "(SELECT age, sex, zip, income, occupation FROM census WHERE age % 4 = 0)";
    for (labels, rest) in [
        ("", "SUPPRESSED ROWS STARRED"),
        (" LABELS BOUNDS", "SUPPRESSED ROWS STARRED"),
        (" LABELS MEAN", ""),
        // Classes with equal released labels count as the same class in the report.
        (" LABELS MEAN", "SEARCH USING mondrian"),
        ("", "SEARCH USING mondrian"),
    ] {
        let sql = format!(
            "ANONYMIZE {source} TO '{}' OVERWRITE QUASI IDENTIFIERS (age USING age{labels}, sex, zip USING zip) \
             SENSITIVE (income) CLASS (occupation) SATISFYING k_anonymity(5) SUPPRESSING AT MOST 2 PERCENT \
             REPORT TO '{}' {rest}",
            target.display(),
            report.display()
        );
        let said = json(&context, &sql, &report).await;
        let said: BTreeSet<String> = said["utility"]["figures"]
            .as_array()
            .unwrap()
            .iter()
            .map(|f| figure(f["column"].as_str(), [f["value"].as_f64(), f["of_source"].as_f64()]))
            .collect();
        let answer = collect(
            &context,
            &format!("UTILITY OF '{}' AGAINST {source} CLASS (occupation)", target.display()),
        )
        .await;
        let mut answered = BTreeSet::new();
        for batch in &answer {
            let number = |name: &str, row: usize| {
                let numbers = batch.column_by_name(name).unwrap().as_primitive::<Float64Type>();
                numbers.is_valid(row).then(|| numbers.value(row))
            };
            let columns = batch.column_by_name("column").unwrap().as_string::<i32>();
            let measures = batch.column_by_name("measure").unwrap().as_string::<i32>();
            for row in 0..batch.num_rows() {
                let column = columns.is_valid(row).then(|| columns.value(row));
                let given = |x: f64| match measures.value(row).contains("correlation") {
                    true => (x * 100.0).round() / 100.0 + 0.0,
                    false => x,
                };
                let values = ["value", "of_source"].map(|name| number(name, row).map(given));
                answered.insert(figure(column, values));
            }
        }
        assert!(said.len() > 20, "{said:?}");
        assert_eq!(said, answered, "{labels} {rest}");
    }
}

/// The rows that are recounted in addition to the files also have the class label.
#[tokio::test]
async fn the_class_label_is_measured_where_files_do_not_tell_all() {
    let context = context(2);
    let scratch = tempfile::tempdir().unwrap();
    let (target, report) = (scratch.path().join("released"), scratch.path().join("report.json"));
    for (stored, person) in [("STORED AS CSV", "IDENTIFIERS (person)"), ("", "ENTITY (person)")] {
        let sql = format!(
            "ANONYMIZE (SELECT value / 2 AS person, value % 3 AS a, value % 2 = 0 AS c FROM range(0, 60)) TO '{}' {stored} \
             OVERWRITE {person} QUASI IDENTIFIERS (a) CLASS (c) SATISFYING k_anonymity(2) REPORT TO '{}'",
            target.display(),
            report.display()
        );
        let said = json(&context, &sql, &report).await;
        let figures = said["utility"]["figures"].as_array().unwrap();
        assert!(
            figures.iter().any(|f| f["column"] == "c"),
            "{stored}{person}: {figures:?}"
        );
    }
}
