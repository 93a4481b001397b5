//! Reads a release with other programs: pyarrow and DuckDB, and pandas and Spark if they are
//! installed.

use crate::common::{collect, with_paths};
use serde_json::Value;
use std::process::Command;

/// Values of every type in Parquet files, including the minimum, the maximum and NULL.
const VALUES: &str = "SELECT * FROM (VALUES \
    (1, 'a', CAST(-9223372036854775808 AS BIGINT), CAST(0.1 AS DOUBLE), CAST(0.07 AS DECIMAL(18, 2)), \
     arrow_cast('12345678901234567890123.45', 'Decimal128(25, 2)'), DATE '1582-10-15', arrow_cast('0001-01-01T00:00:00', 'Timestamp(µs)'), \
     arrow_cast('2020-01-31T10:20:30.123456', 'Timestamp(µs, \"UTC\")'), true, [1, NULL, 3]), \
    (2, 'ü \"q\"', CAST(9223372036854775807 AS BIGINT), CAST(-1e300 AS DOUBLE), arrow_cast('-9999999999999999.99', 'Decimal128(18, 2)'), \
     CAST(-0.01 AS DECIMAL(25, 2)), DATE '9999-12-31', arrow_cast('9999-12-31T23:59:59.999999', 'Timestamp(µs)'), \
     arrow_cast('1969-12-31T23:59:59.999999', 'Timestamp(µs, \"UTC\")'), false, []), \
    (3, '', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), \
    (4, NULL, CAST(0 AS BIGINT), CAST(2.5 AS DOUBLE), CAST(0 AS DECIMAL(18, 2)), CAST(1 AS DECIMAL(25, 2)), \
     DATE '1970-01-01', arrow_cast('1816-03-29T05:56:08.066277', 'Timestamp(µs)'), arrow_cast('1970-01-01T00:00:00', 'Timestamp(µs, \"UTC\")'), \
     true, [9])) AS v(id, t, i, d, n, m, day, at, zoned, b, list)";

/// The values that `read.py` must find, by row.
const ROWS: [[Option<&str>; 12]; 4] = [
    [
        Some("1"),
        Some("a"),
        Some("-9223372036854775808"),
        Some("0.1"),
        Some("0.07"),
        Some("12345678901234567890123.45"),
        Some("1582-10-15"),
        Some("0001-01-01T00:00:00.000000"),
        Some("2020-01-31T10:20:30.123456"),
        Some("True"),
        Some("[1, None, 3]"),
        Some("1-2"),
    ],
    [
        Some("2"),
        Some("ü \"q\""),
        Some("9223372036854775807"),
        Some("-1e+300"),
        Some("-9999999999999999.99"),
        Some("-0.01"),
        Some("9999-12-31"),
        Some("9999-12-31T23:59:59.999999"),
        Some("1969-12-31T23:59:59.999999"),
        Some("False"),
        Some("[]"),
        Some("1-2"),
    ],
    [
        Some("3"),
        Some(""),
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        Some("3-4"),
    ],
    [
        Some("4"),
        None,
        Some("0"),
        Some("2.5"),
        Some("0.00"),
        Some("1.00"),
        Some("1970-01-01"),
        Some("1816-03-29T05:56:08.066277"),
        Some("1970-01-01T00:00:00.000000"),
        Some("True"),
        Some("[9]"),
        Some("3-4"),
    ],
];

/// Every kept value is read back unchanged, and every label is read back as text.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_deltalake), ignore = "needs pip install deltalake duckdb pyarrow")]
async fn other_programs_read_the_values_that_were_released() {
    let context = with_paths(2);
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("out").display().to_string();
    let release = format!(
        "CREATE HIERARCHY pair AS VALUES ('1', '1-2'), ('2', '1-2'), ('3', '3-4'), ('4', '3-4'); \
         ANONYMIZE (SELECT *, id AS label FROM ({VALUES})) TO '{out}' QUASI IDENTIFIERS (label USING pair) \
         KEEP (id, t, i, d, n, m, day, at, zoned, b, list) SATISFYING k_anonymity(2)"
    );
    collect(&context, &release).await;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/readers/read.py");
    let output = Command::new("python3").args([script, &out]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = found.as_object().unwrap();
    assert!(
        found.contains_key("pyarrow") && found.contains_key("duckdb"),
        "{found:?}"
    );
    for (reader, rows) in found {
        assert_eq!(*rows, serde_json::json!(ROWS), "{reader}");
    }
}
