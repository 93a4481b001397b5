//! Tests a report: SQL recounts its figures on the files that it describes, it contains no data
//! value, and it is written only with a release.

use crate::common::{Numbers, collect, number};
use anonsql::AnonContext;
use anonsql::internal::session::enable_path_tables;
use datafusion::prelude::{SessionConfig, SessionContext};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

pub const QUASI: &str = "age, sex, zip, marital_status";

/// Returns a context with `threads` partitions, in which a path in quotes can be used as a table.
pub fn context(threads: usize) -> AnonContext {
    let config = SessionConfig::new().with_target_partitions(threads);
    AnonContext::new(enable_path_tables(SessionContext::new_with_config(config)))
}

/// Returns a context with the census, hierarchies for it, and a population that contains it.
pub async fn census(threads: usize) -> AnonContext {
    let context = context(threads);
    let setup = "CREATE EXTERNAL TABLE census STORED AS PARQUET LOCATION 'data/census.parquet';
        CREATE HIERARCHY age AS INTERVALS (5, 10, 20);
        CREATE HIERARCHY zip AS PREFIX (4, 3, 2);
        CREATE HIERARCHY marital_status FROM 'data/hierarchies/marital_status.csv';
        CREATE TABLE everyone AS SELECT age, sex, zip, marital_status FROM census UNION ALL \
            SELECT age, sex, zip, marital_status FROM census WHERE age % 3 = 0";
    collect(&context, setup).await;
    context
}

/// Returns the request whose report is tested, with `more` after the quasi-identifiers.
pub fn statement(target: &Path, report: &Path, more: &str) -> String {
    format!(
        "ANONYMIZE (SELECT age, sex, zip, marital_status, occupation, income, ssn FROM census) TO '{}' OVERWRITE \
         QUASI IDENTIFIERS (age USING age, sex, zip USING zip, marital_status USING marital_status) \
         SENSITIVE (occupation, income) SUPPRESSING AT MOST 2 PERCENT REPORT TO '{}' {more}",
        target.display(),
        report.display()
    )
}

pub async fn json(context: &AnonContext, sql: &str, report: &Path) -> Value {
    collect(context, sql).await;
    serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap()
}

/// Creates the table `released` from the files of a release.
pub async fn load(context: &AnonContext, target: &Path) {
    let read = format!(
        "CREATE OR REPLACE TABLE released AS SELECT * FROM '{}/'",
        target.display()
    );
    collect(context, &read).await;
}

/// Checks that each range of class sizes in the report has the numbers of classes and members that
/// SQL counts in `table`.
pub async fn same_class_sizes(context: &AnonContext, report: &Value, when: &str, table: &str, size: &str) {
    for bin in report["class_sizes"].as_array().unwrap() {
        let to = bin["to"].as_u64().unwrap_or(u64::MAX >> 1);
        let sql = format!(
            "SELECT count(*), coalesce(sum(f), 0) FROM (SELECT {size} AS f FROM {table} GROUP BY {QUASI}) \
             WHERE f BETWEEN {} AND {to}",
            bin["from"]
        );
        let counted = Numbers::of(&collect(context, &sql).await);
        let said = [&bin[when]["classes"], &bin[when]["members"]].map(|n| n.as_f64().unwrap());
        assert_eq!(said, [counted.at(0, 0), counted.at(1, 0)], "{when} {bin}");
    }
}

fn risk(report: &Value, attacker: &str, measure: &Value, when: &str) -> Value {
    let risks = report["risks"].as_array().unwrap();
    let found = risks
        .iter()
        .find(|r| r["attacker"] == attacker && r["measure"] == *measure);
    found.unwrap_or_else(|| panic!("{attacker} {measure}"))[when].clone()
}

fn close(said: &Value, expected: f64) {
    let said = said.as_f64().unwrap();
    assert!((said - expected).abs() < 1e-12, "{said} {expected}");
}

#[tokio::test]
async fn the_figures_are_those_of_the_files() {
    let scratch = tempfile::tempdir().unwrap();
    let (target, path) = (scratch.path().join("release"), scratch.path().join("report.json"));
    let context = census(2).await;
    // First, the base frequency set is at level 0 of the column, and then above level 0.
    for zip in ["LEVELS 0 TO 4", "LEVELS 1 TO 4"] {
        let more = "KEEP (ssn) SATISFYING k_anonymity(5) AND l_diversity(2) ON occupation";
        let sql = statement(&target, &path, more).replace("USING zip", &format!("USING zip {zip}"));
        let report = json(&context, &sql, &path).await;
        load(&context, &target).await;
        let count = |sql: &str| {
            let (context, sql) = (context.clone(), sql.to_string());
            async move { number(&collect(&context, &sql).await) }
        };
        let rows = count("SELECT count(*) FROM released").await;
        assert_eq!(report["release"]["rows_in"], 30_000);
        assert_eq!(report["release"]["rows_out"], rows as u64);
        assert_eq!(report["suppression"]["rows"], 30_000 - rows as u64);
        assert_eq!(report["suppression"]["limit"], 600);
        same_class_sizes(&context, &report, "before", "census", "count(*)").await;
        same_class_sizes(&context, &report, "after", "released", "count(*)").await;

        for (table, when) in [("census", "before"), ("released", "after")] {
            let classes = format!("(SELECT count(*) AS f FROM {table} GROUP BY {QUASI})");
            let mean = count(&format!("SELECT count(*) / CAST(sum(f) AS DOUBLE) FROM {classes}")).await;
            close(&risk(&report, "prosecutor", &"mean".into(), when), mean);
            close(&risk(&report, "marketer", &"mean".into(), when), mean);
            let highest = count(&format!("SELECT 1.0 / min(f) FROM {classes}")).await;
            close(&risk(&report, "prosecutor", &"highest".into(), when), highest);
            let above = format!(
                "SELECT sum(CASE WHEN 1.0 / f > 0.09 THEN f ELSE 0 END) / CAST(sum(f) AS DOUBLE) FROM {classes}"
            );
            let threshold = serde_json::json!({ "share_above": 0.09 });
            close(&risk(&report, "prosecutor", &threshold, when), count(&above).await);
        }
        assert_eq!(risk(&report, "journalist", &"highest".into(), "after"), Value::Null);

        for (i, column) in ["occupation", "income"].into_iter().enumerate() {
            let said = &report["disclosure"][i];
            let distinct = format!("count(DISTINCT {column}) + max(CASE WHEN {column} IS NULL THEN 1 ELSE 0 END)");
            let classes = format!("(SELECT count(*) AS f, {distinct} AS d FROM released GROUP BY {QUASI})");
            let least = count(&format!("SELECT min(d) FROM {classes}")).await;
            let uniform = count(&format!("SELECT coalesce(sum(f), 0) FROM {classes} WHERE d = 1")).await;
            assert_eq!(said["attribute"], column);
            assert_eq!(said["least_distinct"], least as u64);
            assert_eq!(said["rows_in_uniform_classes"], uniform as u64);
            let distance = said["greatest_distance"].as_f64().unwrap();
            assert!(distance > 0.0 && distance < 1.0, "{distance}");
        }
        assert!(report["disclosure"][0]["least_distinct"].as_u64().unwrap() >= 2);
        assert_eq!(
            report["disclosure"][0]["models"],
            serde_json::json!(["l_diversity(2) ON occupation"])
        );
        assert_eq!(report["disclosure"][1]["models"], serde_json::json!([]));

        // The losses of the columns are the parts of glm, which was minimized.
        let losses = report["columns"].as_array().unwrap().iter().filter_map(|c| {
            let g = c.get("generalization")?;
            Some(g["loss_by_generalization"].as_f64()? + g["loss_by_suppression"].as_f64()?)
        });
        let losses: Vec<f64> = losses.collect();
        close(&report["choice"]["value"], losses.iter().sum::<f64>() / 4.0);
    }
}

/// The plan of returned rows is read many times. It must return all rows each time.
#[tokio::test]
async fn rows_that_are_answered_are_counted_like_files() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("report.json");
    let context = census(2).await;
    let more = "KEEP (ssn) SATISFYING k_anonymity(5) AND l_diversity(2) ON job";
    let sql = statement(&scratch.path().join("release"), &path, more)
        .replace("occupation", "occupation AS job")
        .replacen("SENSITIVE (occupation AS job", "SENSITIVE (job", 1);
    let to = format!("TO '{}' OVERWRITE", scratch.path().join("release").display());
    let sql = format!("CREATE TABLE released AS {}", sql.replace(&to, ""));
    let report = json(&context, &sql, &path).await;
    same_class_sizes(&context, &report, "after", "released", "count(*)").await;
    assert!(report["release"]["smallest_class"].as_u64().unwrap() >= 5);
    assert!(report["promises"][1]["reached"].as_f64().unwrap() >= 2.0);
    let rows = number(&collect(&context, "SELECT count(*) FROM released").await);
    assert_eq!(report["suppression"]["rows"], 30_000 - rows as u64);
}

#[tokio::test]
async fn persons_and_a_population_are_counted_where_they_are_named() {
    let scratch = tempfile::tempdir().unwrap();
    let (target, path) = (scratch.path().join("release"), scratch.path().join("report.json"));
    let context = census(2).await;
    let more = "IDENTIFIERS (ssn) POPULATION everyone SATISFYING k_map(4)";
    for zip in ["LEVELS 0 TO 4", "LEVELS 1 TO 4"] {
        let sql = statement(&target, &path, more).replace("USING zip", &format!("USING zip {zip}"));
        let report = json(&context, &sql, &path).await;
        let there = format!("(SELECT {QUASI}, count(*) AS p FROM everyone GROUP BY {QUASI})");
        let sql = format!(
            "SELECT 1.0 / min(p), sum(f / CAST(p AS DOUBLE)) / CAST(sum(f) AS DOUBLE) FROM \
             (SELECT {QUASI}, count(*) AS f FROM census GROUP BY {QUASI}) JOIN {there} USING ({QUASI})"
        );
        let expected = Numbers::of(&collect(&context, &sql).await);
        close(
            &risk(&report, "journalist", &"highest".into(), "before"),
            expected.at(0, 0),
        );
        close(
            &risk(&report, "journalist", &"mean".into(), "before"),
            expected.at(1, 0),
        );
        close(&risk(&report, "marketer", &"mean".into(), "before"), expected.at(1, 0));
        // The recount of k_map gives the same figure for the release.
        let reached = report["promises"][0]["reached"].as_f64().unwrap();
        close(&risk(&report, "journalist", &"highest".into(), "after"), 1.0 / reached);
        assert!(reached >= 4.0);
    }

    // Each person has three rows. Class sizes count persons, both before and after the release.
    let visits = "CREATE TABLE visits AS SELECT census.*, ssn AS person FROM census, generate_series(1, 3) AS g(i) WHERE age < 30";
    collect(&context, visits).await;
    for (kept, more) in [(true, "KEEP (person)"), (false, "")] {
        let target = scratch.path().join(format!("persons-{kept}"));
        let sql = statement(
            &target,
            &path,
            &format!("{more} ENTITY (person) SATISFYING k_anonymity(5)"),
        )
        .replace("ssn FROM census", "person FROM visits")
        .replace("2 PERCENT", "6 PERCENT");
        let report = json(&context, &sql, &path).await;
        assert_eq!(report["release"]["entity"], "person");
        assert_eq!(report["release"]["required_class_size"], 5);
        let persons = number(&collect(&context, "SELECT count(DISTINCT person) FROM visits").await);
        assert_eq!(report["release"]["persons_in"], persons as u64);
        same_class_sizes(&context, &report, "before", "visits", "count(DISTINCT person)").await;
        load(&context, &target).await;
        let size = if kept { "count(DISTINCT person)" } else { "count(*) / 3" };
        let persons = number(&collect(&context, &format!("SELECT {size} FROM released")).await);
        assert_eq!(report["release"]["persons_out"], persons as u64);
        same_class_sizes(&context, &report, "after", "released", size).await;
    }
}

/// All texts about the people contain `quux`. No form of the report contains any of these texts.
#[tokio::test]
async fn no_value_of_anybody_is_in_a_report() {
    let scratch = tempfile::tempdir().unwrap();
    let context = context(2);
    let setup = "CREATE TABLE patients AS SELECT concat('quux-name-', value) AS name, 771000000 + value % 40 AS age,
            concat('quux', value % 7) AS zip, concat('quux-ill-', value % 5) AS diagnosis, concat('quux note ', value) AS note,
            CAST(772000000.5 + value AS DOUBLE) AS cost, 773000000 + value / 2 AS patient, concat('quux-ward', value % 2) AS ward
            FROM generate_series(1, 4000);
        CREATE HIERARCHY age AS INTERVALS (5, 10);
        CREATE HIERARCHY cost AS QUANTILES (16, 4) OF patients.cost;
        CREATE HIERARCHY zip AS SELECT DISTINCT zip, concat('quux-region-', CASE WHEN zip = 'quux1' THEN 'one' ELSE 'many' END) FROM patients";
    collect(&context, setup).await;
    let target = scratch.path().join("release");
    for (form, to) in ["html", "md", "json"]
        .into_iter()
        .zip(["PARTITIONED BY (ward)", "STORED AS CSV", ""])
    {
        let path = scratch.path().join(format!("report.{form}"));
        let sql = format!(
            "ANONYMIZE (SELECT * FROM patients WHERE name <> 'quux-name-7' AND age > 771000000) TO '{}' {to} OVERWRITE \
             IDENTIFIERS (name) QUASI IDENTIFIERS (age USING age, zip USING zip, cost USING cost) SENSITIVE (diagnosis) \
             KEEP (note, ward) ENTITY (patient) SATISFYING k_anonymity(3) AND l_diversity(2) ON diagnosis AND \
             t_closeness(0.9) ON diagnosis SUPPRESSING AT MOST 5 PERCENT REPORT TO '{}'",
            target.display(),
            path.display()
        );
        collect(&context, &sql).await;
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("diagnosis") && text.contains("a query"), "{form}");
        for value in ["quux", "771000", "772000", "773000"] {
            assert!(!text.contains(value), "{form} says {value}");
        }
    }
}

#[tokio::test]
async fn the_same_statement_gives_the_same_report_whatever_the_threads() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("release");
    for form in ["html", "md", "json"] {
        let path = scratch.path().join(format!("report.{form}"));
        let mut seen = BTreeSet::new();
        for threads in [1, 2] {
            let sql = statement(&target, &path, "KEEP (ssn) SATISFYING k_anonymity(5)");
            collect(&census(threads).await, &sql).await;
            seen.insert(std::fs::read(&path).unwrap());
        }
        assert_eq!(seen.len(), 1, "{form}");
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap());
    let mut names: Vec<String> = entries.map(|e| e.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Returns a context with six people, and the clauses of a request.
async fn people() -> (AnonContext, &'static str) {
    let context = context(2);
    let setup = "CREATE TABLE people AS SELECT column1 AS age, column2 AS sex FROM (VALUES \
        (20, 'f'), (21, 'f'), (22, 'm'), (23, 'm'), (27, 'f'), (28, 'm'));
        CREATE HIERARCHY age AS INTERVALS (5, 10)";
    collect(&context, setup).await;
    (
        context,
        "QUASI IDENTIFIERS (age USING age, sex) SATISFYING k_anonymity(2)",
    )
}

#[tokio::test]
async fn a_report_is_there_when_its_release_is_and_not_before() {
    let scratch = tempfile::tempdir().unwrap();
    let (context, roles) = people().await;
    let at = |name: &str| scratch.path().join(name).display().to_string();
    let report = format!("REPORT TO '{}'", at("r.md"));
    let run = |sql: String| {
        let context = context.clone();
        async move { context.sql(&sql).await }
    };
    let strict = roles.replace("(2)", "(7)");

    // Without a release, no report is written.
    run(format!("EXPLAIN ANALYZE ANONYMIZE people {roles} {report}"))
        .await
        .unwrap();
    assert_eq!(
        run(format!("ANONYMIZE people TO '{}' {strict} {report}", at("r")))
            .await
            .unwrap_err()
            .exit_code(),
        3
    );
    assert_eq!(
        run(format!("ANONYMIZE people {strict} {report}"))
            .await
            .unwrap_err()
            .exit_code(),
        3
    );
    run("CREATE TABLE taken AS SELECT 1 AS one".into()).await.unwrap();
    run(format!("CREATE TABLE taken AS ANONYMIZE people {roles} {report}"))
        .await
        .unwrap_err();
    assert_eq!(names(scratch.path()), Vec::<String>::new());

    // The rows are returned, or become a table.
    run(format!("ANONYMIZE people {roles} {report}")).await.unwrap();
    let first = std::fs::read_to_string(at("r.md")).unwrap();
    assert!(first.contains("the answer of the statement"), "{first}");
    std::fs::remove_file(at("r.md")).unwrap();
    run(format!("CREATE TABLE safe AS ANONYMIZE people {roles} {report}"))
        .await
        .unwrap();
    assert_eq!(std::fs::read_to_string(at("r.md")).unwrap(), first);

    // With a target, an earlier report is replaced. A kept release gets no new report.
    run(format!("ANONYMIZE people TO '{}' {roles} {report}", at("r")))
        .await
        .unwrap();
    assert_eq!(names(scratch.path()), ["r", "r.md"]);
    assert!(std::fs::read_to_string(at("r.md")).unwrap().contains("SHA-256"));
    std::fs::write(at("r.md"), "mine").unwrap();
    run(format!(
        "ANONYMIZE people TO '{}' IF NOT EXISTS {roles} {report} OVERWRITE",
        at("r")
    ))
    .await
    .unwrap();
    assert_eq!(
        run(format!("ANONYMIZE people TO '{}' {roles} {report}", at("r")))
            .await
            .unwrap_err()
            .exit_code(),
        5
    );
    assert_eq!(std::fs::read_to_string(at("r.md")).unwrap(), "mine");

    // A report inside the release is written and deleted with the release.
    let inside = format!("REPORT TO '{}'", at("r/_report.html"));
    for _ in 0..2 {
        run(format!("ANONYMIZE people TO '{}' OVERWRITE {roles} {inside}", at("r")))
            .await
            .unwrap();
        assert_eq!(
            names(&scratch.path().join("r")),
            ["_manifest.json", "_report.html", "part-00000.parquet"]
        );
    }
    let rows = run(format!("SELECT count(*) FROM '{}/'", at("r"))).await.unwrap();
    assert_eq!(number(&rows), 6.0);
    // The report may also be in a parent folder of the release that does not exist yet.
    let deep = format!(
        "ANONYMIZE people TO '{}' {roles} REPORT TO '{}'",
        at("new/deep/r"),
        at("new/r.html")
    );
    run(deep).await.unwrap();
    assert_eq!(names(&scratch.path().join("new")), ["deep", "r.html"]);
}

#[tokio::test]
async fn a_place_where_no_report_can_be_is_refused_before_any_work() {
    let scratch = tempfile::tempdir().unwrap();
    let (context, roles) = people().await;
    let at = |name: &str| scratch.path().join(name).display().to_string();
    collect(&context, &format!("ANONYMIZE people TO '{}' {roles}", at("other"))).await;
    std::fs::create_dir(at("folder.html")).unwrap();
    let source = at("people.json");
    std::fs::write(&source, "{\"age\": 1, \"sex\": \"f\"}\n").unwrap();
    collect(
        &context,
        &format!("CREATE EXTERNAL TABLE lines STORED AS JSON LOCATION '{source}'"),
    )
    .await;
    let before = names(scratch.path());
    for (table, path, why) in [
        ("people", at("r.pdf"), "must end in .html, .md or .json"),
        ("people", at("r"), "must end in .html, .md or .json"),
        ("people", "https://example.org/r.html".into(), "on a web server"),
        ("people", "s3://bucket/*.html".into(), "name one object"),
        ("people", at("missing/r.html"), "its folder does not exist"),
        ("people", at("folder.html"), "this is a folder"),
        ("people", at("out/report.html"), "call it _report.html"),
        ("people", at("out/_manifest.json"), "call it _report.json"),
        ("people", at("out/sub/_report.html"), "beside that folder"),
        ("people", at("other/_report.html"), "inside another release"),
        ("lines", source.clone(), "the statement reads this file"),
    ] {
        for to in [format!("TO '{}'", at("out")), String::new()] {
            if to.is_empty() && path.contains("/out/") {
                continue;
            }
            let refused = context
                .sql(&format!("ANONYMIZE {table} {to} {roles} REPORT TO '{path}'"))
                .await;
            let refused = refused.unwrap_err();
            assert!(refused.to_string().contains(why), "{path}: {refused}");
            assert_eq!(
                (refused.exit_code(), names(scratch.path())),
                (1, before.clone()),
                "{path}"
            );
        }
    }
    for statement in ["LATTICE OF ANONYMIZE", "COMPARE ANONYMIZE"] {
        let refused = context
            .sql(&format!("{statement} people {roles} REPORT TO '{}'", at("r.html")))
            .await;
        assert!(
            refused.unwrap_err().to_string().contains("takes no REPORT"),
            "{statement}"
        );
    }
}

/// If a weighted sum of several metrics is minimized, the report has the front of the assessed
/// nodes. Here, these are all nodes of the lattice.
#[tokio::test]
async fn the_metrics_of_a_sum_have_their_front() {
    let scratch = tempfile::tempdir().unwrap();
    let context = census(2).await;
    let (target, report) = (scratch.path().join("r"), scratch.path().join("r.json"));
    let asked = |metric: &str| {
        let more = format!("IDENTIFIERS (ssn) SATISFYING k_anonymity(5) MINIMIZING {metric} SEARCH USING exhaustive");
        statement(&target, &report, &more)
    };
    let sum = asked("0.7 * glm + 0.3 * precision");
    let found = json(&context, &sum, &report).await;
    let written = [
        format!("TO '{}' OVERWRITE", target.display()),
        format!("REPORT TO '{}'", report.display()),
        "SEARCH USING exhaustive".into(),
    ];
    let request = written.iter().fold(sum, |request, clause| request.replace(clause, ""));
    let lattice = format!("LATTICE OF {request}");
    let nodes = collect(&context, &lattice).await;
    let numbers = Numbers::of(&nodes);
    let rows: usize = nodes.iter().map(|b| b.num_rows()).sum();
    let anonymous = (0..rows).filter(|row| numbers.get("anonymous", *row) == 1.0);
    let values: Vec<[f64; 2]> = anonymous
        .map(|row| ["glm", "precision"].map(|m| numbers.get(m, row)))
        .collect();
    let beats = |a: &[f64; 2], b: &[f64; 2]| a != b && a[0] <= b[0] && a[1] >= b[1];
    let mut front: Vec<[f64; 2]> = values
        .iter()
        .filter(|v| !values.iter().any(|w| beats(w, v)))
        .copied()
        .collect();
    front.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let points = found["front"]["points"].as_array().unwrap();
    assert!(front.len() > 1 && points.len() == front.len(), "{front:?} {points:?}");
    for (point, expected) in points.iter().zip(&front) {
        close(&point["values"][0], expected[0]);
        close(&point["values"][1], expected[1]);
    }
    let marked = |mark: &str| points.iter().filter(|p| p[mark] == true).count();
    assert_eq!((marked("knee"), marked("released")), (1, 1));
    let better: Vec<&Value> = found["front"]["objectives"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| &o["better"])
        .collect();
    assert_eq!(better, ["lower", "higher"]);
    // With a single metric, there is no front.
    let one = json(&context, &asked("glm"), &report).await;
    assert!(one.get("front").is_none());
}
