//! Tests releases in object stores. They have the same bytes as in folders, only one of several
//! runs succeeds, and no other file is left.

use crate::common::{collect, context, holds, number, objects, rows};
use crate::sources::Watches;
use anonsql::AnonContext;
use anonsql::Phase;
use anonsql::error::ErrorKind;
use anonsql::manifest::Manifest;
use datafusion::object_store::memory::InMemory;
use datafusion::object_store::path::Path;
use datafusion::object_store::{ObjectStore, ObjectStoreExt};
use std::sync::Arc;
use url::Url;

const REQUEST: &str = "QUASI IDENTIFIERS (age USING age) KEEP (sex) SATISFYING k_anonymity(3)";
pub const TABLE: &str =
    "CREATE TABLE people AS VALUES (31, 'f'), (32, 'f'), (33, 'f'), (41, 'm'), (42, 'm'), (43, 'm')";

async fn session(store: &Arc<InMemory>) -> AnonContext {
    let context = context(2);
    let url = Url::parse("s3://lake").unwrap();
    context.session().register_object_store(&url, Arc::clone(store) as _);
    collect(&context, "CREATE HIERARCHY age AS INTERVALS (10)").await;
    collect(
        &context,
        &format!("{TABLE}; CREATE VIEW p AS SELECT column1 AS age, column2 AS sex FROM people"),
    )
    .await;
    context
}

pub async fn bytes(store: &dyn ObjectStore, path: &str) -> Vec<u8> {
    let path = Path::parse(path).unwrap();
    store.get(&path).await.unwrap().bytes().await.unwrap().to_vec()
}

pub async fn manifest(store: &dyn ObjectStore, prefix: &str) -> Manifest {
    let text = bytes(store, &format!("{prefix}/_manifest.json")).await;
    serde_json::from_slice(&text).unwrap()
}

/// For each format and with partitions, a release in a store has the same bytes as a release in a
/// folder. Everything that reads a release in a folder also reads it in a store.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_release_is_the_same_in_a_store_and_in_a_folder() {
    let store = Arc::new(InMemory::new());
    let context = session(&store).await;
    let scratch = tempfile::tempdir().unwrap();
    for (name, how) in [
        ("parquet", ""),
        ("csv", "STORED AS CSV"),
        ("parts", "PARTITIONED BY (sex)"),
        ("csv-parts", "STORED AS CSV PARTITIONED BY (sex)"),
        ("files", "OPTIONS (rows_per_file 2)"),
        ("ö x", ""),
    ] {
        let folder = scratch.path().join(name);
        collect(
            &context,
            &format!("ANONYMIZE p TO '{}' {how} {REQUEST}", folder.display()),
        )
        .await;
        let url = format!("s3://lake/{name}");
        collect(&context, &format!("ANONYMIZE p TO '{url}' {how} {REQUEST}")).await;
        let local = Manifest::read(&folder).unwrap().unwrap();
        let stored = manifest(store.as_ref(), name).await;
        assert_eq!(local.output.len(), stored.output.len(), "{name}");
        let run = stored.run.clone().unwrap();
        for (local, stored) in local.output.iter().zip(&stored.output) {
            assert_eq!(
                (&local.sha256, local.bytes, local.rows),
                (&stored.sha256, stored.bytes, stored.rows)
            );
            assert!(stored.name.starts_with(&format!("run={run}/")) && stored.name.contains(&local.sha256[..12]));
            assert!(stored.e_tag.is_some());
            let written = std::fs::read(folder.join(&local.name)).unwrap();
            assert_eq!(bytes(store.as_ref(), &format!("{name}/{}", stored.name)).await, written);
        }
        let of_run = bytes(store.as_ref(), &format!("{name}/run={run}/_manifest.json")).await;
        assert_eq!(of_run, bytes(store.as_ref(), &format!("{name}/_manifest.json")).await);
        for place in [format!("'{url}'"), format!("'{url}/'")] {
            let verify = format!("VERIFY {place} {} AGAINST p", REQUEST.replace(" KEEP (sex)", ""));
            let checks = collect(&context, &verify).await;
            assert!(holds(&checks), "{place}: {checks:?}");
            collect(&context, &format!("RISK OF {place} QUASI IDENTIFIERS (age)")).await;
            let read = format!("ANONYMIZE {place} QUASI IDENTIFIERS (age) KEEP (sex) SATISFYING k_anonymity(3)");
            assert_eq!(rows(&collect(&context, &read).await), 6);
            let again = format!("ANONYMIZE p {REQUEST} USING MANIFEST {place}");
            assert_eq!(rows(&collect(&context, &again).await), 6);
        }
    }
    assert!(!objects(store.as_ref()).await.iter().any(|name| name.contains("lease")));
    collect(
        &context,
        &format!("COPY (ANONYMIZE p {REQUEST}) TO 's3://lake/copy.parquet'"),
    )
    .await;
    let read = "ANONYMIZE 's3://lake/copy.parquet' QUASI IDENTIFIERS (age) KEEP (sex) SATISFYING k_anonymity(3)";
    assert_eq!(rows(&collect(&context, read).await), 6);
}

/// An existing release is replaced or kept only if the statement says so, and otherwise the
/// statement is refused. Old runs stay until VACUUM deletes them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_stands_is_replaced_only_on_demand() {
    let store = Arc::new(InMemory::new());
    let context = session(&store).await;
    let release = |how: &str| format!("ANONYMIZE p TO 's3://lake/out/' {how} {REQUEST}");
    collect(&context, &release("")).await;
    let first = manifest(store.as_ref(), "out").await;
    let e = context.sql(&release("")).await.unwrap_err();
    assert_eq!((e.kind(), e.exit_code()), (ErrorKind::TargetExists, 5), "{e}");
    collect(&context, &release("IF NOT EXISTS")).await;
    assert_eq!(manifest(store.as_ref(), "out").await, first);
    collect(&context, &release("OVERWRITE")).await;
    let second = manifest(store.as_ref(), "out").await;
    assert_ne!(first.run, second.run);
    let table = "CREATE EXTERNAL TABLE e STORED AS PARQUET LOCATION 's3://lake/out/'; SELECT count(*) FROM e";
    assert_eq!(number(&collect(&context, table).await), 6.0, "of the existing release");
    assert_eq!(
        rows(&collect(&context, "VACUUM 's3://lake/out'").await),
        0,
        "it was replaced just now"
    );
    let before = objects(store.as_ref()).await;
    let told = collect(&context, "VACUUM 's3://lake/out' RETAIN '0s' DRY RUN").await;
    assert_eq!((rows(&told), &objects(store.as_ref()).await), (1, &before));
    collect(&context, "VACUUM 's3://lake/out' RETAIN '0s'").await;
    let run = second.run.clone().unwrap();
    assert_eq!(
        objects(store.as_ref()).await,
        [
            "out/_manifest.json".to_string(),
            format!("out/run={run}/_manifest.json"),
            format!("out/{}", second.output[0].name)
        ]
    );
    for (sql, said) in [
        ("VACUUM '/tmp/x'", "this is a local folder"),
        ("VACUUM 's3://lake/out' RETAIN 'long'", "is not a time"),
        (
            "ANONYMIZE p TO 'https://example.org/out' QUASI IDENTIFIERS (age, sex) SATISFYING k_anonymity(1)",
            "web server",
        ),
    ] {
        let e = context.sql(sql).await.unwrap_err();
        assert!(e.to_string().contains(said), "{e}");
    }
    let e = context
        .sql(&release("").replace(" p ", " 's3://lake/out' ").replace("USING age", ""))
        .await
        .unwrap_err();
    assert!(e.to_string().contains("holds the source"), "{e}");
}

/// A run fails with exit code 5 or 6, and leaves no files, if another run committed a release since
/// its start. A run whose source changes also fails and leaves no files.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_cannot_commit_leaves_nothing() {
    let store = Arc::new(InMemory::new());
    for (how, round, ends) in [
        ("", 0, (ErrorKind::TargetExists, 5)),
        ("OVERWRITE", 1, (ErrorKind::Unavailable, 6)),
        ("OVERWRITE", 2, (ErrorKind::Unavailable, 6)),
    ] {
        let other = session(&store).await;
        let slow = session(&store).await;
        let release = format!("ANONYMIZE p TO 's3://lake/out' {how} {REQUEST}");
        let handle = tokio::runtime::Handle::current();
        let other_release = release.clone();
        let observer = Watches::new(Phase::Verify, move || {
            let run = std::thread::spawn(move || handle.block_on(async move { collect(&other, &other_release).await }));
            run.join().unwrap();
        });
        let slow = slow.with_observer(Arc::new(observer));
        let e = slow.sql(&release).await.unwrap_err();
        assert_eq!((e.kind(), e.exit_code()), ends, "{e}");
        assert!(e.to_string().contains("another run released"), "{e}");
        collect(&session(&store).await, "VACUUM 's3://lake/out' RETAIN '0s'").await;
        assert_eq!(objects(store.as_ref()).await.len(), 3, "round {round}");
    }
    let before = objects(store.as_ref()).await;
    store
        .put(&Path::from("in/a.csv"), "age,sex\n31,f\n32,f\n33,f\n".into())
        .await
        .unwrap();
    let own = Arc::clone(&store);
    let observer = Watches::new(Phase::Write, move || {
        let path = Path::from("in/b.csv");
        futures::executor::block_on(own.put(&path, "age,sex\n31,f\n".into())).unwrap();
    });
    let changed = session(&store).await.with_observer(Arc::new(observer));
    let sql = format!("ANONYMIZE 's3://lake/in/' TO 's3://lake/out' OVERWRITE {REQUEST}");
    let e = changed.sql(&sql).await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Data, "{e}");
    let after: Vec<String> = objects(store.as_ref())
        .await
        .into_iter()
        .filter(|name| !name.starts_with("in/"))
        .collect();
    assert_eq!(after, before);
}

/// With layout plain, the files are where readers of folders expect them, and no file is replaced.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plain_layout_is_written_once() {
    let store = Arc::new(InMemory::new());
    let context = session(&store).await;
    let release = |how: &str| format!("ANONYMIZE p TO 's3://lake/out' {how} OPTIONS (layout 'plain') {REQUEST}");
    collect(&context, &release("PARTITIONED BY (sex)")).await;
    let found = objects(store.as_ref()).await;
    assert_eq!(&found[..2], ["out/_SUCCESS", "out/_manifest.json"]);
    assert!(
        found[2..].iter().all(|name| name.starts_with("out/sex=")) && found.len() == 4,
        "{found:?}"
    );
    let verify = format!("VERIFY 's3://lake/out' {}", REQUEST.replace(" KEEP (sex)", ""));
    assert!(holds(&collect(&context, &verify).await));
    for (how, kind) in [("", ErrorKind::TargetExists), ("OVERWRITE", ErrorKind::Usage)] {
        assert_eq!(context.sql(&release(how)).await.unwrap_err().kind(), kind);
    }
    let runs = format!("ANONYMIZE p TO 's3://lake/out' OVERWRITE {REQUEST}");
    assert!(context.sql(&runs).await.is_err());
    assert_eq!(objects(store.as_ref()).await, found);
    store.put(&Path::from("other/notes.txt"), "mine".into()).await.unwrap();
    let e = context
        .sql(&release("").replace("lake/out", "lake/other"))
        .await
        .unwrap_err();
    assert!(
        e.kind() == ErrorKind::TargetExists && e.to_string().contains("notes.txt"),
        "{e}"
    );
}

/// Reading a release fails if its files were changed or removed, or if files were added.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_go_by_the_manifest() {
    let store = Arc::new(InMemory::new());
    let context = session(&store).await;
    collect(&context, &format!("ANONYMIZE p TO 's3://lake/out' {REQUEST}")).await;
    let released = manifest(store.as_ref(), "out").await;
    let file = Path::parse(format!("out/{}", released.output[0].name)).unwrap();
    let content = bytes(store.as_ref(), file.as_ref()).await;
    let read = "ANONYMIZE 's3://lake/out' QUASI IDENTIFIERS (age) KEEP (sex) SATISFYING k_anonymity(3)";
    let run = released.run.unwrap();
    let stranger = Path::from(format!("out/run={run}/other.parquet"));
    store.put(&stranger, content.clone().into()).await.unwrap();
    let e = context.sql(read).await.unwrap_err();
    assert!(e.to_string().contains("does not name it"), "{e}");
    store.delete(&stranger).await.unwrap();
    // Files of another run do not belong to the release.
    let killed = Path::from("out/run=20260101T000000Z00000000/part-00000-000000000000.parquet");
    store.put(&killed, content.clone().into()).await.unwrap();
    assert_eq!(rows(&collect(&context, read).await), 6);
    store
        .put(&file, content[..content.len() - 1].to_vec().into())
        .await
        .unwrap();
    let e = context.sql(read).await.unwrap_err();
    assert!(
        e.to_string().contains("differs from the file that the manifest names"),
        "{e}"
    );
    store.delete(&Path::from("out/_manifest.json")).await.unwrap();
    let e = context.sql(read).await.unwrap_err();
    assert!(e.to_string().contains("no manifest that names the files"), "{e}");
}

/// The size that [`files_are_of_a_size`] requests: `1MB`.
const FILE_SIZE: u64 = 1_000_000;

/// Each file has approximately the requested size: as many row groups as fit, except that the last
/// file has the rest. The boundaries between files are at the same rows for any number of threads
/// and any target.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_are_of_a_size() {
    let store = Arc::new(InMemory::new());
    let scratch = tempfile::tempdir().unwrap();
    let mut all = vec![];
    for (threads, target) in [(1, "s3://lake/one"), (3, "s3://lake/three"), (2, "folder")] {
        let context = context(threads);
        let url = Url::parse("s3://lake").unwrap();
        context.session().register_object_store(&url, Arc::clone(&store) as _);
        let target = match target {
            "folder" => scratch.path().join(target).display().to_string(),
            url => url.to_string(),
        };
        let rows = "SELECT value % 7 AS age, value * 7919 % 1000003 AS x FROM range(0, 600000)";
        let sql = format!(
            "ANONYMIZE ({rows}) TO '{target}' OPTIONS (file_size '1MB') QUASI IDENTIFIERS (age) KEEP (x) SATISFYING k_anonymity(2)"
        );
        collect(&context, &sql).await;
        let manifest = match target.strip_prefix("s3://lake/") {
            Some(prefix) => manifest(store.as_ref(), prefix).await,
            None => Manifest::read(target.as_ref()).unwrap().unwrap(),
        };
        for file in &manifest.output {
            let size = match target.strip_prefix("s3://lake/") {
                Some(prefix) => bytes(store.as_ref(), &format!("{prefix}/{}", file.name)).await.len() as u64,
                None => std::fs::metadata(format!("{target}/{}", file.name)).unwrap().len(),
            };
            assert_eq!(size, file.bytes, "{target}: {}", file.name);
        }
        let files = manifest
            .output
            .iter()
            .map(|file| (file.sha256.clone(), file.bytes, file.rows));
        all.push(files.collect::<Vec<_>>());
    }
    assert_eq!(all[0], all[1]);
    assert_eq!(all[0], all[2]);
    assert!(all[0].len() > 1, "{:?}", all[0]);
    // Each of these files has one row group, and a second one would exceed the size.
    let (last, full) = all[0].split_last().unwrap();
    for (_, size, rows) in full {
        assert!(*size <= FILE_SIZE && 2 * size > FILE_SIZE, "{:?}", all[0]);
        assert!(rows.is_some() && *rows == full[0].2, "{:?}", all[0]);
    }
    assert!(last.2 <= full[0].2 && last.1 <= FILE_SIZE, "{:?}", all[0]);
    assert_eq!(all[0].iter().filter_map(|(.., rows)| *rows).sum::<u64>(), 600_000);
}

/// A report is a single object: for a release in a folder, in a store and without a target, and for
/// UTILITY OF. It has the same text as a local report and is stored beside the prefix.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_is_an_object_beside_the_prefix() {
    let store = Arc::new(InMemory::new());
    let context = session(&store).await;
    let scratch = tempfile::tempdir().unwrap();
    let local = |name: &str| scratch.path().join(name).display().to_string();
    let reported = |to: &str, report: &str| format!("ANONYMIZE p {to} {REQUEST} REPORT TO '{report}'");
    let read = async |name: &str| {
        let text = String::from_utf8(bytes(store.as_ref(), name).await).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()
    };
    collect(&context, &reported("", &local("r.json"))).await;
    let expected = std::fs::read(scratch.path().join("r.json")).unwrap();
    let expected: serde_json::Value = serde_json::from_slice(&expected).unwrap();
    for (i, to) in [
        "",
        &format!("TO '{}'", local("out")),
        "TO 's3://lake/out'",
        "TO 's3://lake/out' OVERWRITE",
    ]
    .into_iter()
    .enumerate()
    {
        collect(&context, &reported(to, &format!("s3://lake/reports/{}.json", i.min(2)))).await;
        let report = read(&format!("reports/{}.json", i.min(2))).await;
        assert_eq!(report["class_sizes"], expected["class_sizes"], "{to}");
        let said = report["release"]["files"]["manifest_sha256"].as_str();
        assert_eq!(said.is_some(), !to.is_empty(), "{report}");
    }
    assert!(holds(
        &collect(
            &context,
            "VERIFY 's3://lake/out' QUASI IDENTIFIERS (age USING age) SATISFYING k_anonymity(3)"
        )
        .await
    ));
    collect(
        &context,
        "UTILITY OF 's3://lake/out' AGAINST p REPORT TO 's3://lake/reports/u.html'",
    )
    .await;
    let page = String::from_utf8(bytes(store.as_ref(), "reports/u.html").await).unwrap();
    assert!(page.to_lowercase().starts_with("<!doctype html>"));

    store
        .put(&Path::from("people/a.json"), "{\"age\": 1}\n".into())
        .await
        .unwrap();
    let before = objects(store.as_ref()).await;
    for (report, said) in [
        ("s3://lake/out/r.html", "beside that prefix"),
        ("S3://lake/out/r.html", "beside that prefix"),
        ("s3://lake/%6Fut/r.html", "beside that prefix"),
        ("s3://lake/x/_delta_log/0.json", "beside its folder"),
    ] {
        let inside = reported("TO 's3://lake/out' OVERWRITE", report);
        let e = context.sql(&inside).await.unwrap_err();
        assert!(e.to_string().contains(said), "{report}: {e}");
    }
    let over = "ANONYMIZE 's3://lake/people/a.json' QUASI IDENTIFIERS (age) SATISFYING k_anonymity(1) REPORT TO 's3://lake/people/a.json' OVERWRITE";
    let e = context.sql(over).await.unwrap_err();
    assert!(e.to_string().contains("reads this object"), "{e}");
    for dry in ["", "TO 's3://lake/other'"] {
        collect(&context, "SET anonsql.dry_run = true").await;
        collect(&context, &reported(dry, "s3://lake/reports/dry.html")).await;
        collect(&context, "SET anonsql.dry_run = false").await;
    }
    // A store that cannot be reached is an error before any row is read.
    let nowhere = crate::common::context(1);
    let sql = "ANONYMIZE (SELECT no_such_column FROM nothing) QUASI IDENTIFIERS (age) SATISFYING k_anonymity(1) REPORT TO 's3://nowhere/r.html'";
    collect(
        &nowhere,
        "SET anonsql.s3.endpoint = 'http://127.0.0.1:9'; SET anonsql.s3.allow_http = true",
    )
    .await;
    let e = nowhere.sql(sql).await.unwrap_err();
    assert!(e.to_string().contains("s3://nowhere/r.html"), "{e}");
    // A run that fails leaves no report.
    let failing = reported("TO 's3://lake/more'", "s3://lake/reports/f.html").replace("(3)", "(7)");
    assert_eq!(context.sql(&failing).await.unwrap_err().exit_code(), 3);
    assert_eq!(objects(store.as_ref()).await, before);
}
