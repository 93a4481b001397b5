//! Tests functions that return a typed description of the release.

use crate::common::{collect, context};
use anonsql::error::ErrorKind;
use anonsql::{AnonContext, Anonymized};
use arrow::array::AsArray;
use arrow::record_batch::RecordBatch;
use arrow::util::display::array_value_to_string;
use std::collections::BTreeMap;

const PEOPLE: &str =
    "CREATE TABLE people AS VALUES (31, 'flu'), (33, 'cold'), (34, 'flu'), (36, 'flu'), (38, 'cold'), (52, 'flu');
    CREATE HIERARCHY age AS INTERVALS (5, 10)";
const REQUEST: &str = "QUASI IDENTIFIERS (column1 USING age) SENSITIVE (column2) SATISFYING k_anonymity(2) \
                       SUPPRESSING AT MOST 1 ROWS";

async fn people() -> AnonContext {
    let context = context(2);
    collect(&context, PEOPLE).await;
    context
}

/// Counts the rows of each label of the first column.
fn classes(rows: &[RecordBatch]) -> BTreeMap<String, u64> {
    let mut classes = BTreeMap::new();
    for batch in rows {
        for row in 0..batch.num_rows() {
            let label = array_value_to_string(batch.column(0), row).unwrap();
            *classes.entry(label).or_default() += 1;
        }
    }
    classes
}

#[tokio::test]
async fn rows_come_with_their_figures() {
    let anonymized = people()
        .await
        .anonymize(&format!("ANONYMIZE people {REQUEST}"))
        .await
        .unwrap();
    assert!(anonymized.manifest().is_none());
    let Anonymized::Rows { release, rows } = anonymized else {
        panic!("there is no TO");
    };
    // In intervals of five years, 31, 33 and 34 are one class, and 36 and 38 are another. 52 is
    // alone.
    let classes = classes(&rows.collect().await.unwrap());
    assert_eq!(classes, [("30-34".into(), 3), ("35-39".into(), 2)].into());
    assert_eq!(
        (release.rows_in, release.rows_out, release.rows_suppressed),
        (Some(6), 5, Some(1))
    );
    assert_eq!((release.classes, release.reached_k), (2, Some(2)));
    assert!(release.checks.iter().all(|check| check.ok) && !release.checks.is_empty());
}

#[tokio::test]
async fn a_folder_has_the_manifest_that_is_returned_and_is_kept_where_asked() {
    let (context, folder) = (people().await, tempfile::tempdir().unwrap());
    let target = folder.path().join("out");
    let to = |more: &str| format!("ANONYMIZE people TO '{}' {more} {REQUEST}", target.display());
    let first = context.anonymize(&to("")).await.unwrap();
    let text = std::fs::read_to_string(target.join("_manifest.json")).unwrap();
    let written = serde_json::from_str::<anonsql::manifest::Manifest>(&text).unwrap();
    let returned = first.manifest().unwrap();
    assert_eq!((returned.rows_out, &returned.node), (written.rows_out, &written.node));
    assert_eq!(
        (returned.reached_k, &returned.checks),
        (written.reached_k, &written.checks)
    );
    assert_eq!(
        (returned.rows_out, returned.node["column1"], returned.reached_k),
        (5, 1, Some(2))
    );
    let kept = context.anonymize(&to("IF NOT EXISTS")).await.unwrap();
    assert!(matches!(&kept, Anonymized::Kept { folder } if *folder == target) && kept.release().is_none());
    let Err(again) = context.anonymize(&to("")).await else {
        panic!("the target is there");
    };
    assert_eq!(again.kind(), ErrorKind::TargetExists);
}

#[tokio::test]
async fn a_verification_holds_if_every_check_does() {
    let context = people().await;
    let verify = |k: u64| format!("VERIFY people QUASI IDENTIFIERS (column2) SATISFYING k_anonymity({k})");
    // Four people have the flu, and two have a cold.
    for (k, holds) in [(1, true), (2, true), (3, false)] {
        let verification = context.verify(&verify(k)).await.unwrap();
        assert_eq!(
            (verification.holds(), verification.checks[0].reached),
            (holds, Some(2.0)),
            "{k}"
        );
        assert_eq!(context.sql(&verify(k)).await.is_ok(), holds, "{k}");
    }
}

#[tokio::test]
async fn a_front_is_what_its_rows_say() {
    let context = people().await;
    let statement = "PARETO FRONT OF ANONYMIZE people QUASI IDENTIFIERS (column1 USING age) SENSITIVE (column2) \
                     OPTIMIZING MAX k, MIN glm";
    let front = context.pareto_front(statement).await.unwrap();
    let rows = context.sql(statement).await.unwrap();
    let apply: Vec<&str> = rows[0]["apply"].as_string::<i32>().iter().flatten().collect();
    assert_eq!(front.points.iter().map(|p| p.apply.as_str()).collect::<Vec<_>>(), apply);
    for point in &front.points {
        // A release with the clauses of a point has the figures of the point.
        let request = "ANONYMIZE people QUASI IDENTIFIERS (column1 USING age) SENSITIVE (column2)";
        let anonymized = context.anonymize(&format!("{request} {}", point.apply)).await.unwrap();
        let release = anonymized.release().unwrap();
        assert_eq!(
            (release.reached_k.unwrap() as f64, release.classes),
            (point.values[0], point.classes)
        );
    }
    assert!(!front.points.is_empty() && front.knee < front.points.len());
}

#[tokio::test]
async fn another_statement_is_not_run() {
    let context = people().await;
    for text in [
        "",
        "SELECT 1",
        "DROP TABLE people",
        "DROP TABLE people; ANONYMIZE people QUASI IDENTIFIERS (column1)",
    ] {
        let refused = [
            context.anonymize(text).await.map(drop),
            context.verify(text).await.map(drop),
            context.pareto_front(text).await.map(drop),
        ];
        for refused in refused {
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::Usage, "{text}");
        }
    }
    assert!(context.sql("SELECT * FROM people").await.is_ok());
}

#[tokio::test]
async fn a_statement_that_goes_deep_has_room_and_keeps_it_for_its_rows() {
    let deep = " AND column1 > 0".repeat(1900);
    let statement = format!("ANONYMIZE (SELECT * FROM people WHERE column1 > 0{deep}) {REQUEST}");
    let Anonymized::Rows { rows, .. } = people().await.anonymize(&statement).await.unwrap() else {
        panic!("there is no TO");
    };
    assert_eq!(classes(&rows.collect().await.unwrap()).values().sum::<u64>(), 5);
}
