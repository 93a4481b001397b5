//! What else belongs to a release in a Delta table: its footers, its lineage, drift since it was made; and APPEND, which is
//! refused.

use super::{REQUEST, TABLE, VERIFY, entry, holds, manifest, rows, session};
use crate::common::{anonsql, collect};
use crate::footer::said;
use anonsql::error::ErrorKind;
use serde_json::Value;

/// The footers name the release as the manifest does, and VERIFY knows them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn footers_name_the_release() {
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    let table = scratch.path().join("out");
    let to = table.display();
    for (version, (how, options)) in [
        ("", "OPTIONS (footer true)"),
        ("PARTITIONED BY (sex) OVERWRITE", "OPTIONS (footer true)"),
        ("OVERWRITE", ""),
    ]
    .into_iter()
    .enumerate()
    {
        let sql = format!("ANONYMIZE p TO '{to}' STORED AS DELTA {how} {options} {REQUEST}");
        collect(&context, &sql).await;
        let manifest = manifest(&table, version as u64);
        assert_eq!(manifest.footer.is_empty(), options.is_empty());
        for file in &manifest.output {
            assert_eq!(said(&table.join(&file.name)), manifest.footer);
        }
        let checks = collect(&context, &format!("VERIFY '{to}' {VERIFY} AGAINST p")).await;
        assert!(holds(&checks), "{checks:?}");
    }
}

/// The events of a release from a table to a table name the tables, and not their files.
#[test]
fn lineage_names_the_tables() {
    let desk = tempfile::tempdir().unwrap();
    let place = desk.path().join("events.ndjson");
    let sql = format!(
        "{TABLE}; ANONYMIZE p TO 'people' STORED AS DELTA PARTITIONED BY (sex) QUASI IDENTIFIERS (age) KEEP (sex) SATISFYING \
         k_anonymity(1); ANONYMIZE delta.'people' TO 'out' STORED AS DELTA {REQUEST}"
    );
    let mut command = anonsql(desk.path());
    let output = command
        .args(["--lineage", "events.ndjson", "-c", &sql])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(place).unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.len(), 4, "{text}");
    let path = |name: &str| desk.path().canonicalize().unwrap().join(name).display().to_string();
    for event in &events[2..] {
        let inputs = event["inputs"].as_array().unwrap();
        assert_eq!(
            (inputs.len(), &inputs[0]["name"]),
            (1, &path("people").into()),
            "{event}"
        );
        assert_eq!(event["outputs"][0]["name"], path("out"));
    }
    assert_eq!(events[3]["eventType"], "COMPLETE");
    let columns = &events[3]["outputs"][0]["facets"]["columnLineage"]["fields"];
    assert_eq!(columns["age"]["inputFields"][0]["name"], path("people"));
}

/// A table whose columns are others than at the release is drift.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drift_of_a_table_is_named() {
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    let (people, out) = (scratch.path().join("people"), scratch.path().join("out"));
    let (people, out) = (people.display(), out.display());
    let fill = |rows: &str, how: &str, keep: &str| {
        format!(
            "ANONYMIZE ({rows}) TO '{people}' STORED AS DELTA {how} QUASI IDENTIFIERS (age) KEEP ({keep}) SATISFYING \
             k_anonymity(1)"
        )
    };
    collect(&context, &fill("SELECT * FROM p", "", "sex")).await;
    collect(
        &context,
        &format!("ANONYMIZE delta.'{people}' TO '{out}' STORED AS DELTA {REQUEST}"),
    )
    .await;
    let again = |drift: &str| {
        format!(
            "ANONYMIZE delta.'{people}' TO '{out}' STORED AS DELTA OVERWRITE {REQUEST} USING MANIFEST '{out}' {drift}"
        )
    };
    collect(&context, &again("ON DRIFT ERROR")).await;
    collect(
        &context,
        &fill("SELECT *, age AS shoe_size FROM p", "OVERWRITE", "sex, shoe_size"),
    )
    .await;
    let e = context.sql(&again("ON DRIFT ERROR")).await.unwrap_err();
    assert!(
        e.kind() == ErrorKind::Data && e.to_string().contains("shoe_size"),
        "{:?} {e}",
        e.kind()
    );
    collect(&context, &again("ON DRIFT WARN")).await;
    assert_eq!(
        rows(&collect(&context, &format!("SELECT * FROM delta.'{out}'")).await),
        6
    );
}

/// APPEND says that it is not for a table, whether there is one or not, and changes none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_rows_are_added_to_a_table() {
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    let table = scratch.path().join("out");
    let release = |how: &str| format!("ANONYMIZE p TO '{}' STORED AS DELTA {how} {REQUEST}", table.display());
    for version in [None, Some(0)] {
        if version.is_some() {
            collect(&context, &release("")).await;
        }
        let e = context.sql(&release("APPEND")).await.unwrap_err();
        assert!(
            e.kind() == ErrorKind::Usage && e.to_string().contains("Delta table"),
            "{:?} {e}",
            e.kind()
        );
        assert_eq!(table.exists(), version.is_some());
    }
    assert!(!entry(&table, 0).is_empty());
    assert!(!table.join("_delta_log/00000000000000000001.json").exists());
}
