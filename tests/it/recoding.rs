//! Tests RECODING LOCAL. Its loss is no higher than the loss of any search that it runs, and its
//! release has the same bytes as a release by the chosen search alone.

use crate::common::{Numbers, adult, collect, context};
use crate::golden::ADULT;
use anonsql::AnonContext;
use anonsql::internal::folder::Manifest;
use anonsql::manifest::Recoding;
use proptest::prelude::*;
use std::path::Path;

/// The searches that RECODING LOCAL is compared with.
const ALONE: &str = "mondrian, peel, peel(numbers => hierarchy)";

const TABLE: &str = "
    CREATE TABLE people AS SELECT value AS id, 18 + value * value % 73 AS age, 10000 + value * 7919 % 4000 AS zip,
      CASE value % 7 WHEN 0 THEN 'Bonn' WHEN 1 THEN 'Ulm' WHEN 2 THEN 'Jena' WHEN 3 THEN 'Bonn' ELSE 'Rome' END AS city,
      value % 3 AS class FROM generate_series(1, 600);
    CREATE HIERARCHY age AS INTERVALS (10, 20, 40);
    CREATE HIERARCHY zip AS INTERVALS (100, 1000);
    CREATE HIERARCHY city AS VALUES ('Bonn', 'west', 'Germany'), ('Ulm', 'south', 'Germany'), ('Jena', 'east', 'Germany'),
      ('Rome', 'Lazio', 'Italy');";

const ROLES: &str = "QUASI IDENTIFIERS (age USING age, zip USING zip, city USING city) CLASS (class) KEEP (id)";

/// Fails unless the first row of COMPARE has the best value of the metric.
fn first_is_best(compared: &Numbers, metric: &str) {
    let sign = if metric == "ileft" { -1.0 } else { 1.0 };
    for row in 1..compared.rows() {
        let (first, other) = (sign * compared.get(metric, 0), sign * compared.get(metric, row));
        assert!(first <= other + 1e-12, "{metric}, {row}: {first} {other}");
    }
}

/// A row of a random table: age, zip and city.
type Cell = (i64, i64, usize);

fn rows() -> impl Strategy<Value = Vec<Cell>> {
    prop::collection::vec((0..60i64, 0..5_000i64, 0..4usize), 3..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn it_is_never_worse_than_one_of_its_algorithms(
        rows in rows(), k in 1..6usize, percent in prop_oneof![Just(0), 0..30], by in 0..5usize
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let context = context(2);
            collect(&context, TABLE).await;
            let row = |(i, (age, zip, city)): (usize, &Cell)| {
                format!("({i}, {age}, {zip}, '{}', {})", ["Bonn", "Ulm", "Jena", "Rome"][*city], i % 2)
            };
            let values: Vec<String> = rows.iter().enumerate().map(row).collect();
            collect(&context, &format!(
                "CREATE OR REPLACE TABLE people AS SELECT * FROM (VALUES {}) AS v (id, age, zip, city, class)",
                values.join(", ")
            )).await;
            let metric = ["glm", "dm", "c_avg", "ileft", "cm"][by];
            let by_class = if metric == "cm" { ", peel(guide => class), top_down" } else { "" };
            let request = format!(
                "COMPARE ANONYMIZE people {ROLES} SATISFYING k_anonymity({}) SUPPRESSING AT MOST {percent} PERCENT \
                 MINIMIZING {metric} RECODING (LOCAL) SEARCH USING ({ALONE}{by_class})",
                k.min(rows.len())
            );
            first_is_best(&Numbers::of(&collect(&context, &request).await), metric);
        });
    }
}

fn parquet(folder: &Path) -> Vec<Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = entries
        .filter(|p| p.extension().is_some_and(|e| e == "parquet"))
        .collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

async fn released(context: &AnonContext, target: &Path, rest: &str) -> Manifest {
    let models = "SATISFYING k_anonymity(4) SUPPRESSING AT MOST 2 PERCENT";
    let sql = format!("ANONYMIZE people TO '{}' {ROLES} {models} {rest}", target.display());
    collect(context, &sql).await;
    Manifest::read(target).unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_number_of_threads_and_the_chosen_algorithm_write_the_same_bytes() {
    let scratch = tempfile::tempdir().unwrap();
    let mut written = vec![];
    let mut chosen = String::new();
    for threads in [1, 2, 4] {
        let context = context(threads);
        collect(&context, TABLE).await;
        let target = scratch.path().join(threads.to_string());
        let search = released(&context, &target, "RECODING LOCAL").await.search;
        assert_eq!(search.recoding, Some(Recoding::Local));
        let values: Vec<f64> = search.tried.iter().map(|tried| tried.value.unwrap()).collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let winner = search.tried.iter().find(|tried| tried.value == Some(least)).unwrap();
        assert_eq!(winner.search, search.algorithm);
        chosen = search.algorithm;
        written.push(parquet(&target));
    }
    let context = context(3);
    collect(&context, TABLE).await;
    let target = scratch.path().join("alone");
    let alone = released(&context, &target, &format!("SEARCH USING {chosen}")).await;
    assert!(alone.search.tried.is_empty() && alone.search.algorithm == chosen);
    written.push(parquet(&target));
    assert!(!written[0].is_empty() && written.iter().all(|bytes| *bytes == written[0]));
    let verify = "QUASI IDENTIFIERS (age USING age, zip USING zip, city USING city) SATISFYING k_anonymity(4)";
    for folder in ["1", "alone"] {
        let path = scratch.path().join(folder);
        collect(
            &context,
            &format!("VERIFY '{}' AGAINST people {verify}", path.display()),
        )
        .await;
        let read = format!(
            "CREATE OR REPLACE EXTERNAL TABLE released STORED AS PARQUET LOCATION '{}/'",
            path.display()
        );
        collect(&context, &read).await;
        let sizes = "SELECT min(f) FROM (SELECT count(*) AS f FROM released GROUP BY age, zip, city)";
        assert!(crate::common::number(&collect(&context, sizes).await) >= 4.0);
    }
}

/// Under any time limit, the best partition found so far is released.
#[tokio::test]
async fn a_time_limit_skips_what_is_not_begun() {
    let context = context(2);
    collect(&context, TABLE).await;
    let sql = format!(
        "EXPLAIN ANALYZE ANONYMIZE people {ROLES} SATISFYING k_anonymity(4) RECODING LOCAL WITH (time_limit = '0s')"
    );
    let rows = collect(&context, &sql).await;
    assert_eq!(crate::common::text(&rows, "item", "divided by", "detail"), "mondrian");
    assert_eq!(
        crate::common::text(&rows, "item", "proof", "detail"),
        "no proof (time limit)"
    );
    let shown = arrow::util::pretty::pretty_format_batches(&rows).unwrap().to_string();
    assert!(shown.contains("peel skipped (time limit)"), "{shown}");
}

#[tokio::test]
#[cfg_attr(not(has_shared), ignore = "needs ../shared; set ANONSQL_SHARED to the folder")]
async fn on_adult_it_loses_least() {
    let context = adult(&ADULT).await;
    let using: Vec<String> = ADULT.iter().map(|c| format!("\"{c}\" USING \"{c}\"")).collect();
    for k in [5, 50] {
        let sql = format!(
            "COMPARE ANONYMIZE adult QUASI IDENTIFIERS ({}) SATISFYING k_anonymity({k}) RECODING (LOCAL) SEARCH USING (mondrian, peel)",
            using.join(", ")
        );
        first_is_best(&Numbers::of(&collect(&context, &sql).await), "glm");
    }
}

/// The class label is the salary. For the training of models, the release minimizes the number of
/// rows outside the majority of their class.
#[tokio::test]
#[cfg_attr(not(has_shared), ignore = "needs ../shared; set ANONSQL_SHARED to the folder")]
async fn on_adult_it_keeps_what_tells_of_the_class_label() {
    let (columns, salary) = ADULT.split_at(8);
    let context = adult(&ADULT).await;
    let using: Vec<String> = columns.iter().map(|c| format!("\"{c}\" USING \"{c}\"")).collect();
    let sql = format!(
        "COMPARE ANONYMIZE adult QUASI IDENTIFIERS ({}) CLASS (\"{}\") SATISFYING k_anonymity(10) MINIMIZING cm \
         RECODING (LOCAL) SEARCH USING (top_down, mondrian, peel)",
        using.join(", "),
        salary[0]
    );
    first_is_best(&Numbers::of(&collect(&context, &sql).await), "cm");
}
