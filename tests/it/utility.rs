//! Compares UTILITY OF with figures that plain SQL counts on the same rows. The result is the same
//! for any number of threads.

use crate::common::{collect, context, number, shared};
use anonsql::AnonContext;
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::Float64Type;
use std::collections::BTreeMap;

/// For each figure, the value in the release and the value in the source, by column (empty if there
/// is none) and measure.
type Figures = BTreeMap<(String, String), [Option<f64>; 2]>;

fn figures(batches: &[RecordBatch]) -> Figures {
    let mut found = Figures::new();
    for batch in batches {
        let text = |column: usize, row: usize| match batch.column(column).as_string::<i32>() {
            texts if texts.is_null(row) => String::new(),
            texts => texts.value(row).to_string(),
        };
        let number = |column: usize, row: usize| {
            let numbers = batch.column(column).as_primitive::<Float64Type>();
            (!numbers.is_null(row)).then(|| numbers.value(row))
        };
        for row in 0..batch.num_rows() {
            let key = (text(0, row), text(1, row));
            assert_eq!(
                found.insert(key.clone(), [number(2, row), number(3, row)]),
                None,
                "{key:?} is there twice"
            );
        }
    }
    found
}

async fn counted(context: &AnonContext, sql: &str) -> f64 {
    number(&collect(context, sql).await)
}

const FILE: &str = "CREATE EXTERNAL TABLE file STORED AS PARQUET LOCATION 'data/census.parquet'";
const CENSUS: &str = "CREATE TABLE census AS SELECT age, sex, education, salary_class FROM file";
const REQUEST: &str = "QUASI IDENTIFIERS (age USING age, sex) CLASS (salary_class) KEEP (education) \
                       SATISFYING k_anonymity(5) SUPPRESSING AT MOST 1 PERCENT";

/// Returns a context of `threads` partitions with the census, and releases the census to `target`.
async fn released(threads: usize, target: &str, search: &str) -> AnonContext {
    let context = context(threads);
    let release = format!("ANONYMIZE census TO '{target}' {REQUEST} {search}");
    for sql in [FILE, CENSUS, "CREATE HIERARCHY age AS INTERVALS (5, 10)", &release] {
        collect(&context, sql).await;
    }
    context
}

/// Every released age is an interval of five years. SQL parses the interval by itself and
/// distributes its rows over the ages in the source.
#[tokio::test]
async fn figures_are_those_that_sql_counts() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("released").display().to_string();
    let context = released(2, &target, "AT NODE (age 1, sex 0)").await;
    let published = format!("CREATE EXTERNAL TABLE published STORED AS PARQUET LOCATION '{target}'");
    collect(&context, &published).await;
    let found = figures(
        &collect(
            &context,
            &format!("UTILITY OF '{target}' AGAINST census CLASS (salary_class)"),
        )
        .await,
    );
    let of = |column: &str, measure: &str| found[&(column.to_string(), measure.to_string())];
    // For each age, the share p in the source and the share q in the release. The rows of a label
    // are distributed evenly over its ages.
    let shares = String::from(
        "WITH ages AS (SELECT age, count(*) AS n, age / 5 AS label FROM census GROUP BY age), \
         released AS (SELECT CAST(split_part(age, '-', 1) AS INT) / 5 AS label, count(*) AS m FROM published GROUP BY 1), \
         shares AS (SELECT age, n / (sum(n) OVER () + 0.0) AS p, \
           coalesce(m, 0) / (count(*) OVER (PARTITION BY ages.label) + 0.0) / (SELECT count(*) FROM published) AS q \
           FROM ages LEFT JOIN released ON ages.label = released.label)",
    );
    let close = |found: Option<f64>, wanted: f64| assert!((found.unwrap() - wanted).abs() < 1e-9, "{found:?} {wanted}");
    let total = counted(&context, &format!("{shares} SELECT sum(abs(p - q)) / 2 FROM shares")).await;
    assert!(total > 0.0);
    close(of("age", "total variation")[0], total);
    let moved = format!(
        "{shares} SELECT sum(abs(d)) / (count(*) - 1) FROM (SELECT sum(p - q) OVER (ORDER BY age) AS d FROM shares)"
    );
    close(of("age", "earth mover's distance")[0], counted(&context, &moved).await);
    let bits = format!("{shares} SELECT sum(p * log2(p / q)) FROM shares");
    close(
        of("age", "Kullback-Leibler divergence")[0],
        counted(&context, &bits).await,
    );
    let information = |rows: &str| {
        format!(
            "SELECT sum(n / a * log2(n * a / (v * c))) FROM (SELECT n + 0.0 AS n, sum(n) OVER () + 0.0 AS a, \
             sum(n) OVER (PARTITION BY sex) AS v, sum(n) OVER (PARTITION BY salary_class) AS c \
             FROM (SELECT sex, salary_class, count(*) AS n FROM {rows} GROUP BY sex, salary_class))"
        )
    };
    let [released, raw] = of("sex", "information about the class");
    close(released, counted(&context, &information("published")).await);
    close(raw, counted(&context, &information("census")).await);
    let most = "SELECT max(n) / (sum(n) + 0.0) FROM (SELECT count(*) AS n FROM census GROUP BY salary_class)";
    close(
        of("salary_class", "accuracy, most frequent class")[1],
        counted(&context, most).await,
    );
}

#[tokio::test]
async fn threads_change_nothing() {
    let mut answers = vec![];
    for threads in [1, 3] {
        let scratch = tempfile::tempdir().unwrap();
        let target = scratch.path().join("released").display().to_string();
        let context = released(threads, &target, "SEARCH USING mondrian").await;
        let sql = format!("UTILITY OF '{target}' AGAINST census CLASS (salary_class)");
        answers.push(figures(&collect(&context, &sql).await));
    }
    assert_eq!(answers[0], answers[1]);
}

/// The report contains every figure, and no value of a row.
#[tokio::test]
async fn the_report_has_the_figures_and_no_values() {
    let context = context(2);
    let scratch = tempfile::tempdir().unwrap();
    collect(&context, "CREATE TABLE t AS SELECT 'SECRET' || (value % 7) AS word, value AS number, value % 2 AS class FROM generate_series(1, 40)").await;
    for ending in ["html", "md", "json"] {
        let path = scratch.path().join(format!("utility.{ending}")).display().to_string();
        let sql = format!("UTILITY OF (SELECT * FROM t WHERE number < 30) AGAINST t CLASS (class) REPORT TO '{path}'");
        let rows = collect(&context, &sql).await;
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("SECRET"), "{text}");
        let measure = if ending == "json" {
            "total_variation"
        } else {
            "Total variation"
        };
        assert!(text.contains(measure), "{text}");
        if ending == "json" {
            let json: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(json["figures"].as_array().unwrap().len(), rows[0].num_rows());
        }
    }
}

/// If all columns are numeric, the classifiers have the results of scikit-learn 1.9.1: GaussianNB,
/// and DecisionTreeClassifier with max_depth = 8 and min_samples_leaf = 7, trained and tested on
/// all rows of Pima.
#[tokio::test]
#[cfg_attr(not(has_shared), ignore = "needs ../shared; set ANONSQL_SHARED to the folder")]
async fn classifiers_are_those_of_scikit_learn() {
    let context = context(2);
    let pima = shared("data/pima.parquet");
    let sql = format!("UTILITY OF '{0}' AGAINST '{0}' CLASS (outcome)", pima.display());
    let found = figures(&collect(&context, &sql).await);
    for (classifier, right) in [("naive Bayes", 586.0), ("decision tree", 659.0)] {
        let [value, of_source] = found[&("outcome".into(), format!("accuracy, {classifier}"))];
        assert_eq!(value, of_source);
        assert!(
            (value.unwrap() - right / 768.0).abs() < 1e-12,
            "{classifier}: {value:?}"
        );
    }
}
