//! Tests scripts with parameters, and their output for pipelines.

use crate::common::anonsql;
use std::process::Output;
use tempfile::TempDir;

const PEOPLE: &str = "name,age,zip\nAnna,31,12345\nBert,31,12345\nCleo,47,54321\nDora,47,54321\n";

/// Returns a folder with `people.csv`.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("people.csv"), PEOPLE).unwrap();
    folder
}

fn run(folder: &TempDir, args: &[&str]) -> Output {
    anonsql(folder.path()).args(args).output().unwrap()
}

fn told(output: &Output) -> (Option<i32>, &str, &str) {
    let text = |bytes| std::str::from_utf8(bytes).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn written(folder: &TempDir, name: &str, text: &str) {
    let path = folder.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn a_script_takes_its_parameters_as_values() {
    let folder = folder();
    written(
        &folder,
        "a.sql",
        "SELECT name FROM $people WHERE age = $age ORDER BY name",
    );
    let output = run(
        &folder,
        &[
            "-q",
            "--format",
            "csv",
            "-v",
            "people=people.csv",
            "--variable=age=47",
            "a.sql",
        ],
    );
    assert_eq!(told(&output), (Some(0), "name\nCleo\nDora\n", ""));
    let evil = "-vage=47 OR 1 = 1";
    let output = run(
        &folder,
        &["-q", "--format", "csv", "-v", "people=people.csv", evil, "a.sql"],
    );
    assert!(!told(&output).1.contains("Anna"), "{output:?}");
    let output = run(&folder, &["-v", "people=people.csv", "a.sql"]);
    let (code, _, said) = told(&output);
    assert_eq!(code, Some(1));
    assert!(
        said.contains("a.sql: line 1, column 38: there is no variable \"age\""),
        "{said}"
    );
}

#[test]
fn a_statement_sees_what_those_before_it_set() {
    let sql = "SET VARIABLE a = 2; SET VARIABLE b = $a * 21; SELECT $b AS b";
    let output = run(&folder(), &["-q", "--format", "csv", "-c", sql]);
    assert_eq!(told(&output), (Some(0), "b\n42\n", ""));
}

/// A value from the environment is used, but is in no file and no output.
#[test]
fn a_secret_of_the_environment_stays_there() {
    let folder = folder();
    let secret = "hunt'er\"2 and its 32 random bytes";
    let release = "ANONYMIZE (SELECT age, zip, name || getenv('SALT') AS name FROM 'people.csv') TO 'out'
        OPTIONS (statement 'full') IDENTIFIERS (name HASH WITH SECRET getenv('SALT')) QUASI IDENTIFIERS (age, zip)
        SATISFYING k_anonymity(2) REPORT TO 'out.json'";
    let later = "SET VARIABLE salt = getenv('SALT') || 'x'; SHOW VARIABLES;
        VERIFY 'out' QUASI IDENTIFIERS (age, zip) SATISFYING k_anonymity(2)";
    let output = anonsql(folder.path())
        .env("SALT", secret)
        .args(["--log", "json", "-c", release, "-c", later])
        .output()
        .unwrap();
    assert_eq!(told(&output).0, Some(0), "{output:?}");
    let manifest = std::fs::read_to_string(folder.path().join("out/_manifest.json")).unwrap();
    assert!(
        manifest.contains("getenv('SALT')") && manifest.contains("'env:SALT'"),
        "{manifest}"
    );
    let report = std::fs::read_to_string(folder.path().join("out.json")).unwrap();
    for text in [told(&output).1, told(&output).2, &manifest, &report] {
        assert!(!text.contains("hunt"), "{text}");
    }
    for wrong in [
        "SELECT * FROM getenv('SALT')",
        "SELECT nothing, getenv('SALT')",
        "SELECT CAST(getenv('SALT') AS INT)",
        "SELECT CAST(name || getenv('SALT') AS INT) FROM 'people.csv'",
        "ANONYMIZE 'people.csv' QUASI IDENTIFIERS (getenv('SALT')) SATISFYING k_anonymity(2)",
        "ANONYMIZE 'people.csv' QUASI IDENTIFIERS (age) SATISFYING k_anonymity(getenv('SALT'))",
        "SET VARIABLE s = getenv('SALT'); SELECT * FROM $s",
        "COPY (SELECT 1) TO getenv('SALT') STORED AS NOTHING",
        "SELECT CAST(upper(getenv('SALT')) AS INT)",
        "SELECT CAST(CAST(getenv('NUMBER') AS INT) AS TINYINT)",
        "SELECT CAST(name || upper(getenv('SALT')) AS INT) FROM 'people.csv'",
        "EXPLAIN SELECT upper(getenv('SALT'))",
    ] {
        let output = anonsql(folder.path())
            .env("SALT", secret)
            .env("NUMBER", "987654321")
            .args(["-c", wrong])
            .output()
            .unwrap();
        let (code, _, said) = told(&output);
        let shows = said.to_lowercase().contains("hunt") || said.contains("987654321");
        assert!(code == Some(1) && !shows, "{wrong}: {said}");
    }
    let shown = "CREATE HIERARCHY age AS INTERVALS (getenv('NUMBER')); SHOW HIERARCHIES; SAVE HIERARCHIES TO 'h.sql';
        SELECT getenv('SALT') IS NULL; EXPLAIN ANONYMIZE 'people.csv' IDENTIFIERS (name) QUASI IDENTIFIERS (age USING age)
            KEEP (zip) SATISFYING k_anonymity(2);
        ANONYMIZE 'people.csv' TO 'hidden' IDENTIFIERS (name) QUASI IDENTIFIERS (age USING age) KEEP (zip)
            SATISFYING k_anonymity(2) REPORT TO 'hidden.html'";
    let output = anonsql(folder.path())
        .env("SALT", secret)
        .env("NUMBER", "987654321")
        .args(["-c", shown])
        .output()
        .unwrap();
    assert_eq!(told(&output).0, Some(0), "{output:?}");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(
        read("h.sql").contains("AS INTERVALS ( getenv('NUMBER') )"),
        "{}",
        read("h.sql")
    );
    for text in [told(&output).1, told(&output).2, &read("h.sql"), &read("hidden.html")] {
        assert!(!text.contains("hunt") && !text.contains("987654321"), "{text}");
    }
    let output = run(&folder, &["-c", "SELECT getenv('ANONSQL_NOT_SET')"]);
    let (code, _, said) = told(&output);
    assert_eq!(code, Some(1));
    assert!(
        said.contains("the environment has no variable \"ANONSQL_NOT_SET\""),
        "{said}"
    );
}

#[test]
fn what_a_program_reads_is_one_result() {
    let folder = folder();
    let script = "CREATE HIERARCHY age AS INTERVALS (5, 10); SET VARIABLE k = 1; CREATE TABLE t AS SELECT 1 AS x;
        INSERT INTO t VALUES (2); COPY t TO 't.parquet'; SELECT sum(x) AS s FROM t";
    for (format, wanted) in [("csv", "s\n3\n"), ("json", "[{\"s\":3}]\n"), ("ndjson", "{\"s\":3}\n")] {
        let _ = std::fs::remove_file(folder.path().join("t.parquet"));
        let output = anonsql(folder.path())
            .args(["--format", format])
            .write_stdin(script)
            .output()
            .unwrap();
        let (code, out, notes) = told(&output);
        assert_eq!((code, out), (Some(0), wanted), "{notes}");
        assert!(
            notes.contains("hierarchy age created") && notes.contains("rows written: 1"),
            "{notes}"
        );
    }
    let several = |format| {
        run(
            &folder,
            &["--format", format, "-c", "SELECT 1 AS a; SELECT 2 AS b; SELECT 3 AS c"],
        )
    };
    let output = several("csv");
    let (_, out, notes) = told(&output);
    assert_eq!(out, "a\n1\nb\n2\nc\n3\n");
    assert_eq!(notes.matches("more than one result").count(), 1, "{notes}");
    assert_eq!(told(&several("ndjson")).2, "");
    assert_eq!(told(&several("table")).2, "");
}

#[test]
fn output_appears_when_all_has_succeeded() {
    let folder = folder();
    written(&folder, "out.csv", "old");
    let at = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let output = run(
        &folder,
        &[
            "-o",
            "out.csv",
            "--format",
            "csv",
            "-c",
            "SELECT 1 AS a; SELECT nothing",
        ],
    );
    assert_eq!(
        (told(&output).0, told(&output).1, at("out.csv").as_str()),
        (Some(1), "", "old")
    );
    let output = run(&folder, &["-o", "out.csv", "--format", "csv", "-c", "SELECT 1 AS a"]);
    assert_eq!((told(&output), at("out.csv").as_str()), ((Some(0), "", ""), "a\n1\n"));
    let output = run(
        &folder,
        &["--output=/dev/stdout", "--format", "csv", "-c", "SELECT 1 AS a"],
    );
    assert_eq!(told(&output), (Some(0), "a\n1\n", ""));
    let verify = "VERIFY 'people.csv' QUASI IDENTIFIERS (age) SATISFYING k_anonymity(3)";
    let output = run(&folder, &["-o", "out.csv", "--format", "csv", "-c", verify]);
    assert_eq!(told(&output).0, Some(4));
    assert!(at("out.csv").contains("k_anonymity(3)"));
    let output = run(&folder, &["-o", "none/out.csv", "-c", "SELECT 1"]);
    assert!(
        told(&output).2.contains("--output: there is no folder none"),
        "{output:?}"
    );
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 2, "people.csv and out.csv");
}

#[test]
fn a_script_can_run_first() {
    let folder = folder();
    written(
        &folder,
        "config/anonsql/init.sql",
        "SELECT 'not shown'; SET VARIABLE who = 'own'; SET VARIABLE k = 1",
    );
    written(&folder, "other.sql", "SET VARIABLE who = $whom");
    let select = ["-q", "--format", "csv", "-c", "SELECT $who AS who"];
    let with = |more: &[&str]| run(&folder, &[more, &select].concat());
    assert_eq!(told(&with(&[])), (Some(0), "who\nown\n", ""));
    let output = with(&["-v", "who=line"]);
    assert_eq!(told(&output).1, "who\nline\n", "the command line counts");
    let output = with(&["--init", "other.sql", "-v", "whom=other"]);
    assert_eq!(told(&output), (Some(0), "who\nother\n", ""));
    assert!(told(&with(&["--no-init"])).2.contains("there is no variable \"who\""));
    let output = with(&["--init", "missing.sql"]);
    assert_eq!((told(&output).0, told(&output).1), (Some(1), ""));
}

/// Saved hierarchies load in another session, from another folder.
#[test]
fn saved_hierarchies_load_from_anywhere() {
    let (folder, elsewhere) = (folder(), tempfile::tempdir().unwrap());
    written(&folder, "zip.csv", "12345;123;*\n54321;543;*\n");
    let save =
        "CREATE HIERARCHY zip FROM 'zip.csv'; CREATE HIERARCHY age AS INTERVALS (5, 10); SAVE HIERARCHIES TO 'h.sql'";
    let output = run(&folder, &["-c", save]);
    assert_eq!(told(&output).0, Some(0), "{output:?}");
    let script = folder.path().join("h.sql");
    let describe = [
        "-q",
        "--format",
        "csv",
        "-c",
        "SELECT level_1 FROM hierarchy_levels('zip') ORDER BY 1",
    ];
    let output = anonsql(elsewhere.path()).arg(&script).args(describe).output().unwrap();
    assert_eq!(told(&output).0, Some(0), "{output:?}");
    assert!(told(&output).1.contains("123\n543\n"), "{output:?}");
}

#[test]
fn completions_and_the_manual_are_printed() {
    let folder = folder();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = run(&folder, &["completions", shell]);
        let (code, out, said) = told(&output);
        assert_eq!((code, said), (Some(0), ""), "{shell}");
        assert!(
            out.contains("memory-limit") && !out.contains("generate"),
            "{shell}: {out}"
        );
    }
    let output = run(&folder, &["man"]);
    assert!(
        told(&output).1.contains("memory\\-limit") && told(&output).1.contains(".TH"),
        "{output:?}"
    );
    written(&folder, "man", "SELECT 1 AS a");
    assert_eq!(told(&run(&folder, &["--format", "csv", "./man"])).1, "a\n1\n");
    let version = run(&folder, &["--version"]);
    assert!(told(&version).1.contains("(DataFusion 5"), "{version:?}");
}
