//! Tests values that the log of a table cannot represent exactly, and decimals beyond 64 bits.

use super::outside::python;
use super::{action, commit, deletion_vector, entry};
use crate::common::{collect, context, holds, number, rows};
use anonsql::manifest::Manifest;
use serde_json::{Value, json};

/// Decimals of every scale whose digits exceed 64 bits are released from a table as from a file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn decimals_beyond_64_bits_are_released() {
    let context = context(2);
    let scratch = tempfile::tempdir().unwrap();
    let (table, from_table) = (scratch.path().join("wide"), scratch.path().join("again"));
    let wide = "(SELECT value % 10 AS k, CAST('10000000000000000000' AS DECIMAL(38, 0)) + value AS d, \
         CAST('12345678901.5' AS DECIMAL(38, 18)) + value AS e, \
         -CAST('99999999999999999999' AS DECIMAL(38, 0)) - value AS m FROM range(0, 200))";
    let request = "QUASI IDENTIFIERS (k) KEEP (d, e, m) SATISFYING k_anonymity(2)";
    collect(
        &context,
        &format!("ANONYMIZE {wide} TO '{}' STORED AS DELTA {request}", table.display()),
    )
    .await;
    let source = format!("delta.'{}'", table.display());
    for stored in [
        "STORED AS PARQUET",
        "STORED AS DELTA",
        "STORED AS CSV",
        "PARTITIONED BY (k)",
    ] {
        let to = from_table.join(stored.replace(' ', "_"));
        let to = to.display();
        collect(&context, &format!("ANONYMIZE {source} TO '{to}' {stored} {request}")).await;
        let checks = collect(
            &context,
            &format!("VERIFY '{to}' QUASI IDENTIFIERS (k) SATISFYING k_anonymity(2) AGAINST {source}"),
        )
        .await;
        assert!(holds(&checks), "{stored}: {checks:?}");
    }
    assert_eq!(
        rows(&collect(&context, &format!("ANONYMIZE {source} {request}")).await),
        200
    );

    // The same table gets a deletion vector, which is applied each time the rows are read.
    let added = action(&entry(&table, 0), "add").clone();
    let mut deleted = added.clone();
    deleted["deletionVector"] = deletion_vector(&[1, 4]);
    let vectors = ["deletionVectors"];
    commit(
        &table,
        1,
        &[
            json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": vectors, "writerFeatures": vectors}}),
            json!({"remove": {"path": added["path"], "dataChange": true, "deletionTimestamp": 0}}),
            json!({"add": deleted}),
        ],
    );
    let to = from_table.join("fewer");
    collect(&context, &format!("ANONYMIZE {source} TO '{}' {request}", to.display())).await;
    assert_eq!(Manifest::read(&to).unwrap().unwrap().rows_out, 198);
}

/// Replaces the statistics of the only file of a table.
fn with_statistics(table: &std::path::Path, statistics: &Value) {
    let mut actions = entry(table, 0);
    for action in &mut actions {
        if let Some(added) = action.get_mut("add") {
            added["stats"] = json!(statistics.to_string());
        }
    }
    commit(table, 0, &actions);
}

/// In the log, the bounds of decimals and doubles are rounded, the bounds of times and texts are
/// truncated, and no bound includes NaN. No row is lost because of these bounds. The bounds of
/// whole numbers and dates are used to skip files.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rounded_bounds_lose_no_rows() {
    let context = context(2);
    let scratch = tempfile::tempdir().unwrap();
    let table = scratch.path().join("t");
    let from = "(SELECT value AS k, CAST('12345678901234567.89' AS DECIMAL(38, 2)) AS d, \
         CASE WHEN value = 0 THEN CAST('NaN' AS DOUBLE) ELSE 1.5 END AS f, \
         arrow_cast('2026-01-31T10:00:00.000999', 'Timestamp(Microsecond, None)') AS t, \
         'a very long text that is cut after its first letters' AS s, CAST('2026-01-31' AS DATE) AS day FROM range(0, 4))";
    let request = "QUASI IDENTIFIERS (s) KEEP (k, d, f, t, day) SATISFYING k_anonymity(2)";
    collect(
        &context,
        &format!("ANONYMIZE {from} TO '{}' STORED AS DELTA {request}", table.display()),
    )
    .await;
    with_statistics(
        &table,
        &json!({
            "numRecords": 4,
            "minValues": {"k": 0, "d": 1.234_567_890_123_457e16, "f": 1.5, "t": "2026-01-31T10:00:00.000Z", "s": "a very", "day": "2026-01-31"},
            "maxValues": {"k": 3, "d": 1.234_567_890_123_456_8e16, "f": 1.5, "t": "2026-01-31T10:00:00.000Z", "s": "a very", "day": "2026-01-31"},
            "nullCount": {"k": 0, "d": 0, "f": 0, "t": 0, "s": 0, "day": 0},
        }),
    );
    for (filter, expected) in [
        ("d = 12345678901234567.89", 4.0),
        ("d <= 12345678901234567.89", 4.0),
        ("d < 12345678901234568", 4.0),
        ("d BETWEEN 12345678901234567.88 AND 12345678901234567.90", 4.0),
        ("d IN (12345678901234567.89)", 4.0),
        ("f > 2.0", 1.0),
        ("isnan(f)", 1.0),
        ("t > TIMESTAMP '2026-01-31 10:00:00.000500'", 4.0),
        ("t = TIMESTAMP '2026-01-31 10:00:00.000999'", 4.0),
        ("s > 'a very lo'", 4.0),
        ("s LIKE '%letters'", 4.0),
        ("k < 2.5 AND d > 12345678901234567.8", 3.0),
        ("k = 7 OR d = 12345678901234567.89", 4.0),
        ("k = 7", 0.0),
        ("day = DATE '2026-01-30'", 0.0),
    ] {
        let counted = collect(
            &context,
            &format!("SELECT count(*) FROM delta.'{}' WHERE {filter}", table.display()),
        )
        .await;
        assert_eq!(number(&counted), expected, "{filter}");
    }
    // The bounds of whole numbers in the log are trusted, so the file is not read.
    let mut wrong = serde_json::from_str::<Value>(action(&entry(&table, 0), "add")["stats"].as_str().unwrap()).unwrap();
    wrong["minValues"]["k"] = json!(100);
    wrong["maxValues"]["k"] = json!(200);
    with_statistics(&table, &wrong);
    let counted = collect(
        &context,
        &format!("SELECT count(*) FROM delta.'{}' WHERE k = 2", table.display()),
    )
    .await;
    assert_eq!(number(&counted), 0.0);
}

/// A filter on a value never matches the partition of NULL. Filters on decimals and dates find
/// their partitions.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn partitions_are_filtered_as_rows_are() {
    let context = context(2);
    let scratch = tempfile::tempdir().unwrap();
    let table = scratch.path().join("t");
    let from = "(SELECT value % 2 AS k, CASE WHEN value < 4 THEN NULL ELSE CAST(value / 4 AS DECIMAL(9, 2)) / 1 END AS p FROM range(0, 12))";
    let from = from.replace(" / 1 END", " END");
    let request = "PARTITIONED BY (p) QUASI IDENTIFIERS (k) KEEP (p) SATISFYING k_anonymity(2)";
    collect(
        &context,
        &format!("ANONYMIZE {from} TO '{}' STORED AS DELTA {request}", table.display()),
    )
    .await;
    for (filter, expected) in [
        ("p = 1.0", 4.0),
        ("p <> 1.00", 4.0),
        ("NOT (p = 1)", 4.0),
        ("p > 0.5", 8.0),
        ("p IS NULL", 4.0),
        ("p IN (1.0, 2.0)", 8.0),
        ("p <> 1 OR k = 0", 8.0),
        ("p IS DISTINCT FROM 1.0", 8.0),
    ] {
        let counted = collect(
            &context,
            &format!("SELECT count(*) FROM delta.'{}' WHERE {filter}", table.display()),
        )
        .await;
        assert_eq!(number(&counted), expected, "{filter}");
    }
}

/// The package deltalake writes the bounds of decimals as doubles. No row is lost because of these
/// bounds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_deltalake), ignore = "needs pip install deltalake duckdb pyarrow")]
async fn decimals_of_other_writers_are_found() {
    let script = r#"
import sys, pyarrow as pa
from decimal import Decimal as D
from deltalake import write_deltalake
for part in range(2):
    n = range(part * 100, part * 100 + 100)
    write_deltalake(sys.argv[1], pa.table({"k": pa.array([i % 10 for i in n], pa.int32()),
        "amount": pa.array([D("1234567.89") + i for i in n], pa.decimal128(18, 2)),
        "large": pa.array([D("12345678901234567.89") + i for i in n], pa.decimal128(38, 2)),
        "wide": pa.array([D(10) ** 19 + i for i in n], pa.decimal128(38, 0))}), mode="append")
print(1)
"#;
    let context = context(2);
    let scratch = tempfile::tempdir().unwrap();
    let table = scratch.path().join("t").display().to_string();
    python(script, &[&table]);
    for (filter, expected) in [
        ("amount = 1234567.89", 1.0),
        ("large = 12345678901234567.89", 1.0),
        ("large >= 12345678901234766.89", 1.0),
        (
            "wide BETWEEN CAST('10000000000000000000' AS DECIMAL(38, 0)) AND CAST('20000000000000000000' AS DECIMAL(38, 0))",
            200.0,
        ),
        ("wide = 10000000000000000001", 1.0),
        ("wide = 10000000000000000001.0", 1.0),
    ] {
        let counted = collect(
            &context,
            &format!("SELECT count(*) FROM delta.'{table}' WHERE {filter}"),
        )
        .await;
        assert_eq!(number(&counted), expected, "{filter}");
    }
    let request = "QUASI IDENTIFIERS (k) KEEP (amount, large, wide) SATISFYING k_anonymity(2)";
    let to = scratch.path().join("released");
    collect(
        &context,
        &format!("ANONYMIZE '{table}' TO '{}' {request}", to.display()),
    )
    .await;
}
