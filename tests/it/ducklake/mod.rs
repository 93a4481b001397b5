//! Tests DuckLake tables as sources. Each snapshot gives the same rows as in DuckDB. Snapshots that
//! would be read incorrectly are refused.
//!
//! DuckDB wrote the lake: see make.py. Its data path is relative to the folder of the package, the
//! working directory of the tests.

use crate::common::{collect, context, rows};
use crate::sources::Watches;
use anonsql::AnonContext;
use anonsql::Phase;
use anonsql::error::{Error, ErrorKind};
use anonsql::manifest::Manifest;
use arrow::array::{AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use std::path::Path;
use std::sync::Arc;

const LAKE: &str = "tests/it/ducklake/lake/lake.sqlite";
const REQUEST: &str =
    "IDENTIFIERS (job, name) QUASI IDENTIFIERS (age USING age) KEEP (gender) SATISFYING k_anonymity(3)";
const SNAPSHOTS: u64 = 52;

async fn session() -> AnonContext {
    let context = context(2);
    collect(&context, "CREATE HIERARCHY age AS INTERVALS (10)").await;
    context
}

/// Returns the only value in the result of a statement; `None` for NULL.
fn value(batches: &[RecordBatch]) -> Option<f64> {
    let numbers = cast(batches[0].column(0), &DataType::Float64).unwrap();
    let numbers = numbers.as_primitive::<Float64Type>();
    numbers.iter().next().unwrap()
}

async fn refused(context: &AnonContext, sql: &str, said: &str) -> Error {
    let e = context.sql(sql).await.unwrap_err();
    assert!(e.to_string().contains(said), "{sql}: {e}");
    e
}

/// Copies the catalog to a path with characters that a URL escapes. Its data files stay where they
/// are.
fn copied(folder: &Path) -> String {
    let catalog = folder.join("a lake#1%.sqlite");
    std::fs::copy(LAKE, &catalog).unwrap();
    catalog.display().to_string()
}

/// For every snapshot, the figures equal the figures of DuckDB. The snapshots have delete files,
/// rows in the catalog, deleted rows, partitions, merged files and files from other writers. In
/// some of them, columns were added, dropped, renamed or given another type.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_snapshot_is_read_as_duckdb_reads_it() {
    let context = session().await;
    let expected = std::fs::read("tests/it/ducklake/lake/expected.json").unwrap();
    let expected: Vec<(String, u64, String, Option<f64>)> = serde_json::from_slice(&expected).unwrap();
    assert!(expected.iter().any(|(.., number)| number.is_none()));
    let mut wrong = vec![];
    for (table, snapshot, expression, number) in &expected {
        let sql = format!("SELECT {expression} FROM ducklake.'{LAKE}#{table}' VERSION AS OF {snapshot}");
        match context.sql(&sql).await {
            Ok(read) if value(&read) == *number => {}
            Ok(read) => wrong.push(format!("{sql}: {:?} and not {number:?}", value(&read))),
            // Snapshots between the change of the columns and the flush are refused. Values of
            // types that are not read from the catalog are refused, too.
            Err(e)
                if ["flushed", "few"].contains(&table.as_str())
                    && e.to_string().contains("ducklake_flush_inlined_data") => {}
            Err(e) if table == "typed" && e.to_string().contains("a type or a feature") => {}
            Err(e) if table == "added" && e.to_string().contains("outside of the data path") => {}
            Err(e) => wrong.push(format!("{sql}: {e}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), expected.len());
    let newest = expected.iter().filter(|(_, snapshot, ..)| *snapshot == SNAPSHOTS);
    for (table, _, expression, number) in newest {
        if ["few", "typed", "added"].contains(&table.as_str()) {
            continue;
        }
        let read = collect(&context, &format!("SELECT {expression} FROM ducklake.'{LAKE}#{table}'")).await;
        assert_eq!(value(&read), *number, "{table} {expression}");
    }
}

/// Values of every type are read from files.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_are_read_by_their_types() {
    let context = session().await;
    for table in ["many"] {
        let from = format!("FROM ducklake.'{LAKE}#{table}'");
        let times = 2.0_f64.min(value(&collect(&context, &format!("SELECT count(*) / 3 {from}")).await).unwrap());
        for which in [
            "i = 1 AND d = 1.25 AND f = 1.5 AND day = DATE '2026-01-31' AND ok AND u = 18446744073709551615",
            "i = 1 AND t = TIMESTAMP '2026-01-31 18:00:00.123456'",
            "i = 1 AND z = TIMESTAMP '2026-01-31T17:00:00Z'",
            "i = 2 AND isnan(f) AND d IS NULL AND day IS NULL AND NOT ok",
            "i IS NULL AND d = -0.01 AND f = CAST('-inf' AS DOUBLE) AND day = DATE '1969-12-31' AND u IS NULL",
            "t = TIMESTAMP '1969-12-31 23:59:59.5'",
        ] {
            let read = collect(&context, &format!("SELECT count(*) {from} WHERE {which}")).await;
            assert_eq!(value(&read), Some(times), "{table}: {which}");
        }
    }
}

/// Filters and limits give correct results: no bound in the catalog excludes a matching row.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bounds_of_the_catalog_leave_no_row_out() {
    let context = session().await;
    for (query, expected) in [
        (
            "SELECT count(*) FROM ducklake.'LAKE#people' WHERE age > 4000000000",
            30.0,
        ),
        ("SELECT count(*) FROM ducklake.'LAKE#people' WHERE name = 3", 1.0),
        ("SELECT count(*) FROM ducklake.'LAKE#people' WHERE job = 'none'", 94.0),
        ("SELECT count(*) FROM ducklake.'LAKE#parts' WHERE sex IS NULL", 2.0),
        (
            "SELECT count(*) FROM (SELECT * FROM ducklake.'LAKE#merged' ORDER BY age DESC LIMIT 3) WHERE age > 36",
            3.0,
        ),
        (
            "SELECT count(*) FROM ducklake.'LAKE#people@v4' AS a JOIN ducklake.'LAKE#hr.people' b ON a.age = b.age + 98",
            1.0,
        ),
    ] {
        let sql = query.replace("LAKE", LAKE);
        let read = collect(&context, &sql).await;
        assert_eq!(value(&read), Some(expected), "{sql}");
    }
}

/// A statement reads one snapshot. The manifest names the table, its snapshot and its files.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_release_is_of_one_snapshot() {
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("out");
    let people = format!("ducklake.'{LAKE}#people'");
    let release = |from: &str| format!("ANONYMIZE {from} TO '{}' OVERWRITE {REQUEST}", out.display());
    collect(&context, &release(&people)).await;
    let released = Manifest::read(&out).unwrap().unwrap();
    assert_eq!((released.rows_in, released.rows_out), (Some(164), 164));
    let [table, files @ ..] = released.input.as_slice() else {
        panic!("no inputs");
    };
    assert_eq!(table.name, format!("{LAKE}#main.people"));
    assert_eq!(table.version, Some(SNAPSHOTS.to_string()));
    assert_eq!(table.e_tag, None);
    assert!(files.len() > 2 && files.iter().all(|file| file.sha256.len() == 64));
    assert_eq!(table.bytes, files.iter().map(|file| file.bytes).sum::<u64>());
    assert!(files.iter().any(|file| file.name.ends_with("-delete.parquet")));
    for sql in [
        format!(
            "VERIFY '{}' QUASI IDENTIFIERS (age USING age) SATISFYING k_anonymity(3) AGAINST {people}",
            out.display()
        ),
        format!("VERIFY {people} QUASI IDENTIFIERS (gender) SATISFYING k_anonymity(3)"),
        format!("RISK OF {people} VERSION AS OF {SNAPSHOTS} QUASI IDENTIFIERS (age)"),
        format!("UTILITY OF '{}' AGAINST {people}", out.display()),
        format!("SUGGEST ROLES FOR {people}"),
    ] {
        collect(&context, &sql).await;
    }
    for (from, expected) in [
        (format!("{people} VERSION AS OF 2 IDENTIFIERS (sex, name)"), 100),
        (format!("(SELECT age FROM ducklake.'{LAKE}#main.people@v2')"), 100),
        (
            format!("{people} TIMESTAMP AS OF '2199-01-01' IDENTIFIERS (gender, job, name)"),
            164,
        ),
        (
            format!("(SELECT p.age FROM {people} VERSION AS OF 3 AS p WHERE age < 200)"),
            94,
        ),
    ] {
        let sql = format!("ANONYMIZE {from} QUASI IDENTIFIERS (age) SATISFYING k_anonymity(1)");
        assert_eq!(rows(&collect(&context, &sql).await), expected, "{from}");
    }
}

/// The manifest distinguishes snapshots with the same files and different rows in the catalog:
/// added rows, and rows of a file that the catalog lists as deleted. A later snapshot with the same
/// rows has another number but the same checksum.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_of_the_catalog_have_a_checksum() {
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    let mut told = vec![];
    for snapshot in [13, 14, 15, 16, 17, 18, SNAPSHOTS] {
        let out = scratch.path().join(snapshot.to_string());
        let sql = format!(
            "ANONYMIZE ducklake.'{LAKE}#inlined' VERSION AS OF {snapshot} TO '{}' IDENTIFIERS (name, sex) \
             QUASI IDENTIFIERS (age USING age) SATISFYING k_anonymity(1)",
            out.display()
        );
        collect(&context, &sql).await;
        let input = Manifest::read(&out).unwrap().unwrap().input;
        let files: Vec<_> = input[1..].iter().map(|file| file.sha256.clone()).collect();
        told.push((input[0].e_tag.clone().unwrap(), files));
    }
    assert_eq!(told[3].1, told[4].1);
    assert_eq!(told[4], told[5]);
    assert_eq!(told[5], told[6]);
    for (i, before) in told[..5].iter().enumerate() {
        assert!(!told[i + 1..5].contains(before), "{i}");
    }
}

/// Commits by other programs during a run do not affect the run. If another program expires the
/// snapshot of the run, the run ends with an error.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_is_pinned_to_its_snapshot() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("out");
    let catalog = copied(scratch.path());
    for (snapshot, is_gone) in [(SNAPSHOTS, false), (8, true)] {
        std::fs::copy(LAKE, &catalog).unwrap();
        let path = catalog.clone();
        let observer = Watches::new(Phase::Write, move || {
            // DuckDB expired all snapshots except the last few.
            let expired = std::fs::read("tests/it/ducklake/lake/expired.sqlite").unwrap();
            std::fs::write(&path, expired).unwrap();
        });
        let context = session().await.with_observer(Arc::new(observer));
        let sql = format!(
            "ANONYMIZE ducklake.'{catalog}#people' VERSION AS OF {snapshot} TO '{}' OVERWRITE {REQUEST}",
            out.display()
        );
        match is_gone {
            false => drop(collect(&context, &sql).await),
            true => {
                let e = refused(&context, &sql, "expired or compacted in the meantime").await;
                assert_eq!(e.kind(), ErrorKind::Data, "{e}");
            }
        }
    }
    // The previous release is still in place.
    assert_eq!(Manifest::read(&out).unwrap().unwrap().rows_out, 164);
}

/// It is an error if the crate would read a snapshot incorrectly, or cannot read it. The error
/// recommends an action and quotes no value.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_read_is_refused() {
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    let risk = |place: &str| format!("RISK OF (SELECT * FROM ducklake.'{place}') QUASI IDENTIFIERS (age)");
    let expired = LAKE.replace("/lake.sqlite", "/expired.sqlite");
    let encrypted = LAKE.replace("/lake.sqlite", "/encrypted.sqlite");
    for (place, said) in [
        (
            format!("{LAKE}#renamed"),
            "other columns; CALL ducklake_flush_inlined_data",
        ),
        (
            format!("{LAKE}#swapped"),
            "other columns; CALL ducklake_flush_inlined_data",
        ),
        (
            format!("{expired}#renamed"),
            "other columns; CALL ducklake_flush_inlined_data",
        ),
        (
            format!("{LAKE}#few"),
            "not read there; CALL ducklake_flush_inlined_data",
        ),
        (format!("{LAKE}#typed"), "a type or a feature"),
        (format!("{LAKE}#added"), "outside of the data path"),
        (format!("{encrypted}#people"), "encrypted"),
        (format!("{LAKE}#v"), "it is a view"),
        (format!("{LAKE}#peple"), "people"),
        (format!("{LAKE}#hh.people"), "schema"),
        (LAKE.to_string(), "names no table"),
        (format!("{LAKE}#people@v0"), "table"),
        (format!("{LAKE}#people@v99"), "no snapshot 99"),
        (format!("{expired}#people@v8"), "no snapshot 8"),
        (format!("{LAKE}#people@1999-01-01"), "did not exist"),
        ("tests/it/ducklake/make.py#people".into(), "is not an SQLite file"),
        ("nowhere.sqlite#people".into(), "nowhere.sqlite"),
        ("s3://lake/metadata.sqlite#people".into(), "local SQLite file"),
        (
            "postgres:dbname=lake password=Quixotica#people".into(),
            "local SQLite file",
        ),
    ] {
        let e = refused(&context, &risk(&place), said).await;
        assert!(!format!("{e:?}").contains("Quixotica"), "{e}");
        let e = refused(&context, &format!("SELECT * FROM ducklake.'{place}'"), said).await;
        assert!(!format!("{e:?}").contains("Quixotica"), "{e}");
    }
    let newer = format!("SELECT post FROM ducklake.'{LAKE}#flushed' ORDER BY age");
    let newer = collect(&context, &newer).await;
    let newer = cast(newer[0].column(0), &DataType::Utf8).unwrap();
    assert_eq!(newer.as_string::<i32>().value(0), "a");

    let duckdb = scratch.path().join("a.ducklake");
    std::fs::write(&duckdb, b"12345678DUCK....................").unwrap();
    refused(
        &context,
        &risk(&format!("{}#people", duckdb.display())),
        "is a DuckDB file",
    )
    .await;

    // The path contains characters with a special meaning in URLs. The catalogs that follow are
    // damaged.
    let catalog = copied(scratch.path());
    collect(&context, &risk(&format!("{catalog}#people"))).await;
    let whole = std::fs::read(&catalog).unwrap();
    let patched = |from: &str, to: &str| {
        let (from, to) = (from.as_bytes(), to.as_bytes());
        assert_eq!(from.len(), to.len());
        let mut bytes = whole.clone();
        let found: Vec<usize> = (0..bytes.len() - from.len())
            .filter(|at| bytes[*at..].starts_with(from))
            .collect();
        assert!(!found.is_empty());
        for at in found {
            bytes[at..at + to.len()].copy_from_slice(to);
        }
        std::fs::write(&catalog, bytes).unwrap();
    };
    patched("version1.0", "version9.0");
    refused(&context, &risk(&format!("{catalog}#people")), "version \"9.0\"").await;
    patched("tests/it/ducklake/lake/data/", "tests/it/ducklake/lake/gone/");
    let e = refused(&context, &risk(&format!("{catalog}#people")), "is missing").await;
    assert_eq!(e.kind(), ErrorKind::Data, "{e}");
    patched("tests/it/ducklake/lake/data/", "s3://anna:Quixotica@bucket/d");
    let e = refused(&context, &risk(&format!("{catalog}#people")), "user name or a password").await;
    assert!(!format!("{e:?}").contains("Quixotica"), "{e}");
    patched("2026-01-31 18:00:00.123456", "Quixotica-01-31 8:00:00.12");
    let e = context
        .sql(&risk(&format!("{catalog}#few")).replace("age", "t"))
        .await
        .unwrap_err();
    assert!(!format!("{e:?}").contains("Quixotica"), "{e}");
    std::fs::write(&catalog, &whole[..1024]).unwrap();
    refused(&context, &risk(&format!("{catalog}#people")), "damaged").await;
}

/// Decimals beyond 64 bits are released from files, delete files and rows in the catalog. The rows
/// are read more than twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn decimals_beyond_64_bits_are_released() {
    let context = session().await;
    for table in ["people", "inlined"] {
        let source = format!(
            "(SELECT age % 2 AS age, CAST('10000000000000000000' AS DECIMAL(38, 0)) + age AS d FROM ducklake.'{LAKE}#{table}')"
        );
        let all = value(&collect(&context, &format!("SELECT count(*) FROM {source}")).await);
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("out");
        let request = "QUASI IDENTIFIERS (age) KEEP (d) SATISFYING k_anonymity(2)";
        collect(&context, &format!("ANONYMIZE {source} TO '{}' {request}", to.display())).await;
        let manifest = Manifest::read(&to).unwrap().unwrap();
        assert_eq!(Some(manifest.rows_out as f64), all, "{table}");
    }
}
