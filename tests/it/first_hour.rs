//! Tests the first hour of a user: a table, SUGGEST ROLES ... TO a script, and this script,
//! unchanged.

use crate::common::{anonsql, shared};
use arrow::array::{AsArray, RecordBatch};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The working folder of a new user.
struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn anonsql(&self, arguments: &[&str]) -> Output {
        let mut command = anonsql(self.0.path());
        command.args(["--format", "ndjson", "--no-progress"]).args(arguments);
        command.output().unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).unwrap();
        format!("'{name}'")
    }

    /// Runs `before`, lets SUGGEST ROLES write a script for a source, and runs the script. Returns
    /// the rows of the proposal.
    fn first_hour(&self, before: &str, source: &str) -> Vec<Value> {
        let suggest = format!("{before} SUGGEST ROLES FOR {source} TO 'release.sql'");
        let rows = rows(self.anonsql(&["-c", &suggest]), &suggest);
        let script = std::fs::read_to_string(self.path("release.sql")).unwrap();
        // The script runs twice, because any script should be repeatable. `before` creates a table
        // of the session again each time.
        let before = format!("{before} SELECT 1");
        for _ in 0..2 {
            succeeded(&self.anonsql(&["-c", &before, "-f", "release.sql"]), &script);
        }
        rows.into_iter().filter(|row| row.get("role").is_some()).collect()
    }

    /// Returns the released rows as columns, each with its distinct texts.
    fn released(&self, name: &str) -> Vec<(String, BTreeSet<String>)> {
        let parts = std::fs::read_dir(self.path(name)).unwrap();
        let parts = parts.map(|part| part.unwrap().path());
        let parts = parts.filter(|part| part.extension().is_some_and(|e| e == "parquet"));
        let read = |part: PathBuf| {
            let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(part).unwrap()).unwrap();
            reader
                .build()
                .unwrap()
                .map(Result::unwrap)
                .collect::<Vec<RecordBatch>>()
        };
        let batches: Vec<RecordBatch> = parts.flat_map(read).collect();
        let schema = batches[0].schema();
        let columns = schema.fields().iter().enumerate().map(|(i, field)| {
            let texts = batches.iter().flat_map(|batch| {
                let texts = arrow::compute::cast(batch.column(i), &arrow::datatypes::DataType::Utf8).unwrap();
                let texts = texts.as_string::<i32>();
                texts
                    .iter()
                    .map(|t| t.unwrap_or("NULL").to_string())
                    .collect::<Vec<_>>()
            });
            (field.name().clone(), texts.collect())
        });
        columns.collect()
    }
}

fn succeeded(output: &Output, what: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{what}");
}

fn rows(output: Output, what: &str) -> Vec<Value> {
    succeeded(&output, what);
    let said = String::from_utf8(output.stdout).unwrap();
    said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the columns that have this role.
fn of<'a>(rows: &'a [Value], role: &str) -> Vec<&'a str> {
    let named = rows.iter().filter(|row| row["role"] == role);
    named.filter_map(|row| row["column"].as_str()).collect()
}

/// Asserts that the release keeps at least half of its quasi-identifiers, and that the proposal
/// gives the loss.
fn is_useful(desk: &Desk, rows: &[Value], name: &str) {
    let released = desk.released(name);
    let all = of(rows, "quasi-identifier");
    let gone = all.iter().filter(|column| {
        let (_, values) = released.iter().find(|(c, _)| c == *column).unwrap();
        values.len() == 1 && values.contains("*")
    });
    assert!(2 * gone.count() <= all.len(), "{all:?}");
    for row in rows
        .iter()
        .filter(|row| row["role"] == "quasi-identifier" || row["role"] == "statement")
    {
        assert!(
            row["loss"].as_f64().is_some_and(|loss| (0.0..=1.0).contains(&loss)),
            "{row}"
        );
    }
    for column in of(rows, "identifier") {
        assert!(released.iter().all(|(c, _)| c != column), "{column}");
    }
}

#[test]
#[cfg_attr(not(has_shared), ignore = "needs ../shared; set ANONSQL_SHARED to the folder")]
fn the_tables_of_the_papers_are_released() {
    for name in ["adult_train_30162", "pima", "hospital_extended", "creditcard_int"] {
        let desk = Desk::new();
        let file = shared(&format!("data/{name}.parquet")).canonicalize().unwrap();
        let rows = desk.first_hour("", &format!("'{}'", file.display()));
        is_useful(&desk, &rows, &format!("out/{name}_k5"));
    }
}

/// Returns a hospital's table as an office exports it: in German, with semicolons and gaps.
fn messy() -> String {
    let first = ["Änne", "Jörg", "Rosa", "Uwe", "Inge", "Öztürk", "Max"];
    let mut text =
        "Lfd. Nr.;Vorname;Nachname;Geburtsdatum;PLZ;Geschlecht;Staatsangehörigkeit;Diagnose;Größe (cm);E-Mail;\
                    Bemerkung;leer;\"Anzahl \"\"Besuche\"\"\"\n"
            .to_string();
    for i in 0..600usize {
        let day = format!("{:02}.{:02}.{}", 1 + i * 7 % 28, 1 + i % 12, 1940 + i * 13 % 70);
        let day = if i % 50 == 7 { "unbekannt".to_string() } else { day };
        let fields = [
            i.to_string(),
            first[i % 7].into(),
            format!("Müller-{}", i * 31 % 97),
            day,
            format!("{:05}", 10_000 + i * 37 % 600),
            ["w", "m", ""][i % 3].into(),
            ["deutsch", "türkisch", "polnisch"][i % 11 % 3].into(),
            ["E11.9", "I10", "J45.0", "C50.9"][i * 5 % 4].into(),
            (150 + i * 17 % 50).to_string(),
            format!("person{i}@example.org"),
            format!("kam am Montag zum {i}. Mal in die Sprechstunde"),
            String::new(),
            (i % 9).to_string(),
        ];
        text += &fields.join(";");
        text.push('\n');
    }
    text
}

/// Checks the proposal for the messy export, and its release.
fn messy_is_released(desk: &Desk, before: &str, source: &str) {
    let rows = desk.first_hour(before, source);
    assert_eq!(of(&rows, "sensitive"), ["Diagnose"]);
    assert_eq!(
        of(&rows, "identifier"),
        ["Lfd. Nr.", "Vorname", "Nachname", "E-Mail", "Bemerkung", "leer"]
    );
    is_useful(desk, &rows, "out/export_k5");
    let released = desk.released("out/export_k5");
    let (_, born) = released.iter().find(|(c, _)| c == "Geburtsdatum").unwrap();
    // The labels contain no days, only a month, a quarter, a year or nothing.
    assert!(born.iter().all(|label| !label.contains('.')), "{born:?}");
}

#[test]
fn a_messy_export_is_released() {
    let desk = Desk::new();
    desk.file("export.csv", &messy());
    let gzip = Command::new("gzip").arg(desk.path("export.csv")).status().unwrap();
    assert!(gzip.success());
    messy_is_released(&desk, "", "'export.csv.gz'");
}

#[test]
fn a_table_of_the_session_is_released() {
    let desk = Desk::new();
    desk.file("export.csv", &messy());
    let table = "CREATE EXTERNAL TABLE export STORED AS CSV LOCATION 'export.csv' \
                 OPTIONS ('format.delimiter' ';', 'format.has_header' 'true');";
    messy_is_released(&desk, table, "export");
    let script = std::fs::read_to_string(desk.path("release.sql")).unwrap();
    assert!(script.contains("-- It needs export: put"), "{script}");
}

#[test]
fn strange_tables_are_released_or_refused_in_words() {
    let quasi = "value % 50 AS age, value % 3 AS sex";
    for (what, columns) in [
        (
            "names",
            r#"value % 50 AS "Age of ""him""", value % 7 AS "zip code", 'x' || (value % 5) AS "straße-nr; --", value % 4 AS "Z
new", value % 3 AS "select""#,
        ),
        (
            "empty",
            "value % 50 AS age, NULL AS nothing, CAST(NULL AS VARCHAR) AS blank, CAST(NULL AS DATE) AS day",
        ),
        ("constant", "value % 50 AS age, 'de' AS country, 1 AS one, true AS yes"),
        (
            "types",
            "value % 50 AS age, value % 2 = 0 AS flag, CAST(value AS DECIMAL(10, 2)) AS amount, \
            to_timestamp(value * 100000) AS seen, CAST('10:00:00' AS TIME) AS at_time, [value] AS list, \
            struct(value) AS parts, arrow_cast(value * 1000, 'Duration(Second)') AS took, value * 0.5e0 AS height, \
            CAST('2024-01-01' AS DATE) + CAST(value AS INT) AS day, arrow_cast('a' || (value % 3), 'Dictionary(Int32, Utf8)') AS dict",
        ),
        (
            "nan",
            "value % 50 AS age, CASE WHEN value % 10 = 0 THEN CAST('NaN' AS DOUBLE) ELSE CAST(value % 9 AS DOUBLE) END AS weight",
        ),
        ("unnamed", r#"value % 50 AS "", value % 3 AS sex"#),
    ] {
        let desk = Desk::new();
        let make = format!("COPY (SELECT {columns} FROM generate_series(1, 300)) TO 't.parquet'");
        let make = if what == "unnamed" || what == "types" || what == "empty" {
            // Parquet does not allow these names or types.
            format!("CREATE VIEW t AS SELECT {columns} FROM generate_series(1, 300);")
        } else {
            succeeded(&desk.anonsql(&["-c", &make]), what);
            String::new()
        };
        let source = if make.is_empty() { "'t.parquet'" } else { "t" };
        let suggest = format!("{make} SUGGEST ROLES FOR {source} TO 'release.sql'");
        succeeded(&desk.anonsql(&["-c", &suggest]), what);
        let script = std::fs::read_to_string(desk.path("release.sql")).unwrap();
        // The script creates a view of the session again.
        succeeded(&desk.anonsql(&["release.sql"]), &format!("{what}\n{script}"));
        assert!(desk.path("out/t_k5/_manifest.json").exists());
    }
    for (what, rows, columns, said) in [
        ("one row", 1, quasi, "the whole table has 1"),
        ("four rows", 4, quasi, "the whole table has 4"),
        (
            "no quasi-identifier",
            99,
            "'a' || value AS name, 'b' || value AS email",
            "no column is proposed",
        ),
    ] {
        let desk = Desk::new();
        let source = format!("(SELECT {columns} FROM generate_series(1, {rows}))");
        let told = desk.anonsql(&["-c", &format!("SUGGEST ROLES FOR {source} TO 'release.sql'")]);
        assert_eq!(told.status.code(), Some(3), "{what}");
        assert!(
            String::from_utf8_lossy(&told.stderr).contains(said),
            "{what}: {}",
            String::from_utf8_lossy(&told.stderr)
        );
        assert!(!desk.path("release.sql").exists());
        // Without TO, the result contains the roles, and the reason why there is no statement.
        let told = self::rows(desk.anonsql(&["-c", &format!("SUGGEST ROLES FOR {source}")]), what);
        assert!(
            told.last().unwrap()["reason"].as_str().unwrap().contains(said),
            "{what}"
        );
        assert!(told.last().unwrap()["statement"].is_null());
    }
    let desk = Desk::new();
    desk.first_hour("", &format!("(SELECT {quasi} FROM generate_series(1, 0))"));
}

#[test]
fn a_file_is_replaced_only_on_request() {
    let desk = Desk::new();
    let source = desk.file(
        "people.csv",
        &"age,town\n31,Bonn\n".replace("31,Bonn\n", &"31,Bonn\n45,Ulm\n".repeat(20)),
    );
    desk.file("release.sql", "mine");
    let suggest = |more: &str| desk.anonsql(&["-c", &format!("SUGGEST ROLES FOR {source} TO {more}")]);
    let refused = suggest("'release.sql'");
    assert_eq!(refused.status.code(), Some(5));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("release.sql exists; add OVERWRITE"));
    assert_eq!(std::fs::read_to_string(desk.path("release.sql")).unwrap(), "mine");
    succeeded(&suggest("'release.sql' OVERWRITE"), "OVERWRITE");
    assert!(
        std::fs::read_to_string(desk.path("release.sql"))
            .unwrap()
            .starts_with("-- SUGGEST ROLES FOR")
    );
    for wrong in ["'s3://lake/release.sql'", "'.'"] {
        let refused = suggest(wrong);
        assert_eq!(refused.status.code(), Some(1), "{wrong}");
        assert!(
            String::from_utf8_lossy(&refused.stderr).contains("a script is a local file"),
            "{wrong}"
        );
    }
    let hidden = std::fs::read_dir(desk.0.path()).unwrap();
    let hidden = hidden.filter(|entry| entry.as_ref().unwrap().file_name().to_str().unwrap().starts_with('.'));
    assert_eq!(hidden.count(), 0);
}

#[test]
fn the_quickstart_keeps_what_people_study() {
    let desk = Desk::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::os::unix::fs::symlink(root.join("data"), desk.path("data")).unwrap();
    let script = root.join("sql/quickstart.sql");
    succeeded(&desk.anonsql(&["-f", script.to_str().unwrap()]), "quickstart");
    for (column, values) in desk.released("out/census_k5") {
        assert!(values.len() > 1, "{column} is {values:?} in every row");
    }
    assert!(desk.path("out/census_k5.html").exists());
}

#[test]
fn a_script_makes_the_views_that_it_reads_and_names_the_tables() {
    let desk = Desk::new();
    let people = "SELECT value % 50 AS age, 'k' || (value % 4) AS town FROM generate_series(1, 200)";
    let make = format!(
        "SET VARIABLE town = 'k1'; CREATE VIEW people AS {people}; CREATE VIEW v AS SELECT age, town FROM people WHERE town <> getenv('TOWN');"
    );
    let mut suggest = crate::common::anonsql(desk.0.path());
    suggest.env("TOWN", "secret-town");
    let told = suggest
        .args(["-c", &format!("{make} SUGGEST ROLES FOR v TO 'v.sql'")])
        .output()
        .unwrap();
    succeeded(&told, "views");
    let script = std::fs::read_to_string(desk.path("v.sql")).unwrap();
    assert!(!script.contains("secret-town"), "{script}");
    let (first, second) = (script.find("VIEW people").unwrap(), script.find("VIEW v ").unwrap());
    assert!(first < second, "{script}");
    let mut alone = crate::common::anonsql(desk.0.path());
    succeeded(&alone.env("TOWN", "k0").arg("v.sql").output().unwrap(), &script);
    assert!(desk.path("out/v_k5/_manifest.json").exists());
    // The session does not know the statement that created a table.
    let make = format!("CREATE TABLE t AS {people};");
    let told = desk.anonsql(&[
        "-c",
        &format!("{make} SUGGEST ROLES FOR (SELECT age, town FROM t) TO 't.sql'"),
    ]);
    succeeded(&told, "a table");
    assert!(String::from_utf8_lossy(&told.stdout).contains("anonsql prepare.sql t.sql, where prepare.sql"));
    assert!(
        std::fs::read_to_string(desk.path("t.sql"))
            .unwrap()
            .contains("-- It needs t: put")
    );
    std::fs::write(desk.path("prepare.sql"), make).unwrap();
    succeeded(&desk.anonsql(&["prepare.sql", "t.sql"]), "both");
}

#[test]
fn a_case_number_is_not_released() {
    let desk = Desk::new();
    let rows: String = (0..200)
        .map(|i| format!("F{};{};A{};7.{i:03},99\n", 100_000 + i, i % 50, 10 + i % 3))
        .collect();
    let source = desk.file("cases.csv", &format!("Fall-Nr;Alter;Station;Betrag\n{rows}"));
    let roles: Vec<(String, String)> = desk
        .first_hour("", &source)
        .iter()
        .filter_map(|row| Some((row["column"].as_str()?.into(), row["role"].as_str()?.into())))
        .collect();
    let of = |column: &str| roles.iter().find(|(c, _)| c == column).unwrap().1.as_str();
    assert_eq!(of("Fall-Nr"), "identifier");
    assert_eq!(of("Station"), "quasi-identifier");
    assert_eq!(of("Betrag"), "sensitive");
    let released = desk.released("out/cases_k5");
    assert!(released.iter().all(|(column, _)| column != "Fall-Nr"), "{released:?}");
}
