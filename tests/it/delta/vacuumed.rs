//! Tests releases in a Delta table after Spark's VACUUM and after a clean-up of the table's log.

use super::lost::file;
use super::outside::python;
use super::{REQUEST, VERIFY, entry, session};
use crate::common::{collect, holds, text};
use anonsql::AnonContext;
use serde_json::json;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);

/// A file beside the log, left by a run that was killed long ago.
const LEFT: &str = "run=20260101T000000Z00000000/part-00000-000000000000.parquet";

/// The number of versions of each table.
const VERSIONS: u64 = 3;

/// Creates a table of three versions: a release, another release that replaces it, and an appended
/// batch.
async fn grown(context: &AnonContext, table: &Path, partitions: &str) {
    let to = table.display();
    for (from, how) in [
        ("p", ""),
        ("p", "OVERWRITE"),
        ("(SELECT age + 100 AS age, sex FROM p)", "APPEND"),
    ] {
        let sql = format!("ANONYMIZE {from} TO '{to}' STORED AS DELTA {partitions} {how} {REQUEST}");
        collect(context, &sql).await;
    }
}

/// Returns the paths of the files that an entry of the log adds.
fn added(table: &Path, version: u64) -> BTreeSet<String> {
    let path = |action: &serde_json::Value| Some(action.get("add")?["path"].as_str().unwrap().to_string());
    entry(table, version).iter().filter_map(path).collect()
}

/// Sets the modification times of all files in a folder to a time in the past.
fn aged(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => aged(&path),
            false => File::open(&path)
                .unwrap()
                .set_modified(UNIX_EPOCH + Duration::from_secs(1_700_000_000))
                .unwrap(),
        }
    }
}

/// Deletes the files of a local table that Spark's VACUUM would delete. Returns the deleted paths,
/// sorted.
///
/// The tests cannot download the jars of Delta, so this function follows the rule in Delta's
/// documentation of VACUUM (<https://docs.delta.io/latest/delta-utility.html>), with the exceptions
/// of Delta's `DeltaTableUtils.isHiddenDirectory`: a file is deleted if it is older than the
/// retention, the newest version does not name it, and no entry removed it within the retention. A
/// file stays if its name or the name of any folder around it begins with `_` or `.`, except in the
/// folders of a partition, in `_change_data` and in `_delta_index`.
fn spark_vacuum(table: &Path, retention: Duration) -> Vec<String> {
    let before = SystemTime::now() - retention;
    let milliseconds = before.duration_since(UNIX_EPOCH).unwrap().as_millis();
    let (mut live, mut removed, mut columns) = (BTreeSet::<String>::new(), BTreeSet::<String>::new(), json!([]));
    for version in 0..VERSIONS {
        for action in entry(table, version) {
            let path = |name: &str| Some(action.get(name)?["path"].as_str().unwrap().to_string());
            if let Some(path) = path("remove") {
                live.remove(&path);
                let removed_at = action["remove"]["deletionTimestamp"].as_u64().unwrap();
                if u128::from(removed_at) >= milliseconds {
                    removed.insert(path);
                }
            }
            live.extend(path("add"));
            if let Some(metadata) = action.get("metaData") {
                columns = metadata["partitionColumns"].clone();
            }
        }
    }
    let columns: Vec<String> = serde_json::from_value(columns).unwrap();
    let is_hidden = |name: &str| {
        let is_partition = columns.iter().any(|column| name.starts_with(&format!("{column}=")));
        let is_data = name.starts_with("_delta_index") || name.starts_with("_change_data");
        name.starts_with(['_', '.']) && !is_partition && !is_data
    };
    let (mut gone, mut folders) = (vec![], vec![table.to_path_buf()]);
    let mut next = 0;
    while let Some(folder) = folders.get(next).cloned() {
        next += 1;
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            if is_hidden(&entry.file_name().to_string_lossy()) {
                continue;
            }
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(table).unwrap().display().to_string();
            let is_old = entry.metadata().unwrap().modified().unwrap() < before;
            if is_old && !live.contains(&name) && !removed.contains(&name) {
                fs::remove_file(&path).unwrap();
                gone.push(name);
            }
        }
    }
    // Only an empty folder can be removed.
    for folder in folders.iter().skip(1).rev() {
        let _ = fs::remove_dir(folder);
    }
    gone.sort();
    gone
}

/// Spark's VACUUM deletes only the files that it may delete. The manifest of each version is kept,
/// and the newest release satisfies the models. If a manifest is lost nevertheless, it is restored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn vacuum_of_spark_leaves_the_manifests() {
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    for partitions in ["", "PARTITIONED BY (sex)"] {
        let table = scratch.path().join(format!("t{}", partitions.len()));
        grown(&context, &table, partitions).await;
        let place = |version: u64| format!("delta.'{}' VERSION AS OF {version}", table.display());
        let verify = |version: u64| format!("VERIFY {} {VERIFY}", place(version));
        let manifests: Vec<_> = (0..VERSIONS).map(|version| file(&table, version)).collect();
        let texts: Vec<_> = manifests.iter().map(|path| fs::read(path).unwrap()).collect();

        // With a retention of a week, only the file of the killed run is old.
        fs::create_dir(table.join(LEFT).parent().unwrap()).unwrap();
        fs::write(table.join(LEFT), "x").unwrap();
        aged(table.join(LEFT).parent().unwrap());
        assert_eq!(spark_vacuum(&table, WEEK), [LEFT]);
        for version in 0..VERSIONS {
            let checks = collect(&context, &verify(version)).await;
            assert!(holds(&checks), "{version}: {checks:?}");
        }

        // RETAIN 0 HOURS deletes the files of the replaced release, and nothing else.
        aged(&table);
        let replaced: Vec<String> = added(&table, 0).into_iter().collect();
        assert_eq!(spark_vacuum(&table, Duration::ZERO), replaced);
        for (path, text) in manifests.iter().zip(&texts) {
            assert_eq!(&fs::read(path).unwrap(), text, "{}", path.display());
        }
        for version in 1..VERSIONS {
            let checks = collect(&context, &verify(version)).await;
            assert!(holds(&checks), "{version}: {checks:?}");
        }

        fs::remove_dir_all(table.join("_anonsql")).unwrap();
        for version in 1..VERSIONS {
            let e = context.sql(&verify(version)).await.unwrap_err();
            assert!(e.to_string().contains("RESTORE MANIFEST OF"), "{e}");
            let restored = collect(&context, &format!("RESTORE MANIFEST OF {}", place(version))).await;
            assert_eq!(text(&restored, "outcome", "restored", "version"), version.to_string());
            assert_eq!(fs::read(&manifests[version as usize]).unwrap(), texts[version as usize]);
            let checks = collect(&context, &verify(version)).await;
            assert!(holds(&checks), "{version}: {checks:?}");
        }
        // The manifest of a release whose files are gone is not restored.
        for sql in [verify(0), format!("RESTORE MANIFEST OF {}", place(0))] {
            let e = context.sql(&sql).await.unwrap_err();
            assert!(
                e.to_string().contains("is missing: the table was vacuumed"),
                "{sql}: {e}"
            );
        }
        assert!(!manifests[0].exists());
    }
}

/// The package deltalake deletes the same files as Spark's VACUUM, and entries of the log that are
/// older than a checkpoint. The newest release keeps its manifest, or gets it back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_deltalake), ignore = "needs pip install deltalake duckdb pyarrow")]
async fn a_log_that_was_cleaned_up_makes_the_newest_manifest_again() {
    let vacuum = r#"
import json, sys
from deltalake import DeltaTable
table = DeltaTable(sys.argv[1])
gone = table.vacuum(retention_hours=0, enforce_retention_duration=False, full=True, dry_run=sys.argv[2] == "dry")
print(json.dumps(sorted(gone)))
"#;
    let clean = r#"
import json, sys
from deltalake import DeltaTable
DeltaTable(sys.argv[1]).create_checkpoint()
DeltaTable(sys.argv[1]).cleanup_metadata()
print(json.dumps(DeltaTable(sys.argv[1]).version()))
"#;
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    let table = scratch.path().join("out");
    let to = table.display().to_string();
    grown(&context, &table, "PARTITIONED BY (sex)").await;
    fs::create_dir(table.join(LEFT).parent().unwrap()).unwrap();
    fs::write(table.join(LEFT), "x").unwrap();
    aged(&table);
    let would = python(vacuum, &[&to, "dry"]);
    assert_eq!(would, json!(spark_vacuum(&table, Duration::ZERO)));
    let newest = file(&table, VERSIONS - 1);
    let before = fs::read(&newest).unwrap();
    python(clean, &[&to]);
    assert!(!table.join("_delta_log/00000000000000000000.json").exists());
    python(vacuum, &[&to, "wet"]);
    assert_eq!(fs::read(&newest).unwrap(), before);
    let verify = format!("VERIFY '{to}' {VERIFY}");
    assert!(holds(&collect(&context, &verify).await));
    fs::remove_dir_all(table.join("_anonsql")).unwrap();
    let restored = collect(&context, &format!("RESTORE MANIFEST OF '{to}'")).await;
    // The clean-ups also create versions of the table.
    let version: u64 = text(&restored, "outcome", "restored", "version").parse().unwrap();
    assert!(version >= VERSIONS - 1, "{version}");
    assert_eq!(fs::read(&newest).unwrap(), before);
    assert!(holds(&collect(&context, &verify).await));
}
