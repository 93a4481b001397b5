//! Tests the footers of released files: their content if the statement requests them, and how
//! VERIFY checks the content.

use crate::common::{collect, context};
use anonsql::error::ErrorKind;
use anonsql::manifest::Manifest;
use parquet::file::metadata::KeyValue;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

const REQUEST: &str = "QUASI IDENTIFIERS (age USING age) KEEP (sex) SATISFYING k_anonymity(3)";

async fn session() -> anonsql::AnonContext {
    let context = context(2);
    let people =
        "CREATE TABLE people AS VALUES (31, 'f'), (32, 'f'), (33, 'f'), (41, 'm'), (42, 'm'), (43, 'm'), (44, 'm')";
    collect(&context, &format!("CREATE HIERARCHY age AS INTERVALS (10); {people}")).await;
    collect(
        &context,
        "CREATE VIEW p AS SELECT column1 AS age, column2 AS sex FROM people",
    )
    .await;
    context
}

/// Returns the content of a file's footer.
pub fn said(file: &Path) -> BTreeMap<String, String> {
    let reader = SerializedFileReader::new(File::open(file).unwrap()).unwrap();
    let pairs = reader
        .metadata()
        .file_metadata()
        .key_value_metadata()
        .cloned()
        .unwrap_or_default();
    pairs
        .into_iter()
        .map(|KeyValue { key, value }| (key, value.unwrap()))
        .collect()
}

#[tokio::test]
async fn a_footer_names_the_release_if_it_is_asked_for() {
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    let mut releases = vec![];
    for (name, options) in [
        ("without", ""),
        ("with", "OPTIONS (footer true)"),
        ("again", "OPTIONS (footer true)"),
    ] {
        let folder = scratch.path().join(name);
        let sql = format!("ANONYMIZE p TO '{}' {options} {REQUEST}", folder.display());
        collect(&context, &sql).await;
        let manifest = Manifest::read(&folder).unwrap().unwrap();
        let footer = said(&folder.join(&manifest.output[0].name));
        assert_eq!(footer, manifest.footer, "{name}");
        if name == "without" {
            assert!(footer.is_empty());
        } else {
            assert_eq!(footer["anonsql.models"], "k_anonymity(3)");
            assert_eq!(footer["anonsql.reached_k"], manifest.reached_k.unwrap().to_string());
            assert_eq!(footer["anonsql.statement_sha256"], manifest.statement_sha256);
            releases.push(footer["anonsql.release"].clone());
        }
        let verify = format!(
            "VERIFY '{}' QUASI IDENTIFIERS (age) SATISFYING k_anonymity(3)",
            folder.display()
        );
        context.sql(&verify).await.unwrap();
    }
    // The target is part of the statement, and therefore affects the statement's digest and the
    // release's name.
    assert_ne!(releases[0], releases[1]);
    let csv = format!(
        "ANONYMIZE p TO '{}/csv' STORED AS CSV OPTIONS (footer true) {REQUEST}",
        scratch.path().display()
    );
    let e = context.sql(&csv).await.unwrap_err();
    assert!(
        e.kind() == ErrorKind::Usage && e.to_string().contains("CSV has no footer"),
        "{e}"
    );
}

/// VERIFY detects a footer that differs from the manifest.
#[tokio::test]
async fn a_footer_that_says_something_else_is_found() {
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("release");
    let sql = format!("ANONYMIZE p TO '{}' OPTIONS (footer true) {REQUEST}", folder.display());
    collect(&context, &sql).await;
    let file = folder.join(&Manifest::read(&folder).unwrap().unwrap().output[0].name);
    let original = std::fs::read(&file).unwrap();
    let says = original.windows(14).position(|w| w == b"k_anonymity(3)").unwrap();
    let mut changed = original.clone();
    changed[says + 12] = b'9';
    std::fs::write(&file, changed).unwrap();
    let verify = format!(
        "VERIFY '{}' QUASI IDENTIFIERS (age) SATISFYING k_anonymity(3)",
        folder.display()
    );
    let e = context.sql(&verify).await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Verification, "{e}");
    assert!(e.to_string().contains("files that hold more than rows"), "{e}");
}
