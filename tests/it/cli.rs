//! Tests the command as a user runs it.

use crate::common::{anonsql, process};
use std::process::Output;
use tempfile::TempDir;

/// The last combination of `age` and `zip` has one person, and the others have two, so that the raw
/// columns satisfy only k = 1.
const PEOPLE: &str = "\
name,age,zip,diagnosis
Anna,31,12345,flu
Bert,31,12345,cold
Cleo,47,54321,flu
Dora,47,54321,cold
Emil,52,54329,flu
";

/// Returns a folder with `people.csv`.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("people.csv"), PEOPLE).unwrap();
    folder
}

fn run(folder: &TempDir, args: &[&str]) -> Output {
    anonsql(folder.path()).args(args).output().unwrap()
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// Returns an ANONYMIZE of people.csv that ends with `rest`.
fn anonymize(to: &str, rest: &str) -> String {
    format!(
        "ANONYMIZE 'people.csv' {to} IDENTIFIERS (name) QUASI IDENTIFIERS (age, zip) SENSITIVE (diagnosis) \
         SATISFYING k_anonymity{rest}"
    )
}

#[test]
fn statements_of_all_inputs_run_in_order() {
    let folder = folder();
    std::fs::write(folder.path().join("a.sql"), "INSERT INTO t VALUES (2);").unwrap();
    let args = [
        "--format",
        "csv",
        "-c",
        "CREATE TABLE t AS VALUES (1)",
        "-f",
        "a.sql",
        "-c",
        "SELECT sum(column1) s FROM t",
    ];
    let output = run(&folder, &args);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).ends_with("s\n3\n"), "{}", stdout(&output));
    assert_eq!(stderr(&output), "rows written: 1\n");
}

#[test]
fn standard_input_is_a_script() {
    let folder = folder();
    let output = anonsql(folder.path())
        .args(["--format", "ndjson"])
        .write_stdin("SELECT 1 AS a; SELECT NULL AS b")
        .output()
        .unwrap();
    assert_eq!(stdout(&output), "{\"a\":1}\n{\"b\":null}\n");
}

#[test]
fn every_format_prints_the_same_rows() {
    let folder = folder();
    let sql = "SELECT name, age FROM 'people.csv' ORDER BY name LIMIT 2";
    for (format, wanted) in [
        (
            "table",
            "+------+-----+\n| name | age |\n+------+-----+\n| Anna |  31 |\n| Bert |  31 |\n+------+-----+\n",
        ),
        ("csv", "name,age\nAnna,31\nBert,31\n"),
        (
            "json",
            "[{\"name\":\"Anna\",\"age\":31},{\"name\":\"Bert\",\"age\":31}]\n",
        ),
        (
            "ndjson",
            "{\"name\":\"Anna\",\"age\":31}\n{\"name\":\"Bert\",\"age\":31}\n",
        ),
        (
            "markdown",
            "| name | age |\n| --- | ---: |\n| Anna | 31 |\n| Bert | 31 |\n",
        ),
    ] {
        let output = run(&folder, &["--format", format, "-c", sql]);
        assert_eq!(stdout(&output), wanted, "{format}: {}", stderr(&output));
    }
}

#[test]
fn a_table_is_cut_where_that_was_asked_for() {
    let output = run(&folder(), &["--max-rows", "2", "-c", "SELECT * FROM 'people.csv'"]);
    assert!(stdout(&output).ends_with("... 2 of 5 rows\n"), "{}", stdout(&output));
    let output = run(&folder(), &["-c", "SELECT value FROM generate_series(1, 1000)"]);
    assert_eq!(stdout(&output).lines().count(), 1004);
}

#[test]
fn a_script_stops_at_its_first_error() {
    let folder = folder();
    std::fs::write(
        folder.path().join("a.sql"),
        "SELECT 1 AS a;\nSELECT nothing;\nSELECT 3 AS c;",
    )
    .unwrap();
    let output = run(&folder, &["--format", "csv", "-f", "a.sql", "-c", "SELECT 4"]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(1), "a\n1\n"));
    let error = stderr(&output);
    assert!(
        error.starts_with("error: a.sql: statement 2: there is no column"),
        "{error}"
    );
    assert_eq!(error.lines().count(), 1, "{error}");
}

#[test]
fn errors_are_for_people() {
    let folder = folder();
    std::fs::write(folder.path().join("broken.parquet"), "PAR1 no").unwrap();
    let cases = [
        vec!["-c", "SELECT * FROM nowhere"],
        vec!["-c", "SELEC 1"],
        vec!["-c", "SELECT 'unclosed"],
        vec!["-f", "missing.sql"],
        vec!["-c", "SELECT * FROM 'broken.parquet'"],
        vec!["--format", "xml"],
        vec!["--memory-limit", "lots"],
        vec!["--temp-dir", "missing", "-c", "SELECT 1"],
        vec!["--nonsense"],
    ];
    for case in cases {
        let output = run(&folder, &case);
        assert_eq!((output.status.code(), stdout(&output)), (Some(1), ""), "{case:?}");
        let error = stderr(&output);
        assert!(error.starts_with("error: "), "{case:?}: {error}");
        let first = error["error: ".len()..].chars().next().unwrap();
        assert!(!first.is_uppercase() || error.contains("SELEC"), "{case:?}: {error}");
        for noise in ["Error(", "Error during", "panicked", "backtrace", "caused by"] {
            assert!(!error.contains(noise), "{case:?}: {error}");
        }
    }
}

#[test]
fn a_failed_cast_does_not_quote_the_data() {
    let output = run(&folder(), &["-c", "SELECT CAST(name AS INT) FROM 'people.csv'"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(!stderr(&output).contains("Anna"), "{}", stderr(&output));
}

#[test]
fn exit_codes_tell_outcomes_apart() {
    let folder = folder();
    let code = |sql: &str| {
        let output = run(&folder, &["-q", "-c", sql]);
        (output.status.code(), format!("{}{}", stdout(&output), stderr(&output)))
    };
    let done = anonymize("TO 'out'", "(2) SUPPRESSING AT MOST 1 ROWS");
    let (status, said) = code(&done);
    assert_eq!(status, Some(0), "{said}");
    assert!(folder.path().join("out/_manifest.json").is_file());
    let (status, said) = code(&done);
    assert_eq!(status, Some(5), "{said}");
    let (status, said) = code(&anonymize("TO 'other'", "(6)"));
    assert_eq!(status, Some(3), "{said}");
    assert!(!folder.path().join("other").exists());
    let verify = "VERIFY 'people.csv' QUASI IDENTIFIERS (age, zip) SATISFYING k_anonymity(2)";
    let (status, said) = code(verify);
    assert_eq!(status, Some(4), "{said}");
    assert!(said.contains("k_anonymity") && said.contains("error: "), "{said}");
}

#[test]
fn threads_do_not_change_the_answer() {
    let sql = anonymize("", "(2) SUPPRESSING AT MOST 1 ROWS");
    let folder = folder();
    let one = run(&folder, &["--format", "csv", "--threads", "1", "-c", &sql]);
    assert!(one.status.success(), "{}", stderr(&one));
    let two = run(
        &folder,
        &[
            "--format",
            "csv",
            "--threads",
            "2",
            "--memory-limit",
            "200MB",
            "-c",
            &sql,
        ],
    );
    assert_eq!(stdout(&one), stdout(&two));
    assert_eq!(
        stdout(&one).lines().count(),
        5,
        "a header and the four rows that are kept"
    );
}

#[test]
fn the_log_is_json_without_data() {
    let folder = folder();
    let sql = anonymize("TO 'out'", "(2) SUPPRESSING AT MOST 1 ROWS REPORT TO 'out.md'");
    let output = run(&folder, &["--log", "json", "-c", &sql, "-c", "SELECT nothing"]);
    let events: Vec<serde_json::Value> = stderr(&output)
        .lines()
        .map(|l| serde_json::from_str(l).expect("a line that is no JSON"))
        .collect();
    let has =
        |key: &str, value: &str, other: &str, state: &str| events.iter().any(|e| e[key] == value && e[other] == state);
    let phases = [
        "prepare", "scan", "search", "write", "verify", "publish", "report", "measure",
    ];
    for phase in phases {
        assert!(
            has("phase", phase, "state", "begin") && has("phase", phase, "state", "end"),
            "{phase}: {events:#?}"
        );
    }
    assert!(has("kind", "anonymize", "outcome", "done"), "{events:#?}");
    assert!(has("kind", "sql", "outcome", "usage"), "{events:#?}");
    assert_eq!(events.last().unwrap()["event"], "error");
    // The last event of the run contains its figures and the time of every phase. No phase is
    // missing.
    let end = events.iter().find(|e| e["outcome"] == "done").unwrap();
    let figures = ["k", "rows_in", "rows", "suppressed", "classes"].map(|name| end[name].as_u64().unwrap());
    assert_eq!(figures, [2, 5, 4, 1, 2], "{end}");
    assert_eq!(end["target"], "out");
    let times = end["phases"].as_object().unwrap();
    for phase in phases.iter().chain(&["answer"]) {
        assert!(times[*phase].is_f64(), "{phase}: {end}");
    }
    assert_eq!(times.len(), phases.len() + 1, "{end}");
    // A phase begins when the previous phase ends.
    let states = events
        .iter()
        .filter(|e| e["event"] == "phase")
        .map(|e| e["state"].as_str().unwrap());
    let states: Vec<&str> = states.collect();
    assert!(states.chunks(2).all(|pair| pair == ["begin", "end"]), "{states:?}");
    // Each statement is its own run, and an error belongs to the run of its statement.
    let ids: Vec<&str> = events.iter().map(|e| e["run"].as_str().unwrap()).collect();
    let second = events.iter().position(|e| e["kind"] == "sql").unwrap();
    assert!(ids[..second].iter().all(|id| *id == ids[0]) && ids[second..].iter().all(|id| *id == ids[second]));
    assert_ne!(ids[0], ids[second]);
    // Times and run numbers have random digits, so they are left out. No other part of an event
    // contains a value.
    let told = |event: &serde_json::Value| {
        let mut event = event.as_object().unwrap().clone();
        event.retain(|key, _| !["time", "seconds", "phases", "run"].contains(&key.as_str()));
        serde_json::to_string(&event).unwrap()
    };
    let told: String = events.iter().map(told).collect();
    assert!(told.contains("\"target\":\"out\""), "{told}");
    for value in ["Anna", "12345", "cold"] {
        assert!(!told.contains(value), "{value}");
    }
}

#[test]
fn a_dry_run_answers_the_summary_and_writes_nothing() {
    let folder = folder();
    let files = || {
        let entries = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|e| e.unwrap().file_name());
        entries.collect::<std::collections::BTreeSet<_>>()
    };
    let before = files();
    let sql = anonymize("TO 'out'", "(2) SUPPRESSING AT MOST 1 ROWS REPORT TO 'out.html'");
    let copy = "COPY (SELECT 1) TO 'one.csv'";
    let dry = |sql: &str| run(&folder, &["--dry-run", "--format", "csv", "-c", sql, "-c", copy]);
    let output = dry(&sql);
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stdout(&output);
    assert!(said.contains("\nout,dry run,5,4,1,2,2,"), "{said}");
    assert!(stderr(&output).contains("dry run: nothing was written to one.csv"));
    assert_eq!(files(), before);
    // A statement that would fail also fails in a dry run.
    assert_eq!(dry(&anonymize("TO 'out'", "(6)")).status.code(), Some(3));
    assert!(run(&folder, &["-c", &sql]).status.success());
    assert_eq!(dry(&sql).status.code(), Some(5));
}

#[test]
fn help_and_version_are_results() {
    let folder = folder();
    let output = run(&folder, &["--help"]);
    assert!(output.status.success() && stdout(&output).contains("Examples:"));
    let output = run(&folder, &["--version"]);
    assert!(stdout(&output).starts_with(&format!("anonsql {} (DataFusion ", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn generated_tables_are_readable() {
    let folder = folder();
    let args = [
        "generate",
        "census",
        "--rows",
        "1000",
        "--seed",
        "7",
        "--out",
        "t.parquet",
    ];
    let output = run(&folder, &args);
    assert!(output.status.success(), "{}", stderr(&output));
    let output = run(
        &folder,
        &["--format", "csv", "-c", "SELECT count(*) AS n FROM 't.parquet'"],
    );
    assert_eq!(stdout(&output), "n\n1000\n");
    let output = run(&folder, &["generate", "cencus", "--out", "t.parquet"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("census"), "{}", stderr(&output));
}

/// If the reader of the output goes away, the command ends like a program that receives SIGPIPE.
#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_has_an_exit_code() {
    use std::process::Stdio;
    let folder = folder();
    let many = "SELECT value FROM generate_series(1, 1000000)";
    let mut child = process(folder.path())
        .args(["--format", "csv", "-c", many])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), stderr(&output)), (Some(141), ""));
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_statement() {
    use std::process::{Command, Stdio};
    let folder = folder();
    let endless = "SELECT count(*) FROM generate_series(1, 100000000) a, generate_series(1, 100000000) b \
                   WHERE a.value + b.value = 7";
    let child = Command::new(env!("CARGO_BIN_EXE_anonsql"))
        .args(["-c", "SELECT 1", "-c", endless])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // By then, the second statement is running. If the process were still starting, the signal
    // would kill it, and its exit code would not be 1.
    std::thread::sleep(std::time::Duration::from_secs(2));
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        (output.status.code(), stderr(&output)),
        (Some(1), "error: interrupted\n")
    );
}

#[test]
fn no_name_or_value_acts_on_a_terminal() {
    let folder = folder();
    let path = folder.path();
    let acts = "x\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}\u{2066}\u{200b}y";
    std::fs::write(path.join("names.csv"), format!("{acts},v\n1,{acts}\n")).unwrap();
    std::fs::write(path.join(format!("{acts}.parquet")), "PAR1").unwrap();
    std::fs::write(path.join(format!("{acts}.sql")), "SELEC").unwrap();
    let named = format!("{acts}.parquet");
    let cases = [
        vec!["-c", "SELECT * FROM 'names.csv'"],
        vec!["--format", "markdown", "-c", "SELECT * FROM 'names.csv'"],
        vec!["-c", "SELECT nothing FROM 'names.csv'"],
        vec!["--log", "json", "-c", "SELECT nothing FROM 'names.csv'"],
        vec![
            "-c",
            "ANONYMIZE 'names.csv' QUASI IDENTIFIERS (nothing) SATISFYING k_anonymity(2)",
        ],
        vec![
            "-c",
            "ANONYMIZE 'names.csv' QUASI IDENTIFIERS (v) SATISFYING k_anonymity(1)",
        ],
        vec!["-c", "SUGGEST ROLES FOR 'names.csv'"],
        vec!["--format", &named],
        vec!["--temp-dir", &named, "-c", "SELECT 1"],
        vec!["generate", &named, "--out", "x"],
    ];
    let sql = [
        format!("SELECT * FROM '{named}'"),
        format!("SELECT * FROM \"{acts}\""),
        format!("ANONYMIZE '{named}' QUASI IDENTIFIERS (a) SATISFYING k_anonymity(2)"),
        format!("CREATE HIERARCHY \"{acts}\" FROM '{named}'"),
        format!("DROP HIERARCHY \"{acts}\""),
        format!("VERIFY '{named}' QUASI IDENTIFIERS (a) SATISFYING k_anonymity(2)"),
        format!("{acts} {acts}"),
    ];
    let script = format!("{acts}.sql");
    let more = sql
        .iter()
        .map(|sql| vec!["-c", sql.as_str()])
        .chain([vec!["-f", script.as_str()]]);
    for case in cases.into_iter().chain(more) {
        let output = run(&folder, &case);
        for said in [stdout(&output), stderr(&output)] {
            let found = said.chars().find(|c| *c != '\n' && anonsql::internal::plain::acts(*c));
            assert_eq!(found, None, "{case:?}: {said:?}");
        }
    }
    // Formats for programs contain the values unchanged.
    let csv = run(&folder, &["--format", "csv", "-c", "SELECT v FROM 'names.csv'"]);
    assert_eq!(stdout(&csv), format!("v\n{acts}\n"));
    let json = run(&folder, &["--format", "ndjson", "-c", "SELECT v FROM 'names.csv'"]);
    let read: serde_json::Value = serde_json::from_str(stdout(&json).trim()).unwrap();
    assert_eq!(read, serde_json::json!({ "v": acts }));
}
