//! Tests many columns and many values. Neither time nor memory grows faster than their numbers.

use super::common::{collect, context, number};
use std::fmt::Write;

/// A row has two quasi-identifiers and two thousand columns that are released unchanged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_columns_are_kept() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("release").display().to_string();
    let context = context(2);
    let kept: Vec<String> = (0..2_000).map(|c| format!("k{c}")).collect();
    let values: Vec<String> = (0..2_000)
        .map(|c| match c % 3 {
            0 => format!("value % {} AS k{c}", c + 2),
            1 => format!("'t' || (value * {c} % 11) AS k{c}"),
            _ => format!("CASE WHEN value % 5 = 0 THEN NULL ELSE value * 0.5 + {c} END AS k{c}"),
        })
        .collect();
    let table = format!(
        "CREATE TABLE wide AS SELECT value % 4 AS a, value % 3 AS b, {} FROM generate_series(1, 600)",
        values.join(", ")
    );
    collect(&context, &table).await;
    let sql = format!(
        "ANONYMIZE wide TO '{target}' QUASI IDENTIFIERS (a, b) KEEP ({}) SATISFYING k_anonymity(5)",
        kept.join(", ")
    );
    collect(&context, &sql).await;
    let stored = format!("CREATE EXTERNAL TABLE released STORED AS PARQUET LOCATION '{target}/part-00000.parquet'");
    collect(&context, &stored).await;
    let columns: Vec<String> = ["a".into(), "b".into()].into_iter().chain(kept).collect();
    // Every twentieth column is compared, and also the first and the last columns.
    let some: Vec<&String> = columns[..1_990].iter().step_by(20).chain(&columns[1_990..]).collect();
    let texts: Vec<String> = some.iter().map(|c| format!("arrow_cast({c}, 'Utf8') AS {c}")).collect();
    let select = |table: &str| format!("SELECT {} FROM {table}", texts.join(", "));
    for (one, other) in [("wide", "released"), ("released", "wide")] {
        let differing = format!("SELECT count(*) FROM ({} EXCEPT {})", select(one), select(other));
        assert_eq!(
            number(&collect(&context, &differing).await),
            0.0,
            "rows of {one} that {other} has not"
        );
    }
    assert_eq!(number(&collect(&context, "SELECT count(*) FROM released").await), 600.0);
}

/// A hierarchy lists a million values, and a table contains a tenth of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hierarchy_has_a_million_values() {
    let scratch = tempfile::tempdir().unwrap();
    let (file, target) = (scratch.path().join("codes.csv"), scratch.path().join("release"));
    let mut text = String::from("code;group;part\n");
    for value in 0..1_000_000 {
        writeln!(text, "c{value};g{};p{}", value / 100, value / 10_000).unwrap();
    }
    std::fs::write(&file, text).unwrap();
    let context = context(2);
    collect(
        &context,
        &format!(
            "CREATE HIERARCHY codes FROM '{}' OPTIONS (delimiter ';')",
            file.display()
        ),
    )
    .await;
    let table = "CREATE TABLE t AS SELECT 'c' || (value * 7919 % 1000000) AS code, value % 2 AS sex FROM generate_series(0, 99999)";
    collect(&context, table).await;
    let sql = format!(
        "ANONYMIZE t TO '{}' QUASI IDENTIFIERS (code USING codes, sex) SATISFYING k_anonymity(5)",
        target.display()
    );
    collect(&context, &sql).await;
    let stored = format!(
        "CREATE EXTERNAL TABLE released STORED AS PARQUET LOCATION '{}/part-00000.parquet'",
        target.display()
    );
    collect(&context, &stored).await;
    // In groups of ten thousand codes, about 500 rows of each sex have the same label. In groups of
    // a hundred codes, only about five rows do.
    let least = "SELECT min(n) FROM (SELECT count(*) AS n FROM released GROUP BY code, sex)";
    assert!(number(&collect(&context, least).await) >= 5.0);
    let wrong = "SELECT count(*) FROM (SELECT code, count(*) AS n FROM released GROUP BY code) AS r \
                 FULL JOIN (SELECT 'p' || (value * 7919 % 1000000 / 10000) AS code, count(*) AS n \
                 FROM generate_series(0, 99999) GROUP BY 1) AS t ON r.code = t.code AND r.n = t.n \
                 WHERE r.code IS NULL OR t.code IS NULL";
    assert_eq!(number(&collect(&context, wrong).await), 0.0);
}
