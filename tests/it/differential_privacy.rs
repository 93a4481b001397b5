//! Tests differential privacy from the view of a user: the output and the files of a run, and the
//! inputs of a sample.

use crate::common::anonsql;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use tempfile::TempDir;

/// The number of people: three decades of age with enough people, and one with too few.
const ROWS: usize = 7919;

const REQUEST: &str = "IDENTIFIERS (name) QUASI IDENTIFIERS (age USING age, zip USING zip) AT NODE (age 1, zip 1)";

/// The statements at the beginning of each run. They declare the types of the source's columns, so
/// that the types are not inferred from the rows.
const HIERARCHIES: &str = "CREATE EXTERNAL TABLE one (name VARCHAR, age BIGINT, zip VARCHAR) STORED AS CSV LOCATION 'one/'; \
    CREATE EXTERNAL TABLE many (name VARCHAR, age BIGINT, zip VARCHAR) STORED AS CSV LOCATION 'many/'; \
    CREATE HIERARCHY age AS INTERVALS (10, 20) ON UNMAPPED SUPPRESS; CREATE HIERARCHY zip AS PREFIX (1) ON UNMAPPED TOP";

fn person(i: usize) -> String {
    let age = match i {
        0..4001 => 20 + i % 10,
        4001..6500 => 30 + i % 10,
        6500..7906 => 40 + i % 10,
        _ => 77,
    };
    format!("P{i},{age},{}\n", ["A1", "B2"][i % 2])
}

/// Returns a folder with all people in `one/`. The files of `many/` contain the same people in
/// another order.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, people: &mut dyn Iterator<Item = usize>| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let rows: String = people.map(person).collect();
        std::fs::write(path, format!("name,age,zip\n{rows}")).unwrap();
    };
    write("one/people.csv", &mut (0..ROWS));
    for part in 0..5 {
        write(
            &format!("many/{part}.csv"),
            &mut (0..ROWS).rev().filter(|i| i * 31 % 5 == part),
        );
    }
    folder
}

/// Runs the command. Returns its output and its log.
fn run(folder: &Path, args: &[&str], statements: &[&str]) -> String {
    let mut command = anonsql(folder);
    command
        .env("SAMPLE", "0123456789abcdef0123456789abcdef")
        .args(args)
        .args(["--log", "json", "--format", "csv"]);
    for statement in [HIERARCHIES].iter().chain(statements) {
        command.args(["-c", statement]);
    }
    let output = command.output().unwrap();
    let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
    said += &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    said
}

/// Returns the files of a release by name.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    files
        .map(|p| {
            (
                p.file_name().unwrap().to_string_lossy().into_owned(),
                std::fs::read(p).unwrap(),
            )
        })
        .collect()
}

/// Returns the whole numbers in a text, except those of times and runs.
fn numbers(text: &str) -> BTreeSet<u64> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    words.filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn no_figure_of_the_source_is_printed_or_written() {
    let folder = folder();
    let statement =
        format!("ANONYMIZE one TO 'out' {REQUEST} SATISFYING differential_privacy(1, 0.0001, secret => 'env:SAMPLE')");
    let said = run(folder.path(), &[], &[&statement]);
    let manifest = std::fs::read_to_string(folder.path().join("out/_manifest.json")).unwrap();
    // The numbers of rows of the table, of its classes, and of its small classes.
    let secret = [ROWS as u64, 4001, 2001, 2000, 2499, 1250, 1249, 1406, 703, 13, 7, 6, 4];
    for (what, text) in [("printed", &said), ("manifest", &manifest)] {
        let told: Vec<u64> = secret
            .into_iter()
            .filter(|n| *n > 100 && numbers(text).contains(n))
            .collect();
        assert!(told.is_empty(), "{what}: {told:?} in {text}");
    }
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    for absent in ["rows_in", "rows_suppressed", "warnings"] {
        assert!(manifest.get(absent).is_none(), "{absent}");
    }
    assert_eq!(
        (&manifest["input"], &manifest["metrics"]),
        (&serde_json::json!([]), &serde_json::json!({}))
    );
    let budget = &manifest["differential_privacy"];
    assert_eq!(
        (&budget["epsilon"], &budget["k"], &budget["releases"]),
        (&1.0.into(), &47.into(), &1.into())
    );
    let end = said
        .lines()
        .filter_map(|l| serde_json::from_str::<serde_json::Value>(l).ok());
    let end = end.into_iter().find(|e| e["target"] == "out").unwrap();
    assert!(
        end["rows_in"].is_null() && end["suppressed"].is_null() && end["rows"].is_u64(),
        "{end}"
    );
    // About 63 of 100 rows of the large classes are released, and none of the small ones.
    let rows = end["rows"].as_u64().unwrap();
    assert!((4800..5200).contains(&rows) && end["classes"] == 6, "{end}");
}

#[test]
fn a_sample_depends_on_the_secret_and_the_table_alone() {
    let folder = folder();
    let statement = |source: &str, to: &str, secret: &str| {
        format!("ANONYMIZE {source} TO '{to}' OVERWRITE {REQUEST} SATISFYING differential_privacy(1, 0.0001{secret})")
    };
    let secret = ", secret => 'env:SAMPLE'";
    let data = |to: &str| files(&folder.path().join(to)).remove("part-00000.parquet").unwrap();
    run(folder.path(), &["--threads", "1"], &[&statement("one", "a", secret)]);
    run(folder.path(), &["--threads", "4"], &[&statement("many", "b", secret)]);
    assert!(data("a") == data("b"), "files and threads decide");
    // No output contains the secret.
    for (name, bytes) in files(&folder.path().join("a")) {
        assert!(!bytes.windows(16).any(|w| w == b"0123456789abcdef"), "{name}");
    }
    // Without a secret, every run draws again. A run on another table also draws again.
    run(
        folder.path(),
        &[],
        &[&statement("one", "c", ""), &statement("one", "d", "")],
    );
    assert!(data("c") != data("d") && data("c") != data("a"));
    let path = folder.path().join("one/people.csv");
    let mut people = std::fs::read_to_string(&path).unwrap();
    writeln!(people, "Q,78,A1").unwrap();
    std::fs::write(path, people).unwrap();
    run(folder.path(), &[], &[&statement("one", "e", secret)]);
    assert!(data("e") != data("a"));
}

#[test]
fn a_release_that_was_made_to_look_private_fails() {
    let folder = folder();
    let statement = format!("ANONYMIZE one TO 'out' {REQUEST} SATISFYING differential_privacy(1, 0.0001)");
    run(folder.path(), &[], &[&statement]);
    let verify = |claim: &str| {
        let sql = format!(
            "VERIFY 'out' QUASI IDENTIFIERS (age USING age, zip USING zip) SATISFYING differential_privacy({claim})"
        );
        let output = anonsql(folder.path())
            .args(["--format", "csv", "-c", HIERARCHIES, "-c", &sql])
            .output()
            .unwrap();
        (
            output.status.success(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
        )
    };
    let (ok, said) = verify("1, 0.0001");
    assert!(ok && said.contains("not checked: how the rows were drawn"), "{said}");
    assert!(verify("2, 0.001").0, "what was spent is less than what may be");
    assert!(!verify("0.9, 0.0001").0 && !verify("1, 0.00001").0);
    // The manifest gets a smaller k than the budget requires, a smaller budget than the
    // statement's, and figures that must be withheld.
    let path = folder.path().join("out/_manifest.json");
    let text = std::fs::read_to_string(&path).unwrap();
    for (from, to, check) in [
        ("\"k\": 47", "\"k\": 30", "rows of a class for the budget"),
        ("\"beta\": 0.6", "\"beta\": 0.1", "changes of"),
        (
            "\"rows_out\"",
            "\"rows_in\": 7919,\n  \"rows_out\"",
            "figures of the source",
        ),
    ] {
        assert!(text.contains(from), "{from} is not in {text}");
        std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let (ok, said) = verify("1, 0.0001");
        let failed = said.lines().any(|line| line.contains(check) && line.ends_with("false"));
        assert!(!ok && failed, "{from}: {said}");
    }
}
