//! Tests the shares of the records by label in a report. SQL recounts them.

use crate::common::{Numbers, collect};
use crate::report::{census, json};
use serde_json::Value;

/// Returns the shares for a column in the report.
fn shares(report: &Value, column: &str, when: &str) -> Vec<f64> {
    let columns = report["columns"].as_array().unwrap();
    let column = columns.iter().find(|c| c["name"] == column).unwrap();
    let shares = column["generalization"]["shares"].as_array().unwrap();
    assert_eq!(column["generalization"]["labels"], shares.len());
    shares.iter().map(|share| share[when].as_f64().unwrap()).collect()
}

#[tokio::test]
async fn shares_are_those_of_the_source_and_of_the_files() {
    let scratch = tempfile::tempdir().unwrap();
    let (target, path) = (scratch.path().join("release"), scratch.path().join("report.json"));
    let context = census(2).await;
    for (k, suppressed) in [(2, "DROPPED"), (700, "STARRED")] {
        let sql = format!(
            "ANONYMIZE (SELECT age, sex FROM census) TO '{}' OVERWRITE QUASI IDENTIFIERS (age USING age, sex) \
             SATISFYING k_anonymity({k}) SUPPRESSING AT MOST 50 PERCENT SUPPRESSED ROWS {suppressed} AT NODE (age 2, sex 0) \
             REPORT TO '{}' OVERWRITE",
            target.display(),
            path.display()
        );
        let report = json(&context, &sql, &path).await;
        assert_eq!(k == 700, report["suppression"]["rows"] != 0);
        let load = format!(
            "CREATE OR REPLACE TABLE released AS SELECT * FROM '{}/' WHERE age <> '*'",
            target.display()
        );
        collect(&context, &load).await;
        let read = async |sql: &str| {
            let found = Numbers::of(&collect(&context, sql).await);
            (0..found.rows()).map(|row| found.at(0, row)).collect::<Vec<f64>>()
        };
        // Labels of lower ages are shorter.
        let after = "SELECT round(100.0 * count(*) / (SELECT count(*) FROM released)) FROM released \
                     GROUP BY age ORDER BY length(age), age";
        assert_eq!(shares(&report, "age", "after"), read(after).await);
        let before = "SELECT round(100.0 * count(*) / 30000) FROM census WHERE age / 10 IN \
                      (SELECT CAST(regexp_match(age, '[0-9]+')[1] AS INT) / 10 FROM released) \
                      GROUP BY age / 10 ORDER BY age / 10";
        assert_eq!(shares(&report, "age", "before"), read(before).await);
        let sexes =
            "SELECT round(100.0 * count(*) / (SELECT count(*) FROM released)) FROM released GROUP BY sex ORDER BY sex";
        assert_eq!(shares(&report, "sex", "after"), read(sexes).await);
    }
}

/// With few records, the percentages would reveal the label of a suppressed record.
#[tokio::test]
async fn few_records_have_no_shares() {
    let scratch = tempfile::tempdir().unwrap();
    let (target, path) = (scratch.path().join("release"), scratch.path().join("report.json"));
    let context = census(2).await;
    for (rows, is_told) in [(999, false), (1_000, true)] {
        let sql = format!(
            "CREATE OR REPLACE TABLE few AS SELECT age FROM census LIMIT {rows}; ANONYMIZE few TO '{}' OVERWRITE QUASI IDENTIFIERS (age USING age) \
             SATISFYING k_anonymity(2) SUPPRESSING AT MOST 50 PERCENT AT NODE (age 2) REPORT TO '{}' OVERWRITE",
            target.display(),
            path.display()
        );
        let report = json(&context, &sql, &path).await;
        let of = &report["columns"][0]["generalization"];
        assert_eq!(of["shares"].is_array(), is_told, "{of}");
        assert!(of["labels"].as_u64().is_some_and(|labels| labels > 0), "{of}");
    }
}

/// A report has no shares for local recoding, or if there are more labels than a picture shows.
#[tokio::test]
async fn many_labels_have_no_shares() {
    let scratch = tempfile::tempdir().unwrap();
    let (target, path) = (scratch.path().join("release"), scratch.path().join("report.json"));
    let context = census(2).await;
    for (how, labels) in [("AT NODE (age 0)", true), ("SEARCH USING mondrian", false)] {
        let sql = format!(
            "ANONYMIZE (SELECT age FROM census) TO '{}' OVERWRITE QUASI IDENTIFIERS (age USING age) \
             SATISFYING k_anonymity(2) SUPPRESSING AT MOST 50 PERCENT {how} REPORT TO '{}' OVERWRITE",
            target.display(),
            path.display()
        );
        let report = json(&context, &sql, &path).await;
        let of = &report["columns"][0]["generalization"];
        assert!(of["shares"].is_null(), "{of}");
        assert_eq!(of["labels"].as_u64().is_some_and(|labels| labels > 30), labels, "{of}");
    }
}
