//! Tests the requirements of every release on invented tables: classes, counts, bytes, and no raw
//! value in any file.

use crate::common::{Numbers, collect, context, number};
use anonsql::AnonContext;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Returns every file under a folder with its bytes.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut left = vec![folder.to_path_buf()];
    while let Some(next) = left.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => left.push(path),
                false => {
                    let name = path.strip_prefix(folder).unwrap().display().to_string();
                    found.insert(name, std::fs::read(&path).unwrap());
                }
            }
        }
    }
    found
}

const HIERARCHIES: &str = "
    CREATE HIERARCHY age AS INTERVALS (5, 10, 20);
    CREATE HIERARCHY zip AS PREFIX (4, 3, 2);
    CREATE HIERARCHY education FROM 'data/hierarchies/education.csv';
    CREATE HIERARCHY native_country FROM 'data/hierarchies/native_country.csv';";

const ROLES: &str = "IDENTIFIERS (name, ssn, birth_date) QUASI IDENTIFIERS (age USING age, sex, zip USING zip LEVELS 1 TO 4, \
    education USING education LEVELS 1 TO 3, native_country USING native_country) \
    SENSITIVE (occupation, income) KEEP (marital_status, race, workclass, salary_class) \
    SATISFYING k_anonymity(5) SUPPRESSING AT MOST 2 PERCENT";

async fn release(threads: usize, target: &Path, more: &str) -> AnonContext {
    let context = context(threads);
    collect(&context, HIERARCHIES).await;
    let statement = format!(
        "ANONYMIZE 'data/census.parquet' TO '{}' {more} {ROLES}",
        target.display()
    );
    collect(&context, &statement).await;
    context
}

#[tokio::test]
async fn the_same_statement_gives_the_same_bytes_whatever_the_threads() {
    let scratch = tempfile::tempdir().unwrap();
    for more in [
        "",
        "PARTITIONED BY (sex)",
        "STORED AS CSV",
        "OPTIONS (rows_per_file 10000)",
    ] {
        let target = scratch.path().join("release");
        let mut seen = vec![];
        for threads in [1, 2, 2] {
            release(threads, &target, &format!("{more} OVERWRITE")).await;
            seen.push(files(&target));
        }
        assert!(seen[0].len() > 1 && seen[0] == seen[1] && seen[1] == seen[2], "{more}");
        std::fs::remove_dir_all(&target).unwrap();
    }
}

#[tokio::test]
async fn no_raw_value_is_left_in_any_file() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("release");
    let context = release(2, &target, "").await;
    let released = files(&target);
    let raw = "SELECT DISTINCT name FROM census UNION SELECT DISTINCT ssn FROM census UNION \
        SELECT DISTINCT zip FROM census UNION SELECT DISTINCT CAST(birth_date AS VARCHAR) FROM census ORDER BY 1";
    collect(
        &context,
        "CREATE EXTERNAL TABLE census STORED AS PARQUET LOCATION 'data/census.parquet'",
    )
    .await;
    let batches = collect(&context, raw).await;
    let mut searched = 0;
    for batch in &batches {
        let values = arrow::compute::cast(batch.column(0), &arrow::datatypes::DataType::Utf8).unwrap();
        for value in arrow::array::AsArray::as_string::<i32>(&values)
            .iter()
            .flatten()
            .step_by(7)
        {
            searched += 1;
            for (name, bytes) in &released {
                // The digits of a zip code occur in checksums and numbers by chance, so only the
                // texts of the manifest are searched.
                let found = match name.ends_with(".json") {
                    true => says(&serde_json::from_slice(bytes).unwrap(), value),
                    false => memchr::memmem::find(bytes, value.as_bytes()).is_some(),
                };
                assert!(!found, "{name} holds a raw value");
            }
        }
    }
    assert!(searched > 5_000, "{searched}");
    // Parquet compresses pages, so their decoded values are searched too.
    collect(
        &context,
        &format!(
            "CREATE EXTERNAL TABLE released STORED AS PARQUET LOCATION '{}/'",
            target.display()
        ),
    )
    .await;
    let leaked = "SELECT count(*) FROM released WHERE zip IN (SELECT zip FROM census) \
        OR education IN (SELECT education FROM census)";
    assert_eq!(number(&collect(&context, leaked).await), 0.0);
    // Footers and page headers are not compressed. They name no dropped source column.
    for (name, bytes) in released.iter().filter(|(name, _)| name.ends_with(".parquet")) {
        for dropped in ["ssn", "birth_date", "ARROW:schema"] {
            assert!(
                memchr::memmem::find(bytes, dropped.as_bytes()).is_none(),
                "{name} names {dropped}"
            );
        }
    }
}

/// A row: the quasi-identifiers a, b and c, the sensitive value, and the entity.
type Row = (Option<i32>, Option<u8>, u8, u8, u8);

/// Returns true if a string in the JSON has `value` as a word.
fn says(json: &serde_json::Value, value: &str) -> bool {
    match json {
        serde_json::Value::String(text) => text
            .split(|c: char| !c.is_alphanumeric() && !" -".contains(c))
            .any(|word| word == value),
        serde_json::Value::Array(items) => items.iter().any(|item| says(item, value)),
        serde_json::Value::Object(items) => items.values().any(|item| says(item, value)),
        _ => false,
    }
}

/// A small random table with three quasi-identifiers, which may be NULL, a sensitive value and an
/// entity.
#[derive(Debug, Clone)]
struct Table {
    rows: Vec<Row>,
}

impl Table {
    fn sql(&self) -> String {
        let null = |v: Option<String>| v.unwrap_or_else(|| "NULL".into());
        let rows: Vec<String> = self
            .rows
            .iter()
            .map(|(a, b, c, s, e)| {
                let a = null(a.map(|a| a.to_string()));
                let b = null(b.map(|b| format!("'{}'", ["xa", "xb", "ya", "yb"][usize::from(b)])));
                format!("({a}, {b}, 'c{c}', 's{s}', {e})")
            })
            .collect();
        format!(
            "CREATE OR REPLACE TABLE t AS SELECT CAST(a AS INT) AS a, CAST(b AS VARCHAR) AS b, c, s, e \
             FROM (VALUES {}) AS v (a, b, c, s, e)",
            rows.join(", ")
        )
    }

    /// Returns the label of a quasi-identifier at a level, according to the hierarchies of the
    /// test. `row` and `column` are indices.
    fn label(&self, row: usize, column: usize, level: u64) -> String {
        let (a, b, c, ..) = &self.rows[row];
        let star = || "*".to_string();
        match (column, level) {
            (0, 0) => format!("{a:?}"),
            (0, 1) => a.map_or("null".into(), |a| format!("{}", a.div_euclid(5))),
            (0, 2) => a.map_or("null".into(), |a| format!("{}", a.div_euclid(10))),
            (0, _) => star(),
            (1, 0) => format!("{b:?}"),
            (1, 1) => b.map_or("null".into(), |b| format!("{}", b / 2)),
            (1, _) => star(),
            (_, 0) => c.to_string(),
            _ => star(),
        }
    }

    /// Judges a node by brute force from the definitions. Returns whether the node is anonymous,
    /// the number of suppressed rows, the number of classes, and dm.
    fn judge(&self, node: [u64; 3], k: usize, entity: bool, limit: usize) -> (bool, u64, u64, u64) {
        let mut classes: BTreeMap<[String; 3], Vec<usize>> = BTreeMap::new();
        for row in 0..self.rows.len() {
            classes
                .entry([0, 1, 2].map(|c| self.label(row, c, node[c])))
                .or_default()
                .push(row);
        }
        let size = |rows: &Vec<usize>| match entity {
            true => rows.iter().map(|r| self.rows[*r].4).collect::<BTreeSet<u8>>().len(),
            false => rows.len(),
        };
        let n = self.rows.len() as u64;
        let (mut suppressed, mut kept, mut dm) = (0, 0, 0);
        for rows in classes.values() {
            let f = rows.len() as u64;
            if size(rows) >= k {
                kept += 1;
                dm += f * f;
            } else {
                suppressed += f;
                dm += f * n;
            }
        }
        (suppressed <= limit as u64, suppressed, kept, dm)
    }
}

fn table() -> impl Strategy<Value = Table> {
    let row = (
        prop::option::weighted(0.9, 0..24i32),
        prop::option::weighted(0.9, 0..4u8),
        0..2u8,
        0..3u8,
        0..8u8,
    );
    prop::collection::vec(row, 1..60).prop_map(|rows| Table { rows })
}

const SMALL: &str = "
    CREATE HIERARCHY a AS INTERVALS (5, 10);
    CREATE HIERARCHY b AS PREFIX (1);";

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Compares every node of the lattice, and the optimum of the optimal searches, with brute
    /// force. No other search finds a lower value.
    #[test]
    fn nodes_and_optima_agree_with_brute_force(t in table(), k in 1usize..6, entity: bool, percent in 0usize..101) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let context = context(2);
            collect(&context, SMALL).await;
            collect(&context, &t.sql()).await;
            let roles = format!(
                "QUASI IDENTIFIERS (a USING a, b USING b, c) SENSITIVE (s) {} \
                 SATISFYING k_anonymity({k}) SUPPRESSING AT MOST {percent} PERCENT",
                if entity { "ENTITY (e)" } else { "KEEP (e)" }
            );
            let limit = t.rows.len() * percent / 100;
            let everyone = match entity {
                true => t.rows.iter().map(|r| r.4).collect::<BTreeSet<u8>>().len(),
                false => t.rows.len(),
            };
            if everyone < k {
                // No class can satisfy the model, so the error comes before any node is assessed.
                let refused = context.sql(&format!("LATTICE OF ANONYMIZE t {roles}")).await;
                assert_eq!(refused.unwrap_err().exit_code(), 3);
                return;
            }
            let lattice = Numbers::of(&collect(&context, &format!("LATTICE OF ANONYMIZE t {roles}")).await);
            assert_eq!(lattice.rows(), 4 * 3 * 2);
            let mut best: Option<u64> = None;
            for row in 0..lattice.rows() {
                let node = ["a", "b", "c"].map(|c| lattice.get(c, row) as u64);
                let (anonymous, suppressed, classes, dm) = t.judge(node, k, entity, limit);
                let got = ["anonymous", "suppressed", "classes", "dm"].map(|c| lattice.get(c, row) as u64);
                assert_eq!(got, [u64::from(anonymous), suppressed, classes, dm], "{node:?}");
                if anonymous {
                    best = Some(best.map_or(dm, |b| b.min(dm)));
                }
            }
            for search in ["auto", "flash", "exhaustive", "datafly", "samarati", "ola", "incognito", "ma_datafly"] {
                let sql = format!("EXPLAIN ANALYZE ANONYMIZE t {roles} MINIMIZING dm SEARCH USING {search}");
                let ran = context.sql(&sql).await;
                match (best, ran) {
                    (None, Err(e)) => assert_eq!(e.exit_code(), 3, "{e}"),
                    (Some(best), Ok(ran)) => {
                        let dm: f64 = crate::common::text(&ran, "item", "dm", "detail").parse().unwrap();
                        match search {
                            "auto" | "flash" | "exhaustive" => assert_eq!(dm, best as f64, "{search}"),
                            _ => assert!(dm >= best as f64, "{search}"),
                        }
                    }
                    (best, ran) => panic!("{search}: {best:?} but {:?}", ran.map(|_| ()).map_err(|e| e.to_string())),
                }
            }
        });
    }

    /// Classes satisfy the model, the row counts add up, and no sensitive value is more frequent
    /// than in the source, as counted by SQL.
    #[test]
    fn released_rows_hold_and_add_up(t in table(), k in 1usize..5, starred: bool) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let context = context(2);
            collect(&context, SMALL).await;
            collect(&context, &t.sql()).await;
            let sql = format!(
                "CREATE OR REPLACE TABLE released AS ANONYMIZE t IDENTIFIERS (e) \
                 QUASI IDENTIFIERS (a USING a, b USING b, c) SENSITIVE (s) SATISFYING k_anonymity({k}) \
                 SUPPRESSING AT MOST 30 PERCENT {}",
                if starred { "SUPPRESSED ROWS STARRED" } else { "" }
            );
            if let Err(e) = context.sql(&sql).await {
                assert_eq!(e.exit_code(), 3, "{e}");
                return;
            }
            let star = "a = '*' AND b = '*' AND c = '*' AND s IS NULL";
            let total = number(&collect(&context, "SELECT count(*) FROM released").await) as usize;
            let gone = match starred {
                true => number(&collect(&context, &format!("SELECT count(*) FROM released WHERE {star}")).await) as usize,
                false => t.rows.len() - total,
            };
            if starred {
                assert_eq!(total, t.rows.len());
            }
            assert!(gone <= t.rows.len() * 30 / 100);
            let rest = if starred { format!("WHERE ({star}) IS NOT TRUE") } else { String::new() };
            let least = format!("SELECT coalesce(min(n), {k}) FROM (SELECT count(*) n FROM released {rest} GROUP BY a, b, c)");
            assert!(number(&collect(&context, &least).await) >= k as f64);
            for s in 0..3 {
                let released = number(&collect(&context, &format!("SELECT count(*) FROM released WHERE s = 's{s}'")).await);
                assert!(released as usize <= t.rows.iter().filter(|r| r.3 == s).count());
            }
        });
    }
}

/// If the release has only quasi-identifiers, its rows come from the classes instead of a second
/// scan. Both ways give the same rows.
#[tokio::test]
async fn rows_from_classes_are_those_of_a_second_scan() {
    let context = context(2);
    collect(&context, HIERARCHIES).await;
    let columns = "age, sex, zip, education, native_country";
    let roles = "QUASI IDENTIFIERS (age USING age, sex, zip USING zip, education USING education, \
        native_country USING native_country)";
    let rest = "SATISFYING k_anonymity(5) SUPPRESSING AT MOST 30 PERCENT \
        AT NODE (age 0, sex 0, zip 3, education 2, native_country 2)";
    collect(
        &context,
        "CREATE EXTERNAL TABLE census STORED AS PARQUET LOCATION 'data/census.parquet'",
    )
    .await;
    let from_classes = format!("CREATE TABLE a AS ANONYMIZE (SELECT {columns} FROM census) {roles} {rest}");
    let scanned =
        format!("CREATE TABLE b AS ANONYMIZE (SELECT {columns}, race FROM census) {roles} KEEP (race) {rest}");
    collect(&context, &from_classes).await;
    collect(&context, &scanned).await;
    for table in ["a", "b"] {
        assert!(number(&collect(&context, &format!("SELECT count(*) FROM {table}")).await) > 20_000.0);
    }
    let grouped = |table: &str| format!("SELECT {columns}, count(*) AS n FROM {table} GROUP BY {columns}");
    for (one, other) in [("a", "b"), ("b", "a")] {
        let difference = format!("SELECT count(*) FROM ({} EXCEPT {})", grouped(one), grouped(other));
        assert_eq!(number(&collect(&context, &difference).await), 0.0, "{one} {other}");
    }
}

#[tokio::test]
async fn tables_with_no_row_one_row_and_many_columns_work() {
    let context = context(2);
    for rows in [0, 1] {
        collect(
            &context,
            &format!("CREATE OR REPLACE TABLE t AS SELECT 1 AS a, 'x' AS s FROM generate_series(1, {rows})"),
        )
        .await;
        let sql = "ANONYMIZE t QUASI IDENTIFIERS (a) SENSITIVE (s) SATISFYING k_anonymity(1)";
        let released = collect(&context, sql).await;
        assert_eq!(released.iter().map(|b| b.num_rows()).sum::<usize>(), rows);
    }
    // The keys of 24 columns with 40 values each need more than two machine words.
    let columns: Vec<String> = (0..24)
        .map(|c| format!("(value * {} + {c}) % 40 AS q{c}", 2 * c + 1))
        .collect();
    collect(
        &context,
        &format!(
            "CREATE TABLE wide AS SELECT {} FROM generate_series(1, 2000)",
            columns.join(", ")
        ),
    )
    .await;
    let names: Vec<String> = (0..24).map(|c| format!("q{c}")).collect();
    let sql = format!(
        "CREATE TABLE released AS ANONYMIZE wide QUASI IDENTIFIERS ({}) SATISFYING k_anonymity(3) \
         SUPPRESSING AT MOST 5 PERCENT SEARCH USING datafly",
        names.join(", ")
    );
    collect(&context, &sql).await;
    let least = format!(
        "SELECT min(n) FROM (SELECT count(*) n FROM released GROUP BY {})",
        names.join(", ")
    );
    assert!(number(&collect(&context, &least).await) >= 3.0);
}

/// If the rows of a sort nearly fill its share of the memory, the sort needs additional memory to
/// order them. This memory must be reserved beforehand.
#[tokio::test]
async fn a_release_is_written_whatever_part_of_it_fits_in_memory() {
    use anonsql::internal::generate::{GeneratedTable, generate};
    use datafusion::execution::memory_pool::FairSpillPool;
    use datafusion::execution::runtime_env::RuntimeEnvBuilder;
    use datafusion::prelude::{SessionConfig, SessionContext};
    let scratch = tempfile::tempdir().unwrap();
    let (source, target) = (scratch.path().join("census.parquet"), scratch.path().join("release"));
    generate(GeneratedTable::Census, 300_000, 3, &source).unwrap();
    let mut written = BTreeSet::new();
    for megabytes in [70, 85, 100, 120, 140, 400] {
        let pool = std::sync::Arc::new(FairSpillPool::new(megabytes << 20));
        let runtime = RuntimeEnvBuilder::new().with_memory_pool(pool).build_arc().unwrap();
        let config = SessionConfig::new().with_target_partitions(2);
        let context = AnonContext::new(SessionContext::new_with_config_rt(config, runtime));
        let sql = format!(
            "ANONYMIZE '{}' TO '{}' OVERWRITE IDENTIFIERS (ssn) QUASI IDENTIFIERS (sex) KEEP (name, birth_date, age, zip, \
             education, native_country, occupation, income, marital_status, race, workclass, salary_class) \
             SATISFYING k_anonymity(5)",
            source.display(),
            target.display()
        );
        collect(&context, &sql).await;
        let mut released = files(&target);
        released.remove("_manifest.json");
        written.insert(released);
    }
    assert_eq!(written.len(), 1, "memory changes what is written");
}

/// Returned rows pass through DataFusion's optimizer. The optimizer may distribute the rows over
/// partitions if nothing requires their order. A class in two partitions would then be checked as
/// two classes.
#[tokio::test]
async fn answered_rows_are_the_rows_that_would_be_written() {
    use anonsql::internal::generate::{GeneratedTable, generate};
    let scratch = tempfile::tempdir().unwrap();
    let (source, target) = (scratch.path().join("census.parquet"), scratch.path().join("release"));
    generate(GeneratedTable::Census, 120_000, 3, &source).unwrap();
    let session = context(2);
    let set_up = format!(
        "CREATE EXTERNAL TABLE census STORED AS PARQUET LOCATION '{}';
        CREATE HIERARCHY age AS INTERVALS (5, 10, 20) NULLS AS VALUE;
        CREATE HIERARCHY occupation FROM 'data/hierarchies/occupation.csv' NULLS AS VALUE",
        source.display()
    );
    collect(&session, &set_up).await;
    let source = "(SELECT age, sex, occupation, race, 0.05 + coalesce(income, 0) % 7 / 20.0 AS max_leak FROM census)";
    let roles = "QUASI IDENTIFIERS (age USING age, sex) SENSITIVE (occupation USING occupation) KEEP (race)";
    for (number_of, request) in [
        format!("(SELECT * EXCLUDE (max_leak) FROM {source}) {{to}} {roles} SATISFYING k_anonymity(5)"),
        format!(
            "{source} {{to}} {roles} SATISFYING k_anonymity(5) AND personal_privacy(max_leak) SUPPRESSING AT MOST 50 PERCENT"
        ),
        format!(
            "(SELECT * EXCLUDE (max_leak) FROM {source}) {{to}} {} SATISFYING k_anonymity(5)",
            roles.replace("USING occupation)", "RANDOMIZED WITHIN CLASS)")
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let to = format!("TO '{}' OVERWRITE", target.display());
        let written = format!("ANONYMIZE {}", request.replace("{to}", &to));
        collect(&session, &written).await;
        let copy = scratch.path().join(format!("answered_{number_of}.parquet"));
        let answered = format!(
            "COPY (ANONYMIZE {}) TO '{}'",
            request.replace("{to}", ""),
            copy.display()
        );
        collect(&session, &answered).await;
        // One thread reads the rows of a file in order.
        let rows = async |path: &Path| {
            let session = context(1);
            let table = format!("CREATE EXTERNAL TABLE released STORED AS PARQUET LOCATION '{}'", path.display());
            collect(&session, &table).await;
            let sql = "SELECT age, sex, occupation, race FROM released";
            arrow::util::pretty::pretty_format_batches(&collect(&session, sql).await)
                .unwrap()
                .to_string()
        };
        assert!(rows(&target).await == rows(&copy).await, "{written}");
    }
}

/// DataFusion 55.2 computes `max(a + b), max(c)` incorrectly if the option below is on. On ten
/// million rows of the census table, `max(age * 2 + length(education)), max(race)` was 199 instead
/// of 203.
#[test]
fn maxima_are_not_pruned_by_columns_that_they_are_not_of() {
    use datafusion::prelude::SessionContext;
    let session = SessionContext::new();
    let _anonsql = AnonContext::new(session.clone());
    let config = session.copied_config();
    assert!(!config.options().optimizer.enable_aggregate_dynamic_filter_pushdown);
}
