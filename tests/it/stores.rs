//! Tests object stores as sources. Statements have the same results as on files, and no output
//! contains a credential.

use crate::common::{anonsql, collect, context, number};
use crate::moto::{Moto, SECRET};
use crate::sources::Watches;
use anonsql::AnonContext;
use anonsql::Phase;
use anonsql::error::ErrorKind;
use anonsql::manifest::Manifest;
use datafusion::object_store::memory::InMemory;
use datafusion::object_store::path::Path;
use datafusion::object_store::{ObjectStore, ObjectStoreExt};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use url::Url;

const PEOPLE: &str = "age,sex\n31,f\n32,f\n33,f\n41,m\n42,m\n43,m\n";
const MORE: &str = "age,sex\n51,f\n52,f\n53,f\n";
const AGES: &str = "31;30-39;*\n32;30-39;*\n33;30-39;*\n41;40-49;*\n42;40-49;*\n43;40-49;*\n";

/// Returns a session whose caller registered a store for `s3://lake`.
async fn registered(objects: &[(&str, &str)]) -> (AnonContext, Arc<InMemory>) {
    let (context, store) = (context(2), Arc::new(InMemory::new()));
    for (path, content) in objects {
        put(store.as_ref(), path, content).await;
    }
    let url = Url::parse("s3://lake").unwrap();
    context.session().register_object_store(&url, Arc::clone(&store) as _);
    (context, store)
}

async fn put(store: &dyn ObjectStore, path: &str, content: &str) {
    let content = content.as_bytes().to_vec();
    store.put(&Path::from(path), content.into()).await.unwrap();
}

/// A URL is accepted wherever the path of a source is, and the store that the caller registered is
/// used.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_url_stands_where_a_path_does() {
    let (context, _) = registered(&[
        ("people/a.csv", PEOPLE),
        ("people/b.csv", MORE),
        ("ages.csv", AGES),
        ("hive/year=2025/a.csv", PEOPLE),
        ("hive/year=2026/a.csv", MORE),
    ])
    .await;
    for (source, rows) in [
        ("s3://lake/people/a.csv", 6),
        ("s3://lake/people/", 9),
        ("s3://lake/people", 9),
        ("s3://lake/people/*.csv", 9),
        ("s3://lake/people/[b]*.csv", 3),
    ] {
        let sql = format!("ANONYMIZE '{source}' QUASI IDENTIFIERS (sex) KEEP (age) SATISFYING k_anonymity(3)");
        let found = collect(&context, &sql).await;
        assert_eq!(found.iter().map(|b| b.num_rows()).sum::<usize>(), rows, "{source}");
        collect(&context, &format!("RISK OF '{source}' QUASI IDENTIFIERS (sex)")).await;
    }
    collect(
        &context,
        "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 's3://lake/people/'",
    )
    .await;
    assert_eq!(number(&collect(&context, "SELECT count(*) FROM t").await), 9.0);
    collect(&context, "CREATE HIERARCHY age FROM 's3://lake/ages.csv'").await;
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("release");
    let rest = "QUASI IDENTIFIERS (age USING age) KEEP (sex) SATISFYING k_anonymity(3)";
    let release = format!("ANONYMIZE 's3://lake/people/a.csv' TO '{}' {rest}", target.display());
    collect(&context, &release).await;
    let manifest = Manifest::read(&target).unwrap().unwrap();
    let [input] = &manifest.input[..] else {
        panic!("one input: {:?}", manifest.input)
    };
    assert_eq!(
        (input.name.as_str(), input.bytes),
        ("s3://lake/people/a.csv", PEOPLE.len() as u64)
    );
    assert!(input.e_tag.is_some());
    collect(
        &context,
        "VERIFY 's3://lake/people/' QUASI IDENTIFIERS (sex) SATISFYING k_anonymity(3)",
    )
    .await;
    let partitioned = collect(
        &context,
        "ANONYMIZE 's3://lake/hive/' QUASI IDENTIFIERS (year) KEEP (age, sex) SATISFYING k_anonymity(3)",
    )
    .await;
    assert_eq!(partitioned.iter().map(|b| b.num_rows()).sum::<usize>(), 9);
}

/// A run ends with an error if an object is replaced or added during the run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_that_changes_during_a_run_ends_it() {
    for at in [Phase::Scan, Phase::Search, Phase::Write, Phase::Verify] {
        for path in ["people/a.csv", "people/b.csv"] {
            let (context, store) = registered(&[("people/a.csv", PEOPLE)]).await;
            let observer = Watches::new(at, move || {
                // An object that is written again counts as a different object, even if it has the
                // same bytes.
                futures::executor::block_on(put(store.as_ref(), path, PEOPLE));
            });
            let context = context.with_observer(Arc::new(observer));
            let scratch = tempfile::tempdir().unwrap();
            let target = scratch.path().join("release");
            let sql = format!(
                "ANONYMIZE 's3://lake/people/' TO '{}' QUASI IDENTIFIERS (sex) KEEP (age) SATISFYING k_anonymity(3)",
                target.display()
            );
            let e = context.sql(&sql).await.expect_err("the source changed");
            assert_eq!(e.kind(), ErrorKind::Data, "{e}");
            assert!(e.to_string().contains("the source changed during the run"), "{e}");
            assert!(!target.exists());
        }
    }
}

/// A URL that does not name objects is refused, and the error recommends an action. A URL with
/// credentials is refused and not shown.
#[tokio::test]
async fn what_cannot_be_read_is_refused() {
    let (context, _) = registered(&[("people/a.csv", PEOPLE)]).await;
    let release = |source: &str| format!("ANONYMIZE '{source}' QUASI IDENTIFIERS (sex) SATISFYING k_anonymity(3)");
    for (sql, said) in [
        (
            release("hdfs://lake/people.csv"),
            "hdfs:// is not a scheme that this session reads",
        ),
        (release("s3://lake/nothing/"), "there is no data file"),
        (release("https://127.0.0.1:1/people/"), "name one file"),
        (
            release("https://ann:quixotica@example.org/a.csv"),
            "contains a user name or a password",
        ),
        (
            release("https://example.org/a.csv?X-Amz-Signature=quixotica"),
            "credentials belong in the environment",
        ),
        (
            "CREATE HIERARCHY h FROM 'https://ann:quixotica@example.org/h.csv'".into(),
            "credentials belong in the environment",
        ),
        (
            "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 'https://ann:quixotica@example.org/h.csv'".into(),
            "credentials belong in the environment",
        ),
        (
            "CREATE HIERARCHY h FROM 's3://lake/nothing.csv'".into(),
            "there is no such object",
        ),
        (
            "SET anonsql.s3.endpoint = 'http://ann:quixotica@h'".into(),
            "credentials belong in the environment",
        ),
    ] {
        let e = context.sql(&sql).await.expect_err(&sql);
        assert!(e.to_string().contains(said), "{sql}: {e}");
        assert!(!format!("{e} {e:?}").contains("quixotica"), "{e}");
    }
}

/// A file on a web server is read. At the end of the run, it is checked for changes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_of_a_web_server_is_a_source() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in server.incoming().flatten() {
            std::thread::spawn(move || serve(stream));
        }
    });
    let context = context(2);
    let found = collect(
        &context,
        &format!("ANONYMIZE 'http://127.0.0.1:{port}/people.csv' QUASI IDENTIFIERS (sex) KEEP (age) SATISFYING k_anonymity(3)"),
    )
    .await;
    assert_eq!(found.iter().map(|b| b.num_rows()).sum::<usize>(), 6);
    let e = context
        .sql(&format!(
            "RISK OF 'http://127.0.0.1:{port}/other.csv' QUASI IDENTIFIERS (sex)"
        ))
        .await
        .unwrap_err();
    assert!(e.to_string().contains("no such file"), "{e}");
}

/// Responds to HEAD and GET requests, including those for a part of a file, as a plain web server
/// does.
fn serve(mut stream: std::net::TcpStream) {
    let mut request = vec![];
    let mut buffer = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut buffer) {
            Ok(n) if n > 0 => request.extend_from_slice(&buffer[..n]),
            _ => return,
        }
    }
    let request = String::from_utf8_lossy(&request).to_lowercase();
    if !request.contains(" /people.csv ") {
        let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        return;
    }
    let range = request.lines().find_map(|line| line.strip_prefix("range: bytes="));
    let range = range.and_then(|range| range.trim().split_once('-'));
    let (status, from, to) = match range {
        Some((from, to)) => (
            "206 Partial Content",
            from.parse().unwrap_or(0),
            to.parse().map_or(PEOPLE.len(), |to: usize| (to + 1).min(PEOPLE.len())),
        ),
        None => ("200 OK", 0, PEOPLE.len()),
    };
    let body = &PEOPLE[from..to];
    let all = PEOPLE.len();
    let part = match range {
        Some(_) => format!("Content-Range: bytes {from}-{}/{all}\r\n", to - 1),
        None => String::new(),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\n{part}ETag: \"1\"\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let body = if request.starts_with("head") { "" } else { body };
    let _ = stream.write_all(format!("{head}{body}").as_bytes());
}

/// The command reads a bucket of a server with the credentials of its environment. The command
/// shows none of these credentials, even if the server is unreachable.
#[test]
#[cfg_attr(not(has_moto), ignore = "needs moto_server: pip install 'moto[server]'")]
fn the_command_reads_a_bucket() {
    let moto = Moto::start();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        moto.put("people/a.csv", PEOPLE).await;
        moto.put("people/b.csv", MORE).await;
        moto.put("ages.csv", AGES).await;
    });
    let scratch = tempfile::tempdir().unwrap();
    std::fs::create_dir(scratch.path().join("people")).unwrap();
    std::fs::write(scratch.path().join("people/a.csv"), PEOPLE).unwrap();
    std::fs::write(scratch.path().join("people/b.csv"), MORE).unwrap();
    let run = |source: &str, before: &str, environment: &[(&str, String)]| {
        let sql = format!(
            "{before}; ANONYMIZE '{source}' QUASI IDENTIFIERS (age) KEEP (sex) SATISFYING k_anonymity(3); \
             SELECT count(*) AS n FROM '{source}'"
        );
        let mut command = anonsql(scratch.path());
        command.args(["--log", "json", "-c", &sql]);
        for (name, value) in environment {
            command.env(name, value);
        }
        let output = command.output().unwrap();
        let said = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(!said.contains(SECRET), "{said}");
        (
            output.status.success(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
            said,
        )
    };
    let create = "CREATE HIERARCHY age AS INTERVALS (10, 20, 40)";
    let (ok, local, said) = run("people/", create, &[]);
    assert!(ok, "{said}");
    let (ok, stored, said) = run("s3://lake/people/", create, &moto.environment());
    assert!(ok, "{said}");
    assert_eq!(local, stored);
    // The settings of the session override the settings of the environment.
    let keys: Vec<_> = moto
        .environment()
        .into_iter()
        .filter(|(name, _)| name.contains("KEY"))
        .collect();
    let set = format!(
        "SET anonsql.s3.endpoint = '{}'; SET anonsql.s3.allow_http = true; {create}",
        moto.endpoint()
    );
    let (ok, stored, said) = run("s3://lake/people/", &set, &keys);
    assert!(ok, "{said}");
    assert_eq!(local.lines().last(), stored.lines().last());
    let wrong = [
        ("AWS_SECRET_ACCESS_KEY", SECRET.to_string()),
        ("AWS_ACCESS_KEY_ID", "tests".into()),
    ];
    let set = "SET anonsql.s3.endpoint = 'http://127.0.0.1:1'";
    let (ok, _, said) = run("s3://lake/people/", set, &wrong);
    assert!(!ok && said.contains("SET anonsql.s3.allow_http = true"), "{said}");
}

/// A report replaces an object only if anonsql wrote it and it is unchanged. Any other object is
/// replaced only with OVERWRITE.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_replaces_its_own_object_alone() {
    let (context, store) = registered(&[("people.csv", PEOPLE), ("mine.md", "mine")]).await;
    let report = |to: &str| {
        format!(
            "UTILITY OF 's3://lake/people.csv' AGAINST 's3://lake/people.csv' QUASI IDENTIFIERS (sex) REPORT TO {to}"
        )
    };
    let text = async |name: &str| {
        let found = store.get(&Path::from(name)).await.unwrap();
        String::from_utf8(found.bytes().await.unwrap().to_vec()).unwrap()
    };
    for _ in 0..2 {
        collect(&context, &report("'s3://lake/report.md'")).await;
        assert!(text("report.md").await.contains("SHA-256 of the text before"));
    }
    put(store.as_ref(), "report.md", &(text("report.md").await + "a note")).await;
    for name in ["mine.md", "report.md"] {
        let refused = context.sql(&report(&format!("'s3://lake/{name}'"))).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::TargetExists, "{refused}");
        assert!(!text(name).await.ends_with("-->\n"), "{name}");
        collect(&context, &report(&format!("'s3://lake/{name}' OVERWRITE"))).await;
        assert!(text(name).await.ends_with("-->\n"), "{name}");
    }
}
