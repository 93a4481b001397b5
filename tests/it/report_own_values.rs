//! Tests the counts of rows that keep their own value under randomized masks. The report contains
//! these counts, and SQL recounts them by joining the source and the release by a key.

use crate::common::{Numbers, collect, number};
use crate::report::{census, context, json, load};
use anonsql::AnonContext;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Writes a secret, and returns the clause that names it.
fn secret(folder: &Path) -> String {
    let path = folder.join("secret");
    std::fs::write(&path, "0123456789abcdef0123456789abcdef").unwrap();
    format!("WITH SECRET 'file:{}'", path.display())
}

/// Returns a context with 400 people. Each has a key, and some have no income.
async fn people() -> AnonContext {
    let context = context(2);
    let table = "CREATE TABLE people AS SELECT i AS id, i % 2 AS sex, i % 4 AS zone,
        CASE WHEN i > 10 THEN 0 ELSE i END AS few,
        CASE WHEN i % 10 = 0 THEN NULL ELSE 1000 + 7 * i END AS income,
        CASE WHEN i % 3 = 0 THEN 'a' WHEN i % 3 = 1 THEN 'b' ELSE 'c' END AS faith,
        CASE WHEN i % 4 = 0 THEN 'd' WHEN i % 4 = 1 THEN 'e' ELSE 'f' END AS creed,
        i % 5 AS grade, CAST(i AS DOUBLE) / 4 AS weight,
        CAST(i * i AS DOUBLE) / 7 AS height, DATE '2020-01-01' + i AS visited,
        to_timestamp_micros(1577836800000000 + 3600000000 * CAST(i AS BIGINT)) AS seen
        FROM (SELECT CAST(value AS INT) AS i FROM generate_series(1, 400)) AS s";
    collect(&context, table).await;
    context
}

/// A masked column, with the expression that makes its values numbers. `#` stands for the value.
type Masked = (&'static str, Option<&'static str>);

const NUMBER: Option<&str> = Some("CAST(# AS DOUBLE)");
const TIME: Option<&str> = Some("date_part('epoch', #)");

const ALL: [Masked; 8] = [
    ("income", NUMBER),
    ("faith", None),
    ("creed", None),
    ("grade", NUMBER),
    ("weight", NUMBER),
    ("height", NUMBER),
    ("visited", TIME),
    ("seen", TIME),
];

/// Returns the counts for a column in a report: all rows, rows with their own value, and rows with
/// a value near their own.
fn said(report: &Value, column: &str) -> (u64, u64, Option<u64>) {
    let columns = report["own_values"].as_array().unwrap();
    let found = columns.iter().find(|of| of["column"] == column);
    let counts = &found.unwrap_or_else(|| panic!("{column}: {columns:?}"))["counts"];
    let [rows, own] = ["rows", "own"].map(|name| counts[name].as_u64().unwrap());
    (rows, own, counts["near"].as_u64())
}

/// Returns the same counts, which SQL computes from the tables `people` and `released`. `and`
/// restricts the released rows.
async fn recounted(context: &AnonContext, (column, as_number): Masked, and: &str) -> (u64, u64, Option<u64>) {
    let near = match as_number {
        None => "false".to_string(),
        Some(as_number) => {
            let of = |value: &str| as_number.replace('#', value);
            // The standard deviation is that of the values in the source of all rows that have a
            // value in the release.
            let deviation = format!(
                "SELECT stddev({}) FROM people AS s JOIN released AS r ON s.id = r.id WHERE r.{column} IS NOT NULL",
                of(&format!("s.{column}"))
            );
            let within = 0.01 * number(&collect(context, &deviation).await);
            let [own, released] = [of(&format!("s.{column}")), of(&format!("r.{column}"))];
            format!("abs({own} - {released}) <= {within:?}")
        }
    };
    let sql = format!(
        "SELECT count(*), count(CASE WHEN s.{column} = r.{column} THEN 1 END), count(CASE WHEN {near} THEN 1 END) \
         FROM people AS s JOIN released AS r ON s.id = r.id WHERE s.{column} IS NOT NULL AND r.{column} IS NOT NULL {and}"
    );
    let found = Numbers::of(&collect(context, &sql).await);
    let count = |column: usize| found.at(column, 0) as u64;
    (count(0), count(1), as_number.map(|_| count(2)))
}

struct Files {
    /// Keeps the folder.
    _scratch: tempfile::TempDir,
    target: PathBuf,
    report: PathBuf,
    secret: String,
}

fn files() -> Files {
    let scratch = tempfile::tempdir().unwrap();
    Files {
        target: scratch.path().join("released"),
        report: scratch.path().join("report.json"),
        secret: secret(scratch.path()),
        _scratch: scratch,
    }
}

/// The counts for every mask equal the counts of the released rows, both if all rows share the same
/// labels and if each class has its own labels.
#[tokio::test]
async fn the_rows_with_their_own_value_are_those_of_the_files() {
    let (context, files) = (people().await, files());
    let secret = &files.secret;
    for search in ["", "SEARCH USING mondrian"] {
        let sql = format!(
            "ANONYMIZE (SELECT id, sex, zone, income, faith, creed, grade, weight, height, visited, seen \
             FROM people) TO '{}' OVERWRITE QUASI IDENTIFIERS (sex, zone) SENSITIVE (income RANK SWAP (2 PERCENT) {secret}) \
             KEEP (id, faith PRAM (0.999) {secret}, creed PRAM (0.5) ALPHA (1) {secret}, grade PRAM (0.5) {secret}, \
             weight NOISE (0.0001) {secret}, height NOISE (100) {secret}, visited RANK SWAP (1 PERCENT) {secret}, \
             seen RANK SWAP (0.5) {secret}) SATISFYING k_anonymity(50) REPORT TO '{}' {search}",
            files.target.display(),
            files.report.display()
        );
        let report = json(&context, &sql, &files.report).await;
        load(&context, &files.target).await;
        for column in ALL {
            let expected = recounted(&context, column, "").await;
            assert_eq!(said(&report, column.0), expected, "{} {search}", column.0);
        }
        let columns = report["own_values"].as_array().unwrap();
        assert_eq!(columns.len(), ALL.len());
        // The effect of the masks: PRAM keeps nearly all faiths and fewer creeds. All weights, but
        // hardly any heights, remain near their own value.
        let (rows, faiths, _) = said(&report, "faith");
        let (_, creeds, _) = said(&report, "creed");
        assert!(
            rows == 400 && faiths > 380 && creeds < faiths,
            "{rows} {faiths} {creeds}"
        );
        assert_eq!(said(&report, "weight"), (400, 0, Some(400)));
        let (_, own, near) = said(&report, "height");
        assert!(own == 0 && near.unwrap() < 5, "{near:?}");
        assert_eq!(said(&report, "income").0, 360);
        // These counts are only in the report.
        let manifest = std::fs::read_to_string(files.target.join("_manifest.json")).unwrap();
        assert!(!manifest.contains("own_values") && !manifest.contains("\"near\""));
    }
}

/// Suppressed rows are not counted, whether they are dropped or starred.
#[tokio::test]
async fn suppressed_rows_do_not_count() {
    let (context, files) = (people().await, files());
    let secret = &files.secret;
    for starred in ["", "SUPPRESSED ROWS STARRED"] {
        let sql = format!(
            "ANONYMIZE (SELECT id, few, income, faith, weight FROM people) TO '{}' OVERWRITE QUASI IDENTIFIERS (few) \
             SENSITIVE (income RANK SWAP (2 PERCENT) {secret}) KEEP (id, faith PRAM (0.7) {secret}, \
             weight NOISE (0.01) {secret}) SATISFYING k_anonymity(5) SUPPRESSING AT MOST 10 PERCENT REPORT TO '{}' {starred}",
            files.target.display(),
            files.report.display()
        );
        let report = json(&context, &sql, &files.report).await;
        assert_eq!(report["suppression"]["rows"], 10);
        load(&context, &files.target).await;
        for column in [ALL[0], ALL[1], ALL[4]] {
            let expected = recounted(&context, column, "AND CAST(r.few AS VARCHAR) <> '*'").await;
            assert_eq!(said(&report, column.0), expected, "{} {starred}", column.0);
        }
        assert_eq!(said(&report, "faith").0, 390);
        assert_eq!(said(&report, "income").0, 351);
    }
}

/// The counts are the same for any number of threads, both for files and for returned rows.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn threads_do_not_change_the_counts() {
    let files = files();
    let secret = &files.secret;
    let mut found = vec![];
    for threads in [1, 4] {
        let context = census(threads).await;
        for to in [format!("TO '{}' OVERWRITE", files.target.display()), String::new()] {
            let sql = format!(
                "ANONYMIZE (SELECT age, sex, education, occupation, income, CAST(income AS DOUBLE) AS pay FROM census) {to} \
                 QUASI IDENTIFIERS (age USING age, sex) SENSITIVE (income RANK SWAP (5 PERCENT) {secret}, \
                 occupation PRAM (0.5) {secret}) KEEP (education PRAM (0.8) {secret}, pay NOISE (0.1) {secret}) \
                 SATISFYING k_anonymity(5) SUPPRESSING AT MOST 5 PERCENT REPORT TO '{}'",
                files.report.display()
            );
            let report = json(&context, &sql, &files.report).await;
            found.push((format!("{threads} {to}"), report["own_values"].clone()));
        }
    }
    let (_, first) = &found[0];
    assert_eq!(first.as_array().unwrap().len(), 4, "{first}");
    for column in first.as_array().unwrap() {
        assert!(column["counts"]["rows"].as_u64().unwrap() > 20_000, "{column}");
    }
    for (way, counts) in &found {
        assert_eq!(counts, first, "{way}");
    }
    // If the noise is a tenth of the standard deviation, 8 percent of the values remain near.
    let report = serde_json::json!({ "own_values": first });
    let (rows, _, near) = said(&report, "pay");
    let share = near.unwrap() as f64 / rows as f64;
    assert!((share - 0.0797).abs() < 0.01, "{share}");
}

/// If rows are suppressed because of their own limits, they were masked before, so the columns are
/// not counted. Without such rows, the columns are counted.
#[tokio::test]
async fn rows_suppressed_for_their_own_limits_leave_nothing_counted() {
    let (context, files) = (context(2), files());
    let setup = "CREATE TABLE diagnoses AS SELECT column1 AS nr, column2 AS age, column3 AS disease FROM (VALUES
            (1, 5, 'gastric ulcer'), (2, 9, 'dyspepsia'), (3, 8, 'bronchitis'), (4, 12, 'pneumonia'), (5, 19, 'pneumonia'));
        CREATE HIERARCHY age AS VALUES (5, '[5-10]', '*'), (8, '[5-10]', '*'), (9, '[5-10]', '*'),
            (12, '[11-20]', '*'), (19, '[11-20]', '*');
        CREATE HIERARCHY disease AS VALUES ('gastric ulcer', 'stomach', '*'), ('dyspepsia', 'stomach', '*'), 
            ('bronchitis', 'lung', '*'), ('pneumonia', 'lung', '*'), ('flu', 'lung', '*')";
    collect(&context, setup).await;
    for (age, is_counted) in [(0, true), (8, false)] {
        let sql = format!(
            "ANONYMIZE (SELECT nr, age, disease, CASE WHEN age = {age} THEN 0 ELSE 0.5 END AS max_leak FROM diagnoses) \
             TO '{}' OVERWRITE QUASI IDENTIFIERS (age USING age) SENSITIVE (disease USING disease) KEEP (nr RANK SWAP (0.5) {}) \
             SATISFYING k_anonymity(2) AND personal_privacy(max_leak) SUPPRESSING AT MOST 1 ROWS REPORT TO '{}' \
             SEARCH USING adaptive_clustering",
            files.target.display(),
            files.secret,
            files.report.display()
        );
        let report = json(&context, &sql, &files.report).await;
        let columns = report["own_values"].as_array().unwrap();
        assert_eq!(columns.len(), 1, "{columns:?}");
        match is_counted {
            true => assert_eq!(said(&report, "nr").0, 5),
            false => assert!(columns[0]["counts"].is_null(), "{columns:?}"),
        }
    }
}

/// The page states the shares. Without randomized masks, the page has no section about them.
#[tokio::test]
async fn the_page_says_the_shares() {
    let (context, files) = (people().await, files());
    let path = files.report.with_extension("md");
    let page = |mask: String| {
        let (context, path, target) = (context.clone(), path.clone(), files.target.clone());
        async move {
            let sql = format!(
                "ANONYMIZE (SELECT sex, faith, weight FROM people) TO '{}' OVERWRITE QUASI IDENTIFIERS (sex) \
                 KEEP (faith{mask}, weight{}) SATISFYING k_anonymity(50) REPORT TO '{}'",
                target.display(),
                mask.replace("PRAM (0.5)", "NOISE (0.0001)"),
                path.display()
            );
            collect(&context, &sql).await;
            std::fs::read_to_string(path).unwrap()
        }
    };
    let text = page(format!(" PRAM (0.5) {}", files.secret)).await;
    assert!(text.contains("## How many rows keep their own value under noise, swapping and chance?"));
    assert!(text.contains("| `weight` | 400 | 0% | 100% |"), "{text}");
    assert!(
        text.contains("| `faith` | 400 | ") && text.contains(" | no standard deviation |"),
        "{text}"
    );
    assert!(!page(String::new()).await.contains("keep their own value"));
}
