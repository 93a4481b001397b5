//! Tests where warnings appear: on standard error, in the log, in the report, in typed results and
//! in EXPLAIN.

use crate::common::{anonsql, collect, context, text, with_paths};
use anonsql::manifest::WarningKind;
use anonsql::{AnonContext, Observer, manifest::Warning};
use parking_lot::Mutex;
use std::path::Path;
use std::process::Output;
use std::sync::Arc;

/// Returns a statement that releases the repository's census with all social security numbers.
fn census(rest: &str) -> String {
    let census = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/census.parquet");
    format!(
        "CREATE HIERARCHY age AS INTERVALS (10, 20);
         ANONYMIZE (SELECT age, sex, ssn, income FROM '{}') {rest} SENSITIVE (income) QUASI IDENTIFIERS (age USING age, sex) \
         SATISFYING k_anonymity(5) SUPPRESSING AT MOST 1 PERCENT",
        census.display()
    )
}

/// Runs the command in a folder.
fn run(folder: &Path, args: &[&str], sql: &str) -> Output {
    anonsql(folder).args(args).arg("-c").arg(sql).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

const SAID: &str = "ssn is kept, and its values have the form of social security or national numbers";

#[test]
fn a_kept_number_is_warned_of_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let json = ["--format", "json"];
    let told = run(folder.path(), &json, &census("TO 'a' KEEP (ssn)"));
    assert!(stderr(&told).contains(&format!("warning: {SAID}")), "{}", stderr(&told));
    assert!(String::from_utf8_lossy(&told.stdout).contains("\"warnings\":1"));
    assert!(read("a/_manifest.json").contains(SAID));
    for report in ["r.html", "r.md", "r.json"] {
        let quiet = run(
            folder.path(),
            &["--quiet"],
            &(census("TO 'b' OVERWRITE KEEP (ssn)") + &format!(" REPORT TO '{report}'")),
        );
        assert!(
            quiet.status.success() && stderr(&quiet).is_empty(),
            "{}",
            stderr(&quiet)
        );
        assert!(
            read(report).contains("the form of social security or national numbers"),
            "{report}"
        );
    }
    // The red tile is the first of all tiles.
    let page = read("r.html");
    let tiles = page.split("<a class=\"tile ").nth(1).unwrap();
    assert!(tiles.starts_with("open\" href=\"#warnings\""), "{tiles}");
    let logged = run(folder.path(), &["--log", "json"], &census("TO 'c' KEEP (ssn)"));
    let event = stderr(&logged)
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .find(|event| event["event"] == "warning")
        .unwrap();
    assert_eq!(
        (&event["kind"], &event["columns"][0]),
        (&"identifier".into(), &"ssn".into())
    );
}

#[test]
fn a_strict_release_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let refused = run(
        folder.path(),
        &[],
        &(census("TO 'out' KEEP (ssn)") + " WITH (strict = true)"),
    );
    assert_eq!(refused.status.code(), Some(1));
    let said = stderr(&refused);
    assert!(
        said.contains("strict: a warning is open") && said.contains(SAID),
        "{said}"
    );
    assert!(!said.contains("warning:"), "{said}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let set = format!("SET anonsql.strict = true; {}", census("TO 'out' KEEP (ssn)"));
    assert_eq!(run(folder.path(), &[], &set).status.code(), Some(1));
    let accepted = run(
        folder.path(),
        &[],
        &(set + " ACCEPTING WARNINGS ON (ssn) REPORT TO 'r.md'"),
    );
    assert!(
        accepted.status.success() && stderr(&accepted).is_empty(),
        "{}",
        stderr(&accepted)
    );
    let report = std::fs::read_to_string(folder.path().join("r.md")).unwrap();
    assert!(
        report.contains("**Accepted.**") && report.contains("accepted by the statement"),
        "{report}"
    );
}

/// An observer that collects the warnings and the advice.
#[derive(Default)]
struct Told(Mutex<Vec<(String, Vec<String>)>>);

impl Observer for Told {
    fn warned(&self, warning: &Warning) {
        self.0.lock().push((warning.text.clone(), warning.columns.clone()));
    }

    fn advised(&self, advice: &str) {
        self.0.lock().push((advice.into(), vec![]));
    }
}

/// A note about a source belongs to the statement that reads the source, and not to a later
/// statement.
#[tokio::test]
async fn a_note_is_of_the_statement_that_reads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.csv");
    // Only some delimiters are followed by blanks, so the blanks are part of the values.
    std::fs::write(&path, "age,work,sex\n39, a,M\n50, b,F\n61, b,F\n47, a,M\n").unwrap();
    let told = Arc::new(Told::default());
    let context = with_paths(1).with_observer(Arc::clone(&told) as Arc<dyn Observer>);
    let noted = || {
        let told = std::mem::take(&mut *told.0.lock());
        told.iter()
            .filter(|(text, columns)| columns.is_empty() && text.contains("some.csv"))
            .count()
    };
    let path = path.display();
    let request = format!("ANONYMIZE '{path}' QUASI IDENTIFIERS (age, work) KEEP (sex) SATISFYING k_anonymity(1)");
    let anonymized = context.anonymize(&request).await.unwrap();
    // The release has a warning about the source, and no note.
    assert!(!anonymized.release().unwrap().warnings.is_empty());
    assert_eq!(noted(), 0);
    collect(&context, "SELECT 1").await;
    assert_eq!(noted(), 0);
    let verify = format!("VERIFY '{path}' QUASI IDENTIFIERS (age, work) SATISFYING k_anonymity(1)");
    assert!(context.verify(&verify).await.unwrap().holds());
    assert_eq!(noted(), 1);
    collect(&context, "SELECT 1").await;
    assert_eq!(noted(), 0);
}

/// A table with several partitions. Its counts of distinct values are estimates.
const LARGE: &str = "CREATE TABLE people AS SELECT 'p' || CAST(value AS VARCHAR) AS code, value % 70 AS age, value % 2 AS sex, \
                     'room ' || CAST(value % 90001 AS VARCHAR) AS room FROM range(0, 180000)";

#[tokio::test]
async fn the_same_for_any_number_of_threads_and_for_whoever_watches() {
    let mut before: Option<Vec<Warning>> = None;
    for threads in [1, 3] {
        let told = Arc::new(Told::default());
        let context = context(threads).with_observer(Arc::clone(&told) as Arc<dyn Observer>);
        collect(&context, LARGE).await;
        let request = "ANONYMIZE people QUASI IDENTIFIERS (age, sex) KEEP (code, room) SATISFYING k_anonymity(5)";
        let anonymized = context.anonymize(request).await.unwrap();
        let warnings = anonymized.release().unwrap().warnings.clone();
        let kinds: Vec<WarningKind> = warnings.iter().map(|w| w.kind).collect();
        assert_eq!(kinds, [WarningKind::Unique, WarningKind::Linked]);
        assert!(
            warnings[0].text.contains("about 1") && warnings[0].text.contains("in 180000 rows"),
            "{warnings:?}"
        );
        let texts: Vec<&str> = warnings.iter().map(|w| w.text.as_str()).collect();
        let told: Vec<String> = told.0.lock().iter().map(|(text, _)| text.clone()).collect();
        assert_eq!(told, texts);
        assert!(before.is_none_or(|before| before == warnings));
        before = Some(warnings);
    }
}

async fn people() -> AnonContext {
    let context = context(2);
    let people = "CREATE TABLE people AS SELECT 100 + value AS ssn, value % 40 AS age, 'x' || CAST(value % 41 AS VARCHAR) AS job \
                  FROM range(0, 400)";
    collect(&context, people).await;
    context
}

#[tokio::test]
async fn explain_knows_names_and_explain_analyze_what_was_counted() {
    let context = people().await;
    let request = "ANONYMIZE people QUASI IDENTIFIERS (age, job) KEEP (ssn) SATISFYING k_anonymity(2)";
    let rows = collect(&context, &format!("EXPLAIN {request}")).await;
    let warning = text(&rows, "item", "warning", "detail");
    assert_eq!(
        warning,
        "ssn is kept, and named as a social security or national number (Safe Harbor 7)"
    );
    let rows = collect(&context, &format!("EXPLAIN ANALYZE {request} WITH (strict = true)")).await;
    let warning = text(&rows, "item", "warning", "detail");
    assert!(
        warning.contains("it is named as") && warning.contains("(400 values in 400 rows)"),
        "{warning}"
    );
}

/// Every second person has the same age, and each age has its own job. Full-domain recoding loses
/// much here, and local recoding loses little.
#[tokio::test]
async fn a_search_that_loses_much_is_told_of_local_recoding() {
    let told = Arc::new(Told::default());
    let context = people().await.with_observer(Arc::clone(&told) as Arc<dyn Observer>);
    let request = "ANONYMIZE people IDENTIFIERS (ssn) QUASI IDENTIFIERS (age, job) SATISFYING k_anonymity(4)";
    let searched = context.anonymize(request).await.unwrap();
    let advice = searched.release().unwrap().advice.clone().unwrap();
    assert!(
        advice.starts_with("local recoding loses at most 0.") && advice.ends_with(": write RECODING LOCAL"),
        "{advice}"
    );
    assert_eq!(told.0.lock().pop(), Some((advice.clone(), vec![])));
    let taken = context.anonymize(&format!("{request} RECODING LOCAL")).await.unwrap();
    let (taken, searched) = (taken.release().unwrap(), searched.release().unwrap());
    let (lost, loses_searched) = (taken.value.unwrap(), searched.value.unwrap());
    assert!(taken.advice.is_none() && lost < loses_searched / 2.0);
    let loses: f64 = advice.split(' ').nth(5).unwrap().parse().unwrap();
    assert!(lost <= 1.06 * loses, "{advice}: {lost}");
}
