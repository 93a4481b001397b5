//! Tests existing targets, and runs that lose a race. In stores and Delta tables, IF NOT EXISTS
//! keeps only complete releases.

use crate::common::{collect, context};
use crate::sources::Watches;
use anonsql::AnonContext;
use anonsql::Phase;
use anonsql::error::ErrorKind;
use datafusion::object_store::memory::InMemory;
use datafusion::object_store::path::Path;
use datafusion::object_store::{ObjectStore, ObjectStoreExt};
use futures::TryStreamExt;
use std::sync::Arc;
use url::Url;

const REQUEST: &str = "QUASI IDENTIFIERS (age USING age) KEEP (sex) SATISFYING k_anonymity(3)";
const TABLE: &str = "CREATE HIERARCHY age AS INTERVALS (10); CREATE TABLE p AS SELECT column1 AS age, column2 AS sex FROM (VALUES \
                     (31, 'f'), (32, 'f'), (33, 'f'), (41, 'm'), (42, 'm'), (43, 'm'))";

async fn session(store: &Arc<InMemory>) -> AnonContext {
    let context = context(2);
    let url = Url::parse("s3://lake").unwrap();
    context.session().register_object_store(&url, Arc::clone(store) as _);
    collect(&context, TABLE).await;
    context
}

async fn names(store: &InMemory, prefix: &str) -> Vec<String> {
    let listed: Vec<_> = store.list(Some(&Path::from(prefix))).try_collect().await.unwrap();
    let mut names: Vec<String> = listed.into_iter().map(|meta| meta.location.to_string()).collect();
    names.sort();
    names
}

/// Returns the first of these names that ends with `end`.
fn ending<'a>(names: &'a [String], end: &str) -> &'a str {
    names.iter().find(|name| name.ends_with(end)).unwrap()
}

async fn put(store: &InMemory, path: &str, content: &str) {
    store
        .put(&Path::parse(path).unwrap(), content.to_string().into())
        .await
        .unwrap();
}

async fn refused(context: &AnonContext, sql: &str, said: &str) {
    let e = context.sql(sql).await.unwrap_err();
    assert_eq!((e.kind(), e.exit_code()), (ErrorKind::TargetExists, 5), "{e}");
    assert!(e.to_string().contains(said), "{e}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_a_whole_release_of_a_store_is_kept() {
    let store = Arc::new(InMemory::new());
    let context = session(&store).await;
    let release = |place: &str, how: &str| format!("ANONYMIZE p TO 's3://lake/{place}' {how} IF NOT EXISTS {REQUEST}");
    for (place, how) in [
        ("runs", ""),
        ("plain", "OPTIONS (layout 'plain')"),
        ("parts", "PARTITIONED BY (sex)"),
    ] {
        let sql = release(place, how);
        collect(&context, &sql).await;
        let before = names(&store, place).await;
        // The release and its files are kept.
        collect(&context, &sql).await;
        assert_eq!(names(&store, place).await, before);
        let file = ending(&before, ".parquet").to_string();
        let content = store
            .get(&Path::parse(&file).unwrap())
            .await
            .unwrap()
            .bytes()
            .await
            .unwrap();
        put(&store, &file, "another").await;
        refused(&context, &sql, "differs from the file that its _manifest.json names").await;
        store.delete(&Path::parse(&file).unwrap()).await.unwrap();
        refused(&context, &sql, "which its _manifest.json names, is missing").await;
        assert_eq!(
            names(&store, place).await.len(),
            before.len() - 1,
            "nothing was written"
        );
        assert!(!content.is_empty());
    }
    // A run that was killed after its commit did not mark its release as complete.
    collect(&context, &release("done", "OPTIONS (layout 'plain')")).await;
    store.delete(&Path::from("done/_SUCCESS")).await.unwrap();
    collect(&context, &release("done", "OPTIONS (layout 'plain')")).await;
    assert!(names(&store, "done").await.contains(&"done/_SUCCESS".to_string()));
    refused(&context, &release("done", ""), "it has the layout 'plain'").await;
    // With each clause that replaces nothing, other files in the target prevent a release.
    for (place, name) in [
        ("a", "a/_manifest.json"),
        ("b", "b/notes.txt"),
        ("c", "c/part-0.parquet"),
    ] {
        put(&store, name, "{}").await;
        refused(&context, &release(place, ""), "").await;
        refused(&context, &release(place, "").replace("IF NOT EXISTS", ""), "").await;
    }
    let changed = names(&store, "done").await;
    let manifest = Path::from(ending(&changed, "_manifest.json"));
    let text = store.get(&manifest).await.unwrap().bytes().await.unwrap();
    let text = String::from_utf8_lossy(&text).replace("\"rows_out\": 6", "\"rows_out\": 7");
    store.put(&manifest, text.into()).await.unwrap();
    refused(
        &context,
        &release("done", "OPTIONS (layout 'plain')"),
        "was changed since it was written",
    )
    .await;
}

#[cfg(feature = "delta")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_a_whole_delta_table_is_kept() {
    let store = Arc::new(InMemory::new());
    let context = session(&store).await;
    let scratch = tempfile::tempdir().unwrap();
    let at = |name: &str| scratch.path().join(name).display().to_string();
    let release = |place: &str| format!("ANONYMIZE p TO '{place}' STORED AS DELTA IF NOT EXISTS {REQUEST}");
    // Local folders: an empty folder is not a release, and a folder without a log is not a table.
    std::fs::create_dir(at("table")).unwrap();
    collect(&context, &release(&at("table"))).await;
    collect(&context, &release(&at("table"))).await;
    let version = |number: u64| scratch.path().join(format!("table/_delta_log/{number:020}.json"));
    assert!(version(0).exists() && !version(1).exists());
    assert_eq!(
        std::fs::read_dir(at("table")).unwrap().count(),
        3,
        "the log, the manifests, and a folder of rows"
    );
    for (name, content) in [
        ("other/notes.txt", "mine"),
        ("log/_delta_log/00000000000000000000.json", "{}"),
    ] {
        std::fs::create_dir_all(scratch.path().join(name).parent().unwrap()).unwrap();
        std::fs::write(scratch.path().join(name), content).unwrap();
        refused(&context, &release(&at(name.split('/').next().unwrap())), "").await;
    }
    refused(
        &context,
        &release(&at("table")).replace("STORED AS DELTA", ""),
        "it has no _manifest.json",
    )
    .await;
    let folders = std::fs::read_dir(at("table"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let is_of_tools = |path: &std::path::PathBuf| path.ends_with("_delta_log") || path.ends_with("_anonsql");
    let rows = folders.filter(|path| !is_of_tools(path)).collect::<Vec<_>>();
    let files = std::fs::read_dir(&rows[0]).unwrap().map(|entry| entry.unwrap().path());
    let file = files
        .into_iter()
        .find(|path| path.extension().is_some_and(|e| e == "parquet"))
        .unwrap();
    std::fs::write(&file, "cut").unwrap();
    refused(&context, &release(&at("table")), "is not a whole release").await;
    std::fs::remove_file(&file).unwrap();
    refused(&context, &release(&at("table")), "is not a whole release").await;
    // Object stores.
    collect(&context, &release("s3://lake/table")).await;
    collect(&context, &release("s3://lake/table")).await;
    let found = names(&store, "table").await;
    store
        .delete(&Path::parse(ending(&found, ".parquet")).unwrap())
        .await
        .unwrap();
    refused(&context, &release("s3://lake/table"), "is not a whole release").await;
}

/// A run that loses to a faster run gives advice that fits its clause. The exit code tells a
/// scheduler whether it may run the job again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_loses_is_told_what_to_do() {
    let store = Arc::new(InMemory::new());
    let scratch = tempfile::tempdir().unwrap();
    let local = scratch.path().display().to_string();
    let delta = cfg!(feature = "delta").then(|| (format!("{local}/delta"), "STORED AS DELTA"));
    let places = [(format!("{local}/folder"), ""), ("s3://lake/out".into(), "")];
    for (place, stored) in places.into_iter().chain(delta) {
        for (number, (how, code, said)) in [
            ("", 5, "add OVERWRITE to replace it"),
            ("IF NOT EXISTS", 6, "IF NOT EXISTS keeps that release if it is whole"),
            ("APPEND", 6, "run it again to add the rows to that release"),
        ]
        .into_iter()
        .enumerate()
        {
            let release = format!("ANONYMIZE p TO '{place}{number}' {stored} {how} {REQUEST}");
            let (other, own) = (session(&store).await, release.clone());
            let handle = tokio::runtime::Handle::current();
            let observer = Watches::new(Phase::Verify, move || {
                let run = std::thread::spawn(move || handle.block_on(async move { collect(&other, &own).await }));
                run.join().unwrap();
            });
            let slow = session(&store).await.with_observer(Arc::new(observer));
            let e = slow.sql(&release).await.unwrap_err();
            assert_eq!(e.exit_code(), code, "{release}: {e}");
            let text = e.to_string();
            assert!(
                text.contains("another run released to") && text.contains(said),
                "{release}: {e}"
            );
            assert_eq!(text.contains("OVERWRITE"), how.is_empty(), "{release}: {e}");
        }
    }
}

/// The files of a run with layout plain block other runs only as long as the run may be alive.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_run_with_layout_plain_is_waited_for() {
    let store = Arc::new(InMemory::new());
    let context = session(&store).await;
    let run = "20260101T000000Z00000000";
    put(&store, &format!("out/part-00000-000000000000-{run}.parquet"), "x").await;
    let release = format!("ANONYMIZE p TO 's3://lake/out' OPTIONS (layout 'plain') {REQUEST}");
    refused(
        &context,
        &release,
        "contains entries that do not belong to a release of this kind",
    )
    .await;
    let lease = format!(
        "{{\"run\": \"{run}\", \"state\": \"open\", \"by\": \"a test\", \"since\": \"2026-01-01T00:00:00Z\", \
         \"renewed\": \"2026-01-01T00:00:00Z\"}}"
    );
    put(&store, &format!("out/_anonsql/runs/{run}/lease"), &lease).await;
    let e = context.sql(&release).await.unwrap_err();
    assert_eq!((e.kind(), e.exit_code()), (ErrorKind::Unavailable, 6), "{e}");
    assert!(e.to_string().contains("run it again later"), "{e}");
}
