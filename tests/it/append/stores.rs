//! Tests releases that grow in object stores.

use crate::common::{collect, context, holds, number};
use anonsql::AnonContext;
use anonsql::error::ErrorKind;
use anonsql::manifest::Manifest;
use arrow::array::{AsArray, RecordBatch};
use datafusion::object_store::ObjectStoreExt;
use datafusion::object_store::memory::InMemory;
use datafusion::object_store::path::Path;
use std::collections::BTreeSet;
use std::sync::Arc;
use url::Url;

const REQUEST: &str =
    "QUASI IDENTIFIERS (age USING age) KEEP (sex) SATISFYING k_anonymity(2) SUPPRESSING AT MOST 50 PERCENT";

async fn session(store: &Arc<InMemory>) -> AnonContext {
    let context = context(2);
    let url = Url::parse("s3://lake").unwrap();
    context.session().register_object_store(&url, Arc::clone(store) as _);
    let people = "(31, 'f'), (32, 'f'), (33, 'm'), (41, 'm'), (42, 'm'), (55, 'm')";
    collect(
        &context,
        &format!("CREATE HIERARCHY age AS INTERVALS (10); CREATE TABLE p AS SELECT column1 AS age, column2 AS sex FROM (VALUES {people})"),
    )
    .await;
    context
}

async fn manifest(store: &InMemory, prefix: &str) -> Manifest {
    let path = Path::parse(format!("{prefix}/_manifest.json")).unwrap();
    serde_json::from_slice(&store.get(&path).await.unwrap().bytes().await.unwrap()).unwrap()
}

/// The manifest of the prefix names the files of several runs. Readers read all these files, and
/// VACUUM does not delete them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_release_has_the_files_of_several_runs() {
    let store = Arc::new(InMemory::new());
    let context = session(&store).await;
    for (name, how) in [("flat", ""), ("parts", "PARTITIONED BY (sex)")] {
        let url = format!("s3://lake/{name}");
        for night in 1..=3u64 {
            let found = collect(&context, &format!("ANONYMIZE p TO '{url}' APPEND {how} {REQUEST}")).await;
            let batch = &found[0];
            let of = |column: &str| {
                let column = batch.column_by_name(column).unwrap();
                column.as_primitive::<arrow::datatypes::UInt64Type>().value(0)
            };
            assert_eq!(
                (of("waiting"), of("rows_of_all"), of("k_of_all"), of("batches")),
                (1, 5 * night, 2 * night, night)
            );
            let released = manifest(&store, name).await;
            let runs: BTreeSet<&str> = released
                .output
                .iter()
                .map(|f| f.name.split('/').next().unwrap())
                .collect();
            assert_eq!(runs.len() as u64, night);
            let verify = format!("VERIFY '{url}' QUASI IDENTIFIERS (age USING age) SATISFYING k_anonymity(2)");
            assert!(holds(&collect(&context, &verify).await));
            collect(&context, &format!("RISK OF '{url}' QUASI IDENTIFIERS (age)")).await;
            let read = format!("ANONYMIZE '{url}' QUASI IDENTIFIERS (age) KEEP (sex) SATISFYING k_anonymity(2)");
            let rows: usize = collect(&context, &read).await.iter().map(RecordBatch::num_rows).sum();
            assert_eq!(rows as u64, 5 * night);
            collect(&context, &format!("VACUUM '{url}' RETAIN '0s'")).await;
        }
    }
    let e = context
        .sql(&format!(
            "ANONYMIZE p TO 's3://lake/plain' APPEND OPTIONS (layout 'plain') {REQUEST}"
        ))
        .await
        .unwrap_err();
    assert!(
        e.kind() == ErrorKind::Usage && e.to_string().contains("layout 'runs'"),
        "{e}"
    );
    let table = "CREATE EXTERNAL TABLE e STORED AS PARQUET LOCATION 's3://lake/flat/'; SELECT count(*) FROM e";
    assert_eq!(number(&collect(&context, table).await), 15.0);
    // OVERWRITE replaces all runs, and VACUUM then deletes them.
    collect(
        &context,
        &format!("ANONYMIZE p TO 's3://lake/flat' OVERWRITE {REQUEST}"),
    )
    .await;
    collect(&context, "VACUUM 's3://lake/flat' RETAIN '0s'").await;
    assert_eq!(manifest(&store, "flat").await.rows_out, 5);
}

/// Each of several simultaneous runs adds its batch, or ends with exit code 6.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_at_once_add_their_batch_or_lose() {
    let store = Arc::new(InMemory::new());
    let context = Arc::new(session(&store).await);
    let mut added = 0;
    for _ in 0..3 {
        let runs: Vec<_> = (0..4)
            .map(|_| {
                let context = Arc::clone(&context);
                tokio::spawn(async move {
                    let sql = format!("ANONYMIZE p TO 's3://lake/out' APPEND {REQUEST}");
                    context.sql(&sql).await.map(|_| ())
                })
            })
            .collect();
        for run in runs {
            match run.await.unwrap() {
                Ok(()) => added += 1,
                Err(e) => assert_eq!((e.kind(), e.exit_code()), (ErrorKind::Unavailable, 6), "{e}"),
            }
        }
        let released = manifest(&store, "out").await;
        assert_eq!(released.rows_out, added * 5);
    }
    assert!(added >= 3);
}

/// The files of earlier batches are recognized by their content, even under other names.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_is_added_once() {
    let context = session(&Arc::new(InMemory::new())).await;
    let scratch = tempfile::tempdir().unwrap();
    let file = |name: &str| scratch.path().join(name).display().to_string();
    collect(&context, &format!("COPY p TO '{}'", file("monday.parquet"))).await;
    std::fs::copy(file("monday.parquet"), file("copy.parquet")).unwrap();
    let add = |name: &str, options: &str| {
        format!(
            "ANONYMIZE '{}' TO 's3://lake/once' APPEND {options} {REQUEST}",
            file(name)
        )
    };
    collect(&context, &add("monday.parquet", "")).await;
    for name in ["monday.parquet", "copy.parquet"] {
        let e = context.sql(&add(name, "")).await.unwrap_err();
        let is_told = e.message().contains("nothing was added");
        assert!(e.kind() == ErrorKind::TargetExists && is_told, "{e}");
    }
    collect(&context, &add("copy.parquet", "OPTIONS (read_again true)")).await;
}

/// Rows that are held back are kept in the store, and the next batch includes them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_wait_are_kept_in_the_store() {
    let store = Arc::new(InMemory::new());
    let context = session(&store).await;
    let add = |source: &str| {
        format!(
            "ANONYMIZE {source} TO 's3://lake/grown' APPEND OPTIONS (waiting 's3://lake/waiting', read_again true) {REQUEST}"
        )
    };
    collect(&context, &add("p")).await;
    let waiting = "CREATE EXTERNAL TABLE w STORED AS PARQUET LOCATION 's3://lake/waiting/'; SELECT age FROM w";
    assert_eq!(number(&collect(&context, waiting).await), 55.0);
    // A person aged 57 shares a class with the person whose row was held back.
    let more = "(SELECT * FROM p UNION ALL SELECT 57, 'f')";
    let batch = &collect(&context, &add(more)).await[0];
    let waiting = batch.column_by_name("waiting").unwrap();
    assert_eq!(waiting.as_primitive::<arrow::datatypes::UInt64Type>().value(0), 0);
    assert_eq!(manifest(&store, "grown").await.rows_out, 5 + 8);
    let verify = "VERIFY 's3://lake/grown' QUASI IDENTIFIERS (age USING age) SATISFYING k_anonymity(2)";
    assert!(holds(&collect(&context, verify).await));
}
