//! Tests the manifest of a release in a Delta table. It survives the clean-ups of other tools, and
//! a lost manifest is restored.

use super::outside::python;
use super::{REQUEST, VERIFY, action, commit, entry, session, session_over};
use crate::common::{collect, holds, objects, rows, text};
use anonsql::error::ErrorKind;
use datafusion::object_store::ObjectStoreExt;
use datafusion::object_store::memory::InMemory;
use datafusion::object_store::path::Path as ObjectPath;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Returns the path of the manifest that a version of a local table names.
pub(super) fn file(table: &Path, version: u64) -> PathBuf {
    let named = action(&entry(table, version), "metaData")["configuration"]["anonsql.manifest"].clone();
    table.join(named.as_str().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_manifest_is_made_again_from_the_log() {
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    let table = scratch.path().join("a b");
    let to = table.display().to_string();
    for how in ["PARTITIONED BY (sex)", "OVERWRITE", "APPEND"] {
        let how = format!("ANONYMIZE p TO '{to}' STORED AS DELTA {how} {REQUEST}");
        let how = match how.contains("APPEND") {
            true => how.replace(" p TO", " (SELECT age + 100 AS age, sex FROM p) TO"),
            false => how,
        };
        collect(&context, &how).await;
    }
    // Another tool sets its own property, which makes a new version of the same release.
    let mut metadata = action(&entry(&table, 2), "metaData").clone();
    metadata["configuration"]["delta.logRetentionDuration"] = json!("interval 30 days");
    commit(
        &table,
        3,
        &[
            json!({"commitInfo": {"operation": "SET"}}),
            json!({"metaData": metadata}),
        ],
    );
    for version in 0..4 {
        let file = file(&table, version.min(2));
        assert!(file.starts_with(table.join("_anonsql/manifests")), "{file:?}");
        let before = std::fs::read(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        let place = format!("delta.'{to}' VERSION AS OF {version}");
        let verify = format!("VERIFY {place} {VERIFY}");
        let e = context.sql(&verify).await.unwrap_err();
        assert!(e.to_string().contains("RESTORE MANIFEST OF"), "{e}");
        let restore = format!("RESTORE MANIFEST OF {place}");
        for outcome in ["restored", "present"] {
            let restored = collect(&context, &restore).await;
            assert_eq!(text(&restored, "outcome", outcome, "version"), version.to_string());
        }
        assert_eq!(std::fs::read(&file).unwrap(), before);
        assert!(holds(&collect(&context, &verify).await));
        // A different file at the path of the manifest is not replaced.
        std::fs::write(&file, "{}").unwrap();
        let e = context.sql(&restore).await.unwrap_err();
        assert!(
            e.kind() == ErrorKind::Data && e.to_string().contains("move it to another folder"),
            "{e}"
        );
        std::fs::write(&file, before).unwrap();
    }
    let newest = collect(&context, &format!("RESTORE MANIFEST OF '{to}'")).await;
    assert_eq!(text(&newest, "outcome", "present", "version"), "3");

    // It is an error if there is no Delta table at the location, or if the log does not contain the
    // text of the manifest.
    let nothing = scratch.path().join("nothing");
    let e = context
        .sql(&format!("RESTORE MANIFEST OF '{}'", nothing.display()))
        .await
        .unwrap_err();
    assert!(
        e.kind() == ErrorKind::Usage && e.to_string().contains("no Delta table"),
        "{e}"
    );
    let told = std::fs::read_to_string(table.join("_delta_log/00000000000000000002.json")).unwrap();
    assert!(told.contains("anonsql.manifest_text"));
    let silent = told.replace("anonsql.manifest_text", "anonsql.other");
    std::fs::write(table.join("_delta_log/00000000000000000002.json"), silent).unwrap();
    let e = context.sql(&format!("RESTORE MANIFEST OF '{to}'")).await.unwrap_err();
    assert!(
        e.kind() == ErrorKind::Data && e.to_string().contains("release again"),
        "{e}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_manifest_in_a_store_is_made_again() {
    let store = Arc::new(InMemory::new());
    let context = session_over(&store).await;
    collect(
        &context,
        &format!("ANONYMIZE p TO 's3://lake/out' STORED AS DELTA {REQUEST}"),
    )
    .await;
    let before = objects(store.as_ref()).await;
    let manifest = before.iter().find(|name| name.ends_with("_manifest.json")).unwrap();
    assert!(manifest.starts_with("out/_anonsql/manifests/"), "{manifest}");
    store.delete(&ObjectPath::from(manifest.as_str())).await.unwrap();
    assert_eq!(rows(&collect(&context, "RESTORE MANIFEST OF 's3://lake/out'").await), 1);
    assert_eq!(objects(store.as_ref()).await, before);
    let verify = format!("VERIFY 's3://lake/out' {VERIFY} AGAINST p");
    assert!(holds(&collect(&context, &verify).await));
    // The files of a killed run are deleted together with its manifest. The manifest of a release
    // is kept.
    let run = "20260101T000000Z00000000";
    for killed in [
        format!("out/run={run}/part-0.parquet"),
        format!("out/_anonsql/manifests/{run}/_manifest.json"),
    ] {
        store.put(&ObjectPath::from(killed), "x".into()).await.unwrap();
    }
    assert_eq!(rows(&collect(&context, "SELECT * FROM delta.'s3://lake/out'").await), 6);
}

/// Tables that earlier versions of anonsql wrote have the manifest in the folder of the run. They
/// can be read, replaced and extended.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_manifest_in_the_folder_of_its_run_is_read() {
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    let table = scratch.path().join("old");
    let to = table.display().to_string();
    collect(&context, &format!("ANONYMIZE p TO '{to}' STORED AS DELTA {REQUEST}")).await;
    let now = file(&table, 0);
    let run = now.parent().unwrap().file_name().unwrap().to_str().unwrap().to_string();
    let old = format!("run={run}/_manifest.json");
    std::fs::rename(&now, table.join(&old)).unwrap();
    std::fs::remove_dir_all(table.join("_anonsql")).unwrap();
    let log = table.join("_delta_log/00000000000000000000.json");
    let told = std::fs::read_to_string(&log).unwrap();
    let told = told.replace(&format!("_anonsql/manifests/{run}/_manifest.json"), &old);
    std::fs::write(&log, told).unwrap();
    let verify = format!("VERIFY '{to}' {VERIFY} AGAINST p");
    assert!(holds(&collect(&context, &verify).await));
    let more = REQUEST.to_string();
    let append = format!("ANONYMIZE (SELECT age + 100 AS age, sex FROM p) TO '{to}' STORED AS DELTA APPEND {more}");
    collect(&context, &append).await;
    assert!(file(&table, 1).starts_with(table.join("_anonsql")));
    for version in 0..2 {
        let verify = format!("VERIFY delta.'{to}' VERSION AS OF {version} {VERIFY}");
        assert!(holds(&collect(&context, &verify).await), "{version}");
    }
    collect(
        &context,
        &format!("ANONYMIZE p TO '{to}' STORED AS DELTA OVERWRITE {REQUEST}"),
    )
    .await;
}

/// The package deltalake deletes every file that no entry of the log names, creates a checkpoint
/// and cleans up the log. The manifests are kept, and VERIFY still passes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_deltalake), ignore = "needs pip install deltalake duckdb pyarrow")]
async fn clean_ups_of_other_tools_leave_the_manifest() {
    let script = r#"
import json, sys
from deltalake import DeltaTable
table = DeltaTable(sys.argv[1])
gone = table.vacuum(retention_hours=0, enforce_retention_duration=False, full=True, dry_run=False)
table = DeltaTable(sys.argv[1])
table.create_checkpoint()
table.cleanup_metadata()
print(json.dumps(gone))
"#;
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    for how in ["", "PARTITIONED BY (sex)"] {
        let table = scratch.path().join(format!("t{}", how.len()));
        let to = table.display().to_string();
        let release = |how: &str| format!("ANONYMIZE p TO '{to}' STORED AS DELTA {how} {REQUEST}");
        for how in [how.to_string(), format!("OVERWRITE {how}")] {
            collect(&context, &release(&how)).await;
            // The files of a killed run are removed.
            let left = table.join("run=20260101T000000Z00000000/part-00000-000000000000.parquet");
            std::fs::create_dir_all(left.parent().unwrap()).unwrap();
            std::fs::write(&left, "x").unwrap();
            let gone = python(script, &[&to]);
            assert!(gone.to_string().contains("20260101T000000Z00000000"), "{gone}");
            assert!(!left.exists() && !gone.to_string().contains("_manifest.json"), "{gone}");
            let checks = collect(&context, &format!("VERIFY '{to}' {VERIFY} AGAINST p")).await;
            assert!(holds(&checks), "{checks:?}");
        }
        let grown = release(&format!("{how} APPEND")).replace(" p TO", " (SELECT age + 100 AS age, sex FROM p) TO");
        collect(&context, &grown).await;
    }
}
