//! Tests that values of environment variables do not appear in the names of columns, in plans, in
//! the output of later statements, or in errors of stores.

use crate::common::anonsql;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use tempfile::TempDir;

/// A value that occurs only in the environment and in the name of one file.
const SECRET: &str = "hunter2secret";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let people = "age,zip,ill\n31,A1,flu\n34,A1,cold\n37,B2,flu\n39,B2,cold\n";
    for name in ["people.csv".to_string(), format!("{SECRET}.csv")] {
        std::fs::write(folder.path().join(name), people).unwrap();
    }
    folder
}

/// Returns the exit code of the command and all its output.
fn said(folder: &Path, statements: &[&str]) -> (Option<i32>, String) {
    let mut command = anonsql(folder);
    command
        .env("SECRET", SECRET)
        .env("SECRET_PATH", format!("{SECRET}.csv"));
    command.args(["--log", "json", "--format", "csv"]);
    for statement in statements {
        command.args(["-c", statement]);
    }
    let output = command.output().unwrap();
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    (output.status.code(), text)
}

fn shows(text: &str) -> bool {
    text.to_lowercase().contains("hunter2")
}

const UNNAMED: &str = "CREATE VIEW v AS SELECT age, upper(getenv('SECRET')) LIKE 'A%', zip FROM 'people.csv'";
const FILTER: &str = "CREATE VIEW v AS SELECT age, zip FROM 'people.csv' WHERE ill <> upper(getenv('SECRET'))";
const FILES: &str = "CREATE EXTERNAL TABLE v STORED AS CSV LOCATION getenv('SECRET_PATH')";
const SCHEMA: &str = "SET datafusion.catalog.information_schema = true";

#[test]
fn no_name_of_a_column_has_a_value_of_the_environment() {
    let folder = folder();
    let table = UNNAMED.replace("VIEW", "TABLE");
    let union =
        "CREATE VIEW v AS SELECT age FROM 'people.csv' UNION ALL SELECT CAST(length(getenv('SECRET')) AS BIGINT)";
    let inner = "CREATE VIEW v AS SELECT * FROM (SELECT age, (SELECT length(getenv('SECRET'))) FROM 'people.csv') AS p";
    let variable = "SET VARIABLE s = getenv('SECRET'); CREATE VIEW v AS SELECT age, $s = zip FROM 'people.csv'";
    for made in [UNNAMED, &table, union, inner, variable] {
        for read in [
            "DESCRIBE v",
            "SELECT * FROM v",
            "SUGGEST ROLES FOR v",
            "CREATE TABLE u AS SELECT * FROM v; DESCRIBE u",
        ] {
            let (code, text) = said(folder.path(), &[made, read]);
            assert!(code == Some(0) && !shows(&text), "{made}; {read}: {text}");
        }
        let (code, text) = said(folder.path(), &[made, "SELECT nothing FROM v"]);
        assert!(code == Some(1) && !shows(&text), "{made}: {text}");
        let columns = "SELECT column_name FROM information_schema.columns";
        let (code, text) = said(folder.path(), &[SCHEMA, made, columns]);
        assert!(code == Some(0) && !shows(&text), "{made}: {text}");
    }
    let (_, text) = said(folder.path(), &[UNNAMED, "DESCRIBE v"]);
    assert!(text.contains("upper(getenv('SECRET')) LIKE 'A%'"), "{text}");
}

#[test]
fn no_file_has_it_in_a_header() {
    let folder = folder();
    let query = "SELECT age, ill = getenv('SECRET'), upper(getenv('SECRET')) IS NULL FROM 'people.csv'";
    for (name, form) in [("a.csv", ""), ("a.json", ""), ("a.parquet", ""), ("a.arrow", "")] {
        let copy = format!("COPY ({query}) TO '{name}' {form}");
        let (code, text) = said(folder.path(), &[&copy]);
        assert!(code == Some(0) && !shows(&text), "{copy}: {text}");
        let written = std::fs::read(folder.path().join(name)).unwrap();
        assert!(!shows(&String::from_utf8_lossy(&written)), "{copy}");
    }
    let release = "ANONYMIZE (SELECT age, zip, ill = getenv('SECRET') FROM 'people.csv') TO 'out' OPTIONS (statement 'full') QUASI IDENTIFIERS (age, zip) \
        KEEP (\"ill = getenv('SECRET')\") SATISFYING k_anonymity(1) REPORT TO 'out.html'";
    let (code, text) = said(folder.path(), &[release]);
    assert!(code == Some(0) && !shows(&text), "{text}");
    for name in ["out/_manifest.json", "out/part-00000.parquet", "out.html"] {
        let written = std::fs::read(folder.path().join(name)).unwrap();
        assert!(!shows(&String::from_utf8_lossy(&written)), "{name}");
    }
}

#[test]
fn explain_is_refused_where_a_plan_has_it() {
    let folder = folder();
    let over = "CREATE VIEW w AS SELECT age FROM v WHERE age > 30";
    let beside = "EXPLAIN SELECT * FROM (ANONYMIZE 'people.csv' QUASI IDENTIFIERS (age, zip) KEEP (ill) SATISFYING k_anonymity(1)) \
        AS a WHERE ill <> upper(getenv('SECRET'))";
    let within = "EXPLAIN SELECT * FROM (ANONYMIZE 'people.csv' QUASI IDENTIFIERS (age, zip) KEEP (ill) SATISFYING k_anonymity(1)) \
        AS a JOIN v ON a.age = v.age";
    // A view of the same name in another schema is a different view, too.
    let elsewhere = "CREATE VIEW other.v AS SELECT 1 AS age";
    for statements in [
        &[FILTER, "EXPLAIN SELECT * FROM v"][..],
        &[FILTER, "EXPLAIN ANALYZE SELECT * FROM v"],
        &[FILTER, "EXPLAIN VERBOSE SELECT * FROM \"v\""],
        &[FILTER, "EXPLAIN FORMAT TREE SELECT 1 FROM public.v"],
        &[FILTER, "EXPLAIN COPY (SELECT * FROM v) TO 'no.csv'"],
        &[FILTER, "EXPLAIN SELECT 1 WHERE EXISTS (SELECT * FROM v)"],
        &[FILTER, "EXPLAIN WITH p AS (SELECT * FROM v) SELECT * FROM p"],
        &[FILTER, over, "EXPLAIN SELECT * FROM w"],
        &[FILES, "EXPLAIN SELECT * FROM v"],
        &[FILTER, "CREATE SCHEMA other", elsewhere, "EXPLAIN SELECT * FROM v"],
        &[beside],
        &[FILTER, within],
    ] {
        let (code, text) = said(folder.path(), statements);
        let refused = text.contains("EXPLAIN would show a value of getenv");
        assert!(code == Some(1) && refused && !shows(&text), "{statements:?}: {text}");
    }
    // A view of the same name without this value is a different view.
    let plain = FILTER
        .replace("upper(getenv('SECRET'))", "'x'")
        .replace("CREATE", "CREATE OR REPLACE");
    for statements in [
        &[FILTER, "EXPLAIN SELECT * FROM 'people.csv'"][..],
        &[FILTER, "DROP VIEW v", &plain, "EXPLAIN SELECT * FROM v"],
    ] {
        let (code, text) = said(folder.path(), statements);
        assert!(code == Some(0) && !shows(&text), "{statements:?}: {text}");
    }
}

#[test]
fn no_list_of_settings_has_it() {
    let folder = folder();
    let set = "SET datafusion.catalog.location = getenv('SECRET')";
    for shown in ["SHOW ALL", "SHOW datafusion.catalog.location"] {
        let (code, text) = said(folder.path(), &[set, shown]);
        let is_hidden = !shows(&text) && text.contains("getenv('SECRET')");
        assert!(code == Some(0) && is_hidden, "{shown}: {text}");
    }
}

#[test]
fn no_later_statement_says_it() {
    let folder = folder();
    let cast = "CREATE VIEW v AS SELECT CAST(zip || upper(getenv('SECRET')) AS BIGINT) AS n, age FROM 'people.csv'";
    for statements in [
        &[cast, "SELECT * FROM v"][..],
        &[
            cast,
            "ANONYMIZE v QUASI IDENTIFIERS (n) KEEP (age) SATISFYING k_anonymity(1)",
        ],
        &[FILES, "SELECT nothing FROM v"],
        &[FILES, "SELECT CAST(ill AS BIGINT) FROM v"],
    ] {
        let (code, text) = said(folder.path(), statements);
        assert!(code == Some(1) && !shows(&text), "{statements:?}: {text}");
    }
    let (code, text) = said(
        folder.path(),
        &[SCHEMA, FILES, "SELECT * FROM information_schema.views"],
    );
    assert!(
        code == Some(0) && !shows(&text) && text.contains("LOCATION getenv('SECRET_PATH')"),
        "{text}"
    );
}

/// Starts a store that rejects every request and repeats the request's credentials in its response.
fn refusing() -> u16 {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let body = "<?xml version=\"1.0\"?>\n<Error><Code>SignatureDoesNotMatch</Code><Message>hunter2</Message>\
        <AWSAccessKeyId>AKIAHUNTER2</AWSAccessKeyId><SignatureProvided>hunter2=</SignatureProvided></Error>";
    let answer = format!(
        "HTTP/1.1 403 Forbidden\r\nContent-Type: application/xml\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    std::thread::spawn(move || {
        for mut stream in server.incoming().flatten() {
            let mut buffer = [0; 8192];
            let _ = stream.read(&mut buffer);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    port
}

#[test]
fn of_the_answer_of_a_store_the_status_and_the_code_are_said() {
    let (folder, port) = (folder(), refusing());
    let mut codes = 0;
    for statement in [
        "SELECT * FROM 's3://lake/people.parquet'",
        "SELECT * FROM 's3://lake/people/'",
        "SELECT * FROM delta.'s3://lake/people'",
        "ANONYMIZE 's3://lake/people/' QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)",
        "ANONYMIZE 'people.csv' TO 's3://lake/out/' QUASI IDENTIFIERS (age, zip) KEEP (ill) SATISFYING k_anonymity(1)",
        "ANONYMIZE 'people.csv' QUASI IDENTIFIERS (age, zip) KEEP (ill) SATISFYING k_anonymity(1) REPORT TO 's3://lake/r.html'",
        "COPY (SELECT 1 AS a) TO 's3://lake/a.csv'",
        "CREATE EXTERNAL TABLE t STORED AS PARQUET LOCATION 's3://lake/people/'",
        "CREATE HIERARCHY h FROM 's3://lake/h.csv'",
        "VACUUM 's3://lake/out/'",
        "VERIFY 's3://lake/out/' QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)",
    ] {
        let output = anonsql(folder.path())
            .env("AWS_ACCESS_KEY_ID", "AKIAHUNTER2")
            .env("AWS_SECRET_ACCESS_KEY", SECRET)
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ALLOW_HTTP", "true")
            .env("AWS_ENDPOINT", format!("http://127.0.0.1:{port}"))
            .args(["--log", "json", "-c", statement])
            .output()
            .unwrap();
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(!output.status.success() && !shows(&text), "{statement}: {text}");
        codes += usize::from(text.contains("SignatureDoesNotMatch"));
    }
    assert!(codes > 0, "no message says the code");
}
