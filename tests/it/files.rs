//! Tests files of every format and compression, wherever a statement accepts a path, and files with
//! a misleading name or content.

use crate::common::{anonsql, collect, context, number};
use crate::sources::Replaces;
use anonsql::AnonContext;
use anonsql::Phase;
use anonsql::error::{Error, ErrorKind};
use anonsql::internal::session::enable_path_tables;
use arrow::ipc::writer::StreamWriter;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::fs::File;
use std::path::Path;

/// A text that no error may contain.
const SECRET: &str = "Quixotica";

fn with_paths() -> AnonContext {
    AnonContext::new(enable_path_tables(SessionContext::new_with_config(
        SessionConfig::new().with_target_partitions(2),
    )))
}

const PEOPLE: &str = "SELECT column1 AS age, column2 AS zip, column3 AS illness FROM (VALUES (31, 'n1', 'Quixotica'), \
                      (31, 'n1', 'flu'), (34, 's2', 'flu'), (34, 's2', NULL))";

#[tokio::test]
async fn a_byte_order_mark_before_json_is_named() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("people.json");
    for text in ["{\"age\": 31}\n", "[{\"age\": 31}]"] {
        std::fs::write(&path, format!("\u{feff}{text}")).unwrap();
        let read = format!("SELECT * FROM '{}'", path.display());
        let error = with_paths().sql(&read).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
        assert!(error.message().contains("byte order mark"), "{error}");
        std::fs::write(&path, text).unwrap();
        assert_eq!(collect(&with_paths(), &read).await[0].num_rows(), 1);
    }
}

/// A folder of reports, such as the folder that the README's statement writes, does not hide a
/// table of the same name.
#[test]
fn a_folder_without_data_is_no_table() {
    let scratch = tempfile::tempdir().unwrap();
    std::fs::create_dir(scratch.path().join("out")).unwrap();
    std::fs::write(scratch.path().join("out/report.html"), "<html>").unwrap();
    let sql = "CREATE TABLE t AS VALUES (31), (31); \
               CREATE TABLE out AS ANONYMIZE t QUASI IDENTIFIERS (column1) SATISFYING k_anonymity(2); \
               SELECT count(*) AS released FROM out WHERE column1 = 31;";
    let answered = anonsql(scratch.path()).args(["-q", "-c", sql]).assert().success();
    let said = String::from_utf8_lossy(&answered.get_output().stdout).into_owned();
    assert!(said.contains("|        2 |"), "{said}");
    for (name, said) in [("out", "there is no table"), ("'out/'", "no data file")] {
        let sql = format!("SELECT * FROM {name}");
        let refused = anonsql(scratch.path()).args(["-c", &sql]).assert().code(1);
        let told = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(told.contains(said), "{name}: {told}");
    }
}

fn zigzag(n: i64, out: &mut Vec<u8>) {
    let mut n = ((n << 1) ^ (n >> 63)) as u64;
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

fn avro_text(text: &str, out: &mut Vec<u8>) {
    zigzag(text.len() as i64, out);
    out.extend(text.as_bytes());
}

/// Returns the people as an Avro file, which DataFusion cannot write.
pub fn avro() -> Vec<u8> {
    let schema = r#"{"type":"record","name":"p","fields":[{"name":"age","type":"long"},{"name":"zip","type":"string"},
                  {"name":"illness","type":["null","string"]}]}"#;
    let mut rows = vec![];
    for (age, zip, illness) in [
        (31, "n1", Some(SECRET)),
        (31, "n1", Some("flu")),
        (34, "s2", Some("flu")),
        (34, "s2", None),
    ] {
        zigzag(age, &mut rows);
        avro_text(zip, &mut rows);
        zigzag(i64::from(illness.is_some()), &mut rows);
        illness.iter().for_each(|text| avro_text(text, &mut rows));
    }
    let mut file = b"Obj\x01".to_vec();
    zigzag(2, &mut file);
    for (key, value) in [("avro.schema", schema), ("avro.codec", "null")] {
        avro_text(key, &mut file);
        avro_text(value, &mut file);
    }
    zigzag(0, &mut file);
    let sync = [7; 16];
    file.extend(sync);
    zigzag(4, &mut file);
    zigzag(rows.len() as i64, &mut file);
    file.extend(rows);
    file.extend(sync);
    file
}

/// Writes the people to files of every format and compression.
async fn write_all(folder: &Path) -> Vec<String> {
    let context = context(1);
    collect(&context, &format!("CREATE TABLE people AS {PEOPLE}")).await;
    let mut names = vec![];
    for (format, endings) in [
        ("csv", &["csv"][..]),
        ("json", &["json", "ndjson"]),
        ("parquet", &["parquet"]),
        ("arrow", &["arrow"]),
    ] {
        for ending in endings {
            let compressions: &[(&str, &str)] = match format {
                "csv" | "json" => &[
                    ("", ""),
                    (".gz", "gzip"),
                    (".zst", "zstd"),
                    (".bz2", "bz2"),
                    (".xz", "xz"),
                ],
                _ => &[("", "")],
            };
            for (more, compression) in compressions {
                let name = format!("people.{ending}{more}");
                let options = match compression.is_empty() {
                    true => String::new(),
                    false => format!(" OPTIONS ('format.compression' '{compression}')"),
                };
                let path = folder.join(&name);
                collect(
                    &context,
                    &format!("COPY people TO '{}' STORED AS {format}{options}", path.display()),
                )
                .await;
                names.push(name);
            }
        }
    }
    std::fs::write(folder.join("people.avro"), avro()).unwrap();
    let batches = collect(&context, "SELECT * FROM people").await;
    let mut stream = StreamWriter::try_new(
        File::create(folder.join("people.arrows")).unwrap(),
        &batches[0].schema(),
    )
    .unwrap();
    batches.iter().for_each(|batch| stream.write(batch).unwrap());
    stream.finish().unwrap();
    let texts = [
        (
            "people.tsv",
            "age\tzip\tillness\n31\tn1\tQuixotica\n31\tn1\tflu\n34\ts2\tflu\n34\ts2\t\n",
        ),
        (
            "semicolons.csv",
            "\u{feff}age;zip;illness\r\n31;n1;Quixotica\r\n31;n1;flu\r\n34;s2;\"flu\"\r\n34;s2;\r\n",
        ),
        (
            "array.json",
            r#" [{"age": 31, "zip": "n1", "illness": "Quixotica"}, {"age": 31, "zip": "n1", "illness": "flu"},
                {"age": 34, "zip": "s2", "illness": "flu"}, {"age": 34, "zip": "s2", "illness": null}]"#,
        ),
    ];
    for (name, text) in texts {
        std::fs::write(folder.join(name), text).unwrap();
        names.push(name.into());
    }
    names.extend(["people.avro".into(), "people.arrows".into()]);
    names
}

/// Every format gives the same rows, wherever a statement accepts a path.
#[tokio::test]
async fn every_format_is_read_wherever_a_path_stands() {
    let folder = tempfile::tempdir().unwrap();
    let names = write_all(folder.path()).await;
    assert_eq!(names.len(), 22);
    for name in names {
        let path = folder.path().join(&name).display().to_string();
        let target = folder.path().join(format!("{name}.out")).display().to_string();
        let context = with_paths();
        let sum = format!("SELECT sum(age) + count(illness) + count(*) FROM '{path}' WHERE zip LIKE '__'");
        assert_eq!(number(&collect(&context, &sum).await), 130.0 + 3.0 + 4.0, "{name}");
        let roles = "QUASI IDENTIFIERS (age, zip) SATISFYING k_anonymity(2)";
        for statement in [
            "CREATE HIERARCHY age AS INTERVALS (5)".to_string(),
            format!(
                "ANONYMIZE '{path}' TO '{target}' QUASI IDENTIFIERS (age USING age, zip) SENSITIVE (illness) POPULATION '{path}' \
                 SATISFYING k_anonymity(2) AND k_map(2)"
            ),
            format!("VERIFY '{target}' {roles} AGAINST '{path}'"),
            format!("VERIFY '{path}' {roles}"),
            format!("RISK OF '{path}' QUASI IDENTIFIERS (age, zip) POPULATION '{path}'"),
            format!("SUGGEST ROLES FOR '{path}'"),
            format!("CHECK HIERARCHY age FOR '{path}'.age"),
        ] {
            collect(&context, &statement).await;
        }
        let manifest = std::fs::read_to_string(Path::new(&target).join("_manifest.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
        let input = &manifest["input"][0];
        assert_eq!(input["bytes"], std::fs::metadata(&path).unwrap().len(), "{name}");
        assert!(input["name"].as_str().unwrap().ends_with(&name), "{input}");
    }
}

fn is_told_well(error: &Error) -> bool {
    error.kind() == ErrorKind::Data && !error.to_string().contains(SECRET)
}

/// Compressed files that are truncated or changed cause a data error, even if the damage is beyond
/// the rows from which the types are inferred.
#[tokio::test]
async fn a_compressed_file_that_is_damaged_is_an_error_of_the_data() {
    let folder = tempfile::tempdir().unwrap();
    let context = context(1);
    let many = format!(
        "CREATE TABLE many AS SELECT value AS age, 'n' || (value * 7919 % 10007) AS zip, '{SECRET}' AS illness FROM range(0, 20000)"
    );
    collect(&context, &many).await;
    for (format, compression, ending) in [
        ("csv", "gzip", "csv.gz"),
        ("csv", "zstd", "csv.zst"),
        ("csv", "bz2", "csv.bz2"),
        ("csv", "xz", "csv.xz"),
        ("json", "gzip", "json.gz"),
        ("json", "zstd", "json.zst"),
    ] {
        let path = folder.path().join(format!("many.{ending}"));
        let copy = format!(
            "COPY many TO '{}' STORED AS {format} OPTIONS ('format.compression' '{compression}')",
            path.display()
        );
        collect(&context, &copy).await;
        let sum = format!("SELECT sum(age) FROM '{}'", path.display());
        assert_eq!(number(&collect(&with_paths(), &sum).await), 199_990_000.0, "{ending}");
        let whole = std::fs::read(&path).unwrap();
        let mut damaged: Vec<Vec<u8>> = [2, 10, 90, 99]
            .map(|share| whole[..whole.len() * share / 100].to_vec())
            .into();
        let mut changed = whole.clone();
        let middle = whole.len() * 2 / 3;
        changed[middle..middle + 40].fill(0xa5);
        damaged.push(changed);
        for (number, bytes) in damaged.into_iter().enumerate() {
            std::fs::write(&path, bytes).unwrap();
            for statement in [
                sum.clone(),
                format!(
                    "ANONYMIZE '{}' QUASI IDENTIFIERS (age, zip) KEEP (illness) SATISFYING k_anonymity(1)",
                    path.display()
                ),
            ] {
                let error = with_paths().sql(&statement).await.map(drop).expect_err(&statement);
                assert!(is_told_well(&error), "{ending} {number}: {:?} {error}", error.kind());
            }
        }
    }
}

/// Every byte of an Avro file after its signature is changed in turn, and the file is cut off at
/// many positions.
#[tokio::test]
async fn a_damaged_avro_file_is_told_well() {
    let folder = tempfile::tempdir().unwrap();
    let whole = avro();
    let path = folder.path().join("people.avro");
    let sql = format!(
        "ANONYMIZE '{}' QUASI IDENTIFIERS (age) KEEP (zip, illness) SATISFYING k_anonymity(1)",
        path.display()
    );
    let cut = (1..whole.len()).step_by(7).map(|end| whole[..end].to_vec());
    let changed = (4..whole.len()).flat_map(|at| {
        [0x7f, 0x01].map(|byte| {
            let mut bytes = whole.clone();
            bytes[at] = byte;
            bytes
        })
    });
    let mut refused = 0;
    for bytes in cut.chain(changed) {
        std::fs::write(&path, &bytes).unwrap();
        let sql = sql.clone();
        let done = tokio::spawn(async move { with_paths().sql(&sql).await.map(drop) }).await;
        if let Err(error) = done.expect("no panic comes through") {
            assert!(
                error.kind() != ErrorKind::Internal && !error.to_string().contains(SECRET),
                "{error}"
            );
            refused += 1;
        }
    }
    assert!(refused > 100, "{refused}");
}

/// If a compressed source is replaced, the run ends with an error, as for any other source.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_compressed_source_that_is_replaced_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    for ending in ["csv.gz", "json.zst"] {
        let (file, by) = (folder.path().join(format!("people.{ending}")), folder.path().join("by"));
        let (format, compression) = if ending == "csv.gz" {
            ("csv", "gzip")
        } else {
            ("json", "zstd")
        };
        let copy = format!(
            "COPY ({PEOPLE}) TO '{}' STORED AS {format} OPTIONS ('format.compression' '{compression}')",
            file.display()
        );
        collect(&context(1), &copy).await;
        std::fs::copy(&file, &by).unwrap();
        let observer = Replaces {
            at: Phase::Write,
            by,
            file: file.clone(),
        };
        let context = context(2).with_observer(std::sync::Arc::new(observer));
        let target = folder.path().join("release");
        let sql = format!(
            "ANONYMIZE '{}' TO '{}' QUASI IDENTIFIERS (age, zip) SENSITIVE (illness) SATISFYING k_anonymity(2)",
            file.display(),
            target.display()
        );
        let error = context.sql(&sql).await.unwrap_err();
        assert!(error.to_string().contains("was replaced"), "{error}");
        assert!(!target.exists());
    }
}

/// A number that would lose its leading zeros, or a text among numbers, is detected in any row. The
/// error names the line.
#[tokio::test]
async fn a_text_that_is_another_kind_of_value_than_the_first_rows_is_told_by_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("late.csv");
    for (late, column) in [
        ("007,0.5,2020-01-31", "age"),
        ("7,Quixotica,2020-01-31", "pay"),
        ("7,0.5,2020-01-32", "born"),
    ] {
        let mut text = "age,pay,born\n".to_string();
        (0..15_000).for_each(|i| text += &format!("{},1.5,2020-01-31\n", i % 90));
        text += &format!("{late}\n");
        std::fs::write(&path, text).unwrap();
        let named = format!("'{}'", path.display());
        let roles = "QUASI IDENTIFIERS (age) KEEP (pay, born) SATISFYING k_anonymity(1)";
        for sql in [
            format!("SELECT max({column}) FROM {named}"),
            format!("ANONYMIZE {named} {roles}"),
        ] {
            let error = with_paths().sql(&sql).await.map(drop).unwrap_err();
            let said = error.to_string();
            assert!(is_told_well(&error), "{error}");
            assert!(
                said.contains("line 15002 is not") && said.contains(&format!("column {column:?}")),
                "{said}"
            );
            assert!(
                said.contains("OPTIONS (types 'text')") && !said.contains("007") && !said.contains("-32"),
                "{said}"
            );
        }
        for options in [
            "types 'text'",
            "schema_infer_max_rec 20000",
            "'format.schema_infer_max_rec' 20000",
        ] {
            collect(&with_paths(), &format!("ANONYMIZE {named} OPTIONS ({options}) {roles}")).await;
        }
    }
    // Beyond the first rows, one file has a row with another number of fields, and another file has
    // a text in another encoding.
    for (late, said) in [
        (&b"1,2\n"[..], "line 15002 has 2 fields"),
        (b"1,\xff\xfe,2020-01-31\n", "line 15002 is not UTF-8"),
    ] {
        let mut bytes = b"age,pay,born\n".to_vec();
        (0..15_000).for_each(|_| bytes.extend(b"3,\"Quixotica\",2020-01-31\n"));
        bytes.extend(late);
        std::fs::write(&path, bytes).unwrap();
        let error = with_paths()
            .sql(&format!("SELECT max(pay) FROM '{}'", path.display()))
            .await
            .map(drop)
            .unwrap_err();
        assert!(is_told_well(&error) && error.to_string().contains(said), "{error}");
    }
}

/// `~` and `$HOME` stand for the home folder in every path of a statement.
#[test]
fn home_stands_in_every_path() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("people.csv"), "age,zip\n31,n1\n31,n1\n").unwrap();
    std::fs::write(home.path().join("zips.csv"), "n1;n\n").unwrap();
    let sql = "CREATE HIERARCHY zip FROM '~/zips.csv'; \
               ANONYMIZE '~/people.csv' TO '$HOME/out' QUASI IDENTIFIERS (age, zip USING zip) SATISFYING k_anonymity(2) REPORT TO '~/r.md'; \
               VERIFY '~/out' QUASI IDENTIFIERS (age, zip) SATISFYING k_anonymity(2) AGAINST '$HOME/people.csv'; \
               ANONYMIZE '~/people.csv' QUASI IDENTIFIERS (age, zip USING zip) SATISFYING k_anonymity(2) USING MANIFEST '~/out'; \
               CREATE EXTERNAL TABLE people STORED AS CSV LOCATION '~/people.csv'; \
               COPY people TO '~/copy.parquet'; \
               COPY (ANONYMIZE '~/copy.parquet' QUASI IDENTIFIERS (age, zip) SATISFYING k_anonymity(2)) TO '$HOME/copied.csv'; \
               SELECT count(*) FROM '~/copied.csv'";
    let run = || {
        let mut command = anonsql(home.path());
        command.args(["-c", sql]);
        command
    };
    run().env("HOME", home.path()).assert().success();
    for written in ["out/_manifest.json", "r.md", "copy.parquet", "copied.csv"] {
        assert!(home.path().join(written).is_file(), "{written}");
    }
    let manifest = std::fs::read_to_string(home.path().join("out/_manifest.json")).unwrap();
    assert!(manifest.contains("ANONYMIZE '~/people.csv'"), "{manifest}");
    let without = run().env_remove("HOME").output().unwrap();
    assert_eq!(without.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&without.stderr).contains("HOME is not set"));
}
