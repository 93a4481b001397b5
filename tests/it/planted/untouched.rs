//! Tests untouched releases of every layout. VERIFY passes each, with and without the source.

use super::scene::{Scene, checks};
use crate::common::{collect, context, number};
use anonsql::AnonContext;
use anonsql::internal::session::enable_path_tables;
use datafusion::prelude::SessionContext;
use std::path::Path;

/// Releases the session's table `people` to `target`, and verifies the release without and with the
/// source. Returns the failed checks.
async fn failing(context: &AnonContext, target: &Path, layout: &str, roles: &str, more: &str) -> Vec<String> {
    let path = target.display();
    collect(
        context,
        &format!("ANONYMIZE people TO '{path}' {layout} {roles} {more}"),
    )
    .await;
    let quasi = roles
        .split_once("QUASI IDENTIFIERS (")
        .unwrap()
        .1
        .split_once(')')
        .unwrap()
        .0;
    let plain: Vec<&str> = quasi.split(',').map(|c| c.split_whitespace().next().unwrap()).collect();
    let mut failing = vec![];
    for against in ["", "AGAINST people"] {
        let sql = format!(
            "VERIFY '{path}' QUASI IDENTIFIERS ({}) SATISFYING k_anonymity(2) {against}",
            plain.join(", ")
        );
        let rows = checks(context, &sql).await;
        failing.extend(
            rows.into_iter()
                .filter(|(_, ok)| *ok == Some(false))
                .map(|(check, _)| check),
        );
    }
    failing
}

async fn session(script: &str) -> (tempfile::TempDir, AnonContext) {
    let context = AnonContext::new(enable_path_tables(SessionContext::new()));
    collect(&context, script).await;
    (tempfile::tempdir().unwrap(), context)
}

#[tokio::test]
async fn a_hierarchy_with_a_top_of_its_own_may_be_released_at_it() {
    let script = "CREATE TABLE people AS VALUES ('f', 20), ('f', 21), ('m', 20), ('m', 22), (NULL, 21), (NULL, 20);
        CREATE HIERARCHY sex AS VALUES ('f', 'any'), ('m', 'any');
        CREATE HIERARCHY gaps AS VALUES ('f', 'woman', 'any'), ('m', 'man', 'any') NULLS AS TOP;";
    let (folder, context) = session(script).await;
    let roles = "QUASI IDENTIFIERS (column1 USING sex) KEEP (column2) SATISFYING k_anonymity(2)";
    let target = folder.path().join("top");
    assert_eq!(
        failing(&context, &target, "", roles, "AT NODE (column1 1)").await,
        Vec::<String>::new()
    );
    let raw = format!("SELECT count(*) FROM '{}/' WHERE column1 = 'any'", target.display());
    assert_eq!(number(&collect(&context, &raw).await), 6.0);
    // If the hierarchy maps NULL to the top, the label of the top also occurs at lower levels.
    let roles = "QUASI IDENTIFIERS (column1 USING gaps) KEEP (column2) SATISFYING k_anonymity(2)";
    let target = folder.path().join("gaps");
    assert_eq!(
        failing(&context, &target, "", roles, "AT NODE (column1 1)").await,
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn starred_rows_may_be_a_partition() {
    let script = "CREATE TABLE people AS VALUES ('12345', 'a'), ('12346', 'a'), ('99999', 'b'), ('12347', NULL);
        CREATE HIERARCHY zip AS PREFIX (3);";
    let (folder, context) = session(script).await;
    let roles = "QUASI IDENTIFIERS (column1 USING zip) KEEP (column2) SATISFYING k_anonymity(2)";
    let more = "SUPPRESSING AT MOST 1 ROWS SUPPRESSED ROWS STARRED AT NODE (column1 1)";
    for (name, layout) in [
        ("quasi", "PARTITIONED BY (column1)"),
        ("quasi_csv", "STORED AS CSV PARTITIONED BY (column1)"),
        // The value of a kept column is NULL, so the name of a folder represents NULL.
        ("kept", "PARTITIONED BY (column2)"),
    ] {
        let target = folder.path().join(name);
        assert_eq!(
            failing(&context, &target, layout, roles, more).await,
            Vec::<String>::new(),
            "{name}"
        );
        let starred = format!("SELECT count(*) FROM '{}/' WHERE column1 = '*'", target.display());
        assert_eq!(number(&collect(&context, &starred).await), 1.0, "{name}");
    }
}

#[tokio::test]
async fn csv_is_read_as_it_was_written() {
    // The first rows of the file are numbers. The suppressed row comes after the rows from which
    // types are inferred.
    let script = "CREATE TABLE people AS SELECT CAST(value % 2 + 1 AS INT) AS age, CAST(value AS DECIMAL(9, 2)) AS pay \
            FROM generate_series(1, 3000) UNION ALL SELECT 90, 1.5;";
    let (folder, context) = session(script).await;
    let roles = "QUASI IDENTIFIERS (age) KEEP (pay) SATISFYING k_anonymity(2)";
    let more = "SUPPRESSING AT MOST 1 ROWS SUPPRESSED ROWS STARRED AT NODE (age 0)";
    let target = folder.path().join("csv");
    assert_eq!(
        failing(&context, &target, "STORED AS CSV", roles, more).await,
        Vec::<String>::new()
    );
    let starred = format!("SELECT count(*) FROM '{}/' WHERE age = '*'", target.display());
    assert_eq!(number(&collect(&context, &starred).await), 1.0);
}

#[tokio::test]
async fn nothing_may_be_released() {
    let script = "CREATE TABLE people AS SELECT * FROM (VALUES ('12345', 'a', 1)) WHERE column3 > 1;
        CREATE HIERARCHY zip AS PREFIX (3);";
    let (folder, context) = session(script).await;
    let roles = "QUASI IDENTIFIERS (column1 USING zip) KEEP (column2, column3) SATISFYING k_anonymity(2)";
    for (name, layout) in [
        ("plain", ""),
        ("csv", "STORED AS CSV"),
        ("folders", "PARTITIONED BY (column1)"),
        ("kept", "STORED AS CSV PARTITIONED BY (column2, column1)"),
    ] {
        let target = folder.path().join(name);
        assert_eq!(
            failing(&context, &target, layout, roles, "").await,
            Vec::<String>::new(),
            "{name}"
        );
        let rows = format!("SELECT count(column1) FROM '{}/'", target.display());
        assert_eq!(number(&collect(&context, &rows).await), 0.0, "{name}");
    }
}

#[tokio::test]
async fn a_report_may_be_in_the_folder() {
    let scene = Scene::new().await;
    let report = scene.path("reported").join("_report.json");
    let more = format!("REPORT TO '{}'", report.display());
    scene.release("reported", "", super::ROLES, &more).await;
    assert!(report.is_file());
    assert!(scene.failing("reported", "", &scene.against()).await.is_empty());
    // A session with another number of threads reads the same rows.
    let one = context(1);
    collect(&one, super::HIERARCHIES).await;
    let sql = format!(
        "VERIFY '{}' QUASI IDENTIFIERS (age, sex, zip) SATISFYING k_anonymity(5) {}",
        scene.path("reported").display(),
        scene.against()
    );
    collect(&one, &sql).await;
}
