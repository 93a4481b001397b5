//! Tests Delta tables from outside: with commands that are killed or run at the same time, on an S3
//! server, and with other readers.

use super::{REQUEST, TABLE, VERIFY, manifest, session};
use crate::common::{collect, holds, number, process, rows};
use crate::lake_processes::command;
use crate::moto::{BUCKET, Moto, SECRET};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// A killed command leaves the previous version or the new one, and this version is complete.
#[test]
fn a_killed_run_leaves_a_whole_table() {
    let scratch = tempfile::tempdir().unwrap();
    let table = scratch.path().join("out");
    let command = |how: &str| {
        let sql = format!(
            "{TABLE}; ANONYMIZE p TO '{}' STORED AS DELTA {how} {REQUEST}",
            table.display()
        );
        let mut command = process(scratch.path());
        command.args(["--threads", "1", "-c", &sql]);
        command
    };
    let begun = Instant::now();
    assert!(command("").output().unwrap().status.success());
    let usual = begun.elapsed();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let context = runtime.block_on(session());
    for kill in 1..=6 {
        let mut run = command("OVERWRITE").spawn().unwrap();
        std::thread::sleep(usual.mul_f64(f64::from(kill) / 6.0).max(Duration::from_millis(1)));
        let _ = run.kill();
        run.wait().unwrap();
        let checks = runtime.block_on(collect(
            &context,
            &format!("VERIFY '{}' {VERIFY} AGAINST p", table.display()),
        ));
        assert!(holds(&checks), "{checks:?}");
    }
    assert!(command("OVERWRITE").output().unwrap().status.success());
    // The files of killed runs are gone. Only the log and the folders that it names remain.
    let log = std::fs::read_dir(table.join("_delta_log")).unwrap();
    let entries: String = log
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    let names = |folder: &Path| -> Vec<String> {
        let files = std::fs::read_dir(folder).unwrap();
        files
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect()
    };
    for name in names(&table) {
        let is_named = name.strip_prefix("run=").is_some_and(|run| entries.contains(run));
        assert!(is_named || name == "_delta_log" || name == "_anonsql", "{name}");
    }
    assert_eq!(names(&table.join("_anonsql")), ["manifests"]);
    for run in names(&table.join("_anonsql/manifests")) {
        assert!(entries.contains(&run), "{run}");
    }
    assert_eq!(command("").output().unwrap().status.code(), Some(5));
}

/// Runs Python with these arguments. Returns its output, parsed as JSON.
pub(super) fn python(script: &str, arguments: &[&str]) -> Value {
    // Python exits immediately, because threads of the packages sometimes abort a normal exit.
    let script = format!("{script}\nimport os\nsys.stdout.flush()\nos._exit(0)\n");
    let output = Command::new("python3")
        .args(["-c", &script])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A script that reads the rows of a version with the package deltalake, and with DuckDB through
/// this package.
const READ: &str = r#"
import json, sys, duckdb
from deltalake import DeltaTable
table = DeltaTable(sys.argv[1], version=int(sys.argv[2]))
released = table.to_pyarrow_dataset()
own = released.to_table()
names = ", ".join('"%s"' % name for name in own.column_names)
query = lambda what: duckdb.sql(f"SELECT {what} FROM {'released'} ORDER BY ALL").fetchall()
print(json.dumps({
    "rows": own.num_rows, "duckdb": query("count(*)")[0][0], "columns": own.column_names,
    "sum": str(query("sum(x)")[0][0]), "parts": [row[0] for row in query("DISTINCT part")],
    "times": [str(row[0]) for row in query("min(t)")],
}, default=str))
"#;

/// The Python packages deltalake and DuckDB read the released rows: after a new release, after
/// OVERWRITE, and from the previous version.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_deltalake), ignore = "needs pip install deltalake duckdb pyarrow")]
async fn other_readers_read_the_rows_of_the_manifest() {
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    let table = scratch.path().join("a b");
    let source = |n: u32| {
        format!(
            "(SELECT value % 9 AS age, value AS x, arrow_cast(value % 5, 'UInt32') AS u, to_timestamp(value) AS t, \
             CASE value % 4 WHEN 0 THEN NULL WHEN 1 THEN '50% a/b' WHEN 2 THEN '*=ü' ELSE '[1, 2]' END AS part FROM range(0, {n}))"
        )
    };
    let to = table.display().to_string();
    let keep = "QUASI IDENTIFIERS (age USING age) KEEP (x, u, t, part) SATISFYING k_anonymity(3)";
    for (version, n, how) in [(0, 1000, ""), (1, 700, "OVERWRITE")] {
        let sql = format!(
            "ANONYMIZE {} TO '{to}' STORED AS DELTA PARTITIONED BY (part) {how} OPTIONS (rows_per_file 100) {keep}",
            source(n)
        );
        collect(&context, &sql).await;
        assert_eq!(manifest(&table, version).rows_out, u64::from(n));
    }
    // APPEND adds 300 rows to those of the previous version.
    let add = format!(
        "ANONYMIZE {} TO '{to}' STORED AS DELTA PARTITIONED BY (part) APPEND OPTIONS (rows_per_file 100) {keep}",
        source(1000).replace("range(0, 1000)", "range(700, 1000)")
    );
    collect(&context, &add).await;
    assert_eq!(manifest(&table, 2).rows_out, 1000);
    for (version, n) in [("0", 1000u64), ("1", 700), ("2", 1000)] {
        let read = python(READ, &[&to, version]);
        assert_eq!((&read["rows"], &read["duckdb"]), (&json!(n), &json!(n)));
        assert_eq!(read["sum"], json!((n * (n - 1) / 2).to_string()));
        assert_eq!(read["columns"], json!(["age", "x", "u", "t", "part"]));
        assert_eq!(read["parts"], json!(["*=ü", "50% a/b", "[1, 2]", null]));
        assert!(
            read["times"][0].as_str().unwrap().starts_with("1970-01-01 00:00:00"),
            "{read}"
        );
        let own = collect(
            &context,
            &format!("SELECT sum(x) FROM delta.'{to}@v{version}' WHERE part = '50% a/b'"),
        )
        .await;
        assert_eq!(number(&own), (0..n).filter(|x| x % 4 == 1).sum::<u64>() as f64);
    }
}

/// Tables that the package deltalake wrote can be used as sources. They have partitions of several
/// types, appended rows and deleted rows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_deltalake), ignore = "needs pip install deltalake duckdb pyarrow")]
async fn tables_of_other_writers_are_sources() {
    let script = r#"
import sys, datetime, pyarrow as pa
from deltalake import DeltaTable, write_deltalake
def rows(n): return pa.table({"age": pa.array(range(n), pa.int64()), "day": [datetime.date(2026, 1, 1 + i % 3) for i in range(n)],
    "city": [None if i % 5 == 0 else "ü/%d" % (i % 2) for i in range(n)]})
write_deltalake(sys.argv[1], rows(60), partition_by=["day", "city"])
write_deltalake(sys.argv[1], rows(30), mode="append")
DeltaTable(sys.argv[1]).delete("age >= 50")
DeltaTable(sys.argv[1]).create_checkpoint()
print(DeltaTable(sys.argv[1]).version())
"#;
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    let table = scratch.path().join("people").display().to_string();
    assert_eq!(python(script, &[&table]), json!(2));
    for (from, expected) in [
        (format!("delta.'{table}'"), 80.0),
        (format!("delta.'{table}@v0'"), 60.0),
        (format!("delta.'{table}@v1'"), 90.0),
        (format!("delta.'{table}' WHERE day = DATE '2026-01-02'"), 27.0),
        (format!("delta.'{table}' WHERE city IS NULL"), 16.0),
    ] {
        let read = collect(&context, &format!("SELECT count(*) FROM {from}")).await;
        assert_eq!(number(&read), expected, "{from}");
    }
    let sql = format!(
        "ANONYMIZE delta.'{table}' VERSION AS OF 1 QUASI IDENTIFIERS (age USING age, city) KEEP (day) SATISFYING k_anonymity(2)"
    );
    assert_eq!(rows(&collect(&context, &sql).await), 90);
}

/// Tests a table on an S3 server: anonsql accesses the store by itself, only one of several
/// processes succeeds, and no output contains a credential.
#[test]
#[cfg_attr(not(has_moto), ignore = "needs moto_server: pip install 'moto[server]'")]
fn a_table_on_a_server() {
    let moto = Moto::start();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let url = format!("s3://{BUCKET}/tables/out");
    let run = |sql: &str| {
        let sql = format!("{TABLE}; {sql}");
        command(scratch.path(), &moto, &sql).spawn().unwrap()
    };
    let sql = format!("ANONYMIZE p TO '{url}' STORED AS DELTA {REQUEST}");
    let runs: Vec<_> = (0..3).map(|_| run(&sql)).collect();
    let ended: Vec<_> = runs.into_iter().map(|run| run.wait_with_output().unwrap()).collect();
    let mut codes: Vec<_> = ended.iter().map(|output| output.status.code()).collect();
    codes.sort();
    assert_eq!(codes, [Some(0), Some(5), Some(5)]);
    for output in &ended {
        let said = [&output.stdout[..], &output.stderr].concat();
        assert!(!String::from_utf8_lossy(&said).contains(SECRET));
    }
    let found = runtime.block_on(moto.names("tables"));
    assert_eq!(found.len(), 3, "{found:?}");
    for sql in [
        format!("VERIFY '{url}' {VERIFY} AGAINST p"),
        format!(
            "ANONYMIZE delta.'{url}' VERSION AS OF 0 TO '{url}2' STORED AS DELTA QUASI IDENTIFIERS (age) KEEP (sex) SATISFYING k_anonymity(3)"
        ),
        format!("VERIFY '{url}2' QUASI IDENTIFIERS (age) SATISFYING k_anonymity(3)"),
    ] {
        let output = run(&sql).wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
