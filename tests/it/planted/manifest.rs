//! Violations planted in a manifest.

use super::scene::{HIERARCHIES, Scene};
use super::{AGE, BEYOND, COLUMNS, DM, FILES, SOURCE, set};
use crate::common::{collect, context};
use anonsql::error::ErrorKind;
use anonsql::internal::folder::{Manifest, Role};
use std::collections::BTreeSet;
use std::fs;

const CHANGED: &str = "changes of _manifest.json since it was written";
const UNREADABLE: &str = "statement of _manifest.json that does not parse";
const LEVELS: &str = "levels of _manifest.json that are missing or of no quasi-identifier";
const NAMED: &str = "columns as _manifest.json says";
const NO_SOURCE: &str = "not checked: rows, levels and order of the source as _manifest.json says (no AGAINST)";

fn verify(scene: &Scene, name: &str, more: &str) -> String {
    format!(
        "VERIFY '{}' QUASI IDENTIFIERS (age, sex, zip) SENSITIVE (occupation) SATISFYING k_anonymity(5) {more}",
        scene.path(name).display()
    )
}

/// Creates a copy of the release with a column of names, which its statement does not release.
async fn with_names(scene: &Scene, name: &str) {
    scene
        .plant("plain", name, |r| {
            r.header.push("name".into());
            r.rows.iter_mut().for_each(|row| row.push(Some("Ann".into())));
        })
        .await;
}

#[tokio::test]
async fn a_column_is_found_whatever_the_statement_of_the_manifest_is() {
    let scene = Scene::new().await;
    with_names(&scene, "garbled").await;
    scene.seal("garbled", |m| m.statement = "ANONYMIZE nothing that reads".into());
    for more in ["", &scene.against()] {
        assert_eq!(scene.failing("garbled", "", more).await, set(&[COLUMNS, UNREADABLE]));
    }
    // The manifest gives the column the role KEEP, but its statement does not.
    with_names(&scene, "named").await;
    scene.seal("named", |m| {
        let column = r#"{"name": "name", "data_type": "Utf8", "role": "keep"}"#;
        m.columns.push(serde_json::from_str(column).unwrap());
    });
    assert_eq!(scene.failing("named", "", "").await, set(&[COLUMNS, NAMED]));
    // One role differs from the role in the statement, and a column is missing.
    scene.copy("plain", "role");
    scene.seal("role", |m| {
        let column = m.columns.iter_mut().find(|c| c.role == Role::Keep).unwrap();
        column.role = Role::Class;
    });
    assert_eq!(scene.failing("role", "", "").await, set(&[NAMED]));
    scene
        .plant("plain", "gone", |r| {
            let column = r.column("marital_status");
            r.header.remove(column);
            r.rows.iter_mut().for_each(|row| drop(row.remove(column)));
        })
        .await;
    assert_eq!(scene.failing("gone", "", "").await, set(&[NAMED]));
}

#[tokio::test]
async fn what_is_not_checked_is_said() {
    let scene = Scene::new().await;
    let unchecked = async |name: &str, more: &str| scene.unchecked_of(&verify(&scene, name, more)).await;
    assert!(unchecked("plain", "").await.contains(NO_SOURCE));
    assert!(!unchecked("plain", &scene.against()).await.contains(NO_SOURCE));
    // The release contains raw values, and the manifest calls them level 0. Only the source reveals
    // this.
    let zip = "values of zip that are not of level 2";
    scene.copy("plain", "node");
    scene.seal("node", |m| {
        m.node.insert("zip".into(), 0);
    });
    assert!(unchecked("node", "").await.contains(NO_SOURCE));
    let found = scene.failing("node", "", &scene.against()).await;
    assert!(found.contains(BEYOND) && !found.contains(zip), "{found:?}");
    // A level is missing.
    scene.copy("plain", "level");
    scene.seal("level", |m| {
        m.node.remove("zip");
    });
    let said = unchecked("level", "").await;
    assert!(
        said.contains("not checked: labels of zip (_manifest.json has no level)"),
        "{said:?}"
    );
    // There is no manifest.
    scene.copy("plain", "bare");
    fs::remove_file(scene.path("bare").join("_manifest.json")).unwrap();
    let said = unchecked("bare", "").await;
    assert_eq!(
        said.into_iter().collect::<Vec<_>>(),
        [
            "files read",
            "not checked: files, columns and levels (there is no _manifest.json)"
        ]
    );
}

#[tokio::test]
async fn another_hierarchy_of_the_same_name_is_told() {
    let scene = Scene::new().await;
    let other = context(1);
    collect(&other, &HIERARCHIES.replace("(5, 10, 20)", "(5, 25)")).await;
    let said = super::scene::checks(&other, &verify(&scene, "plain", "")).await;
    let unchecked: BTreeSet<&str> = said
        .iter()
        .filter(|(_, ok)| ok.is_none())
        .map(|(c, _)| c.as_str())
        .collect();
    let labels = "not checked: labels of age (hierarchy age of this session differs from the hierarchy in \
                  _manifest.json)";
    assert!(unchecked.contains(labels), "{unchecked:?}");
    assert!(
        !said
            .iter()
            .any(|(check, _)| check == AGE || check.contains("age that are not of"))
    );
    // If the VERIFY statement names a hierarchy, VERIFY checks it, and the check can fail.
    let named = verify(&scene, "plain", "").replace("(age,", "(age USING age,");
    let said = super::scene::checks(&other, &named).await;
    let failed: Vec<&str> = said
        .iter()
        .filter(|(_, ok)| *ok == Some(false))
        .map(|(c, _)| c.as_str())
        .collect();
    assert_eq!(failed, ["hierarchy age of age as _manifest.json says"]);
    assert_eq!(scene.failing_of(&named).await, set(&[]));
}

#[tokio::test]
async fn any_change_of_the_text_is_found() {
    let scene = Scene::new().await;
    let text = fs::read_to_string(scene.path("plain").join("_manifest.json")).unwrap();
    let manifest = scene.manifest("plain");
    let glm = manifest.metrics["glm"];
    for (name, from, to) in [
        ("seed", "\"seed\": 0".to_string(), "\"seed\": 1".to_string()),
        ("metric", format!("\"glm\": {glm}"), format!("\"glm\": {}", glm / 2.0)),
        (
            "proof",
            "\"proof\": \"given\"".into(),
            "\"proof\": \"proven optimal\"".into(),
        ),
        ("input", manifest.input[0].sha256.clone(), "0".repeat(64)),
        ("space", "{\n".into(), "{\n\n".into()),
    ] {
        assert_eq!(text.matches(&from).count().min(1), 1, "{name}");
        scene.copy("plain", name);
        fs::write(scene.path(name).join("_manifest.json"), text.replacen(&from, &to, 1)).unwrap();
        assert_eq!(
            scene.failing(name, "", &scene.against()).await,
            set(&[CHANGED]),
            "{name}"
        );
    }
    // The manifest says that one more row was read and suppressed. Both the source and a metric
    // that counts these rows reveal this.
    scene.copy("plain", "read");
    scene.seal("read", |m| {
        m.rows_in = m.rows_in.map(|n| n + 1);
        m.rows_suppressed = m.rows_suppressed.map(|n| n + 1);
    });
    assert_eq!(scene.failing("read", "", "").await, set(&[DM]));
    assert_eq!(scene.failing("read", "", &scene.against()).await, set(&[DM, SOURCE]));
}

#[tokio::test]
async fn rows_of_files_and_the_order_of_columns_are_found() {
    let scene = Scene::new().await;
    scene.copy("plain", "rows");
    scene.seal("rows", |m| m.output[0].rows = m.output[0].rows.map(|rows| rows + 1));
    assert_eq!(scene.failing("rows", "", "").await, set(&[FILES]));
    scene.copy("plain", "order");
    scene.seal("order", |m| m.columns.reverse());
    assert_eq!(scene.failing("order", "", "").await, set(&[NAMED]));
}

#[tokio::test]
async fn levels_of_other_columns_and_levels_that_are_gone_are_found() {
    let scene = Scene::new().await;
    for (name, forge) in [
        (
            "more",
            (|m| _ = m.node.insert("occupation".into(), 1)) as fn(&mut Manifest),
        ),
        ("nobody", |m| _ = m.node.insert("nobody".into(), 0)),
        ("fewer", |m| _ = m.node.remove("zip")),
        ("none", |m| m.node.clear()),
    ] {
        scene.copy("plain", name);
        scene.seal(name, forge);
        assert_eq!(scene.failing(name, "", "").await, set(&[LEVELS]), "{name}");
    }
    let found = scene.failing("more", "", &scene.against()).await;
    assert_eq!(found, set(&[LEVELS]));
    // A release of local recoding has groups and no levels.
    let census = format!(
        "CREATE EXTERNAL TABLE census STORED AS PARQUET LOCATION '{}'",
        scene.path("census.parquet").display()
    );
    collect(&scene.context, &census).await;
    let local = format!(
        "ANONYMIZE (SELECT age, sex, zip, occupation FROM census) TO '{}' QUASI IDENTIFIERS (age, sex, zip) \
         SENSITIVE (occupation) SATISFYING k_anonymity(5) SEARCH USING mondrian",
        scene.path("local").display()
    );
    collect(&scene.context, &local).await;
    let failing = async |name: &str| scene.failing_of(&verify(&scene, name, "")).await;
    assert_eq!(failing("local").await, set(&[]));
    for (name, forge) in [
        ("groups", (|m| m.partition = None) as fn(&mut Manifest)),
        ("level", |m| _ = m.node.insert("zip".into(), 0)),
    ] {
        scene.copy("local", name);
        scene.seal(name, forge);
        assert!(failing(name).await.contains(LEVELS), "{name}");
    }
    // If a column has two levels, it is not known which one is correct.
    scene.copy("plain", "twice");
    let path = scene.path("twice").join("_manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"age\": ", "\"age\": 0,\n    \"age\": ", 1)).unwrap();
    assert_is_no_manifest(&scene, "twice").await;
}

async fn assert_is_no_manifest(scene: &Scene, release: &str) {
    let error = scene.context.sql(&verify(scene, release, "")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data, "{error}");
    assert!(error.to_string().contains("is not a manifest of anonsql"), "{error}");
}

#[tokio::test]
async fn a_manifest_that_is_no_text_is_an_error_of_the_data() {
    let scene = Scene::new().await;
    scene.copy("plain", "bytes");
    let path = scene.path("bytes").join("_manifest.json");
    let mut bytes = fs::read(&path).unwrap();
    let place = bytes.len() / 2;
    bytes[place] = 0xff;
    fs::write(&path, bytes).unwrap();
    assert_is_no_manifest(&scene, "bytes").await;
}

#[tokio::test]
async fn a_manifest_that_is_none_is_an_error_that_quotes_nothing() {
    let scene = Scene::new().await;
    let text = fs::read_to_string(scene.path("plain").join("_manifest.json")).unwrap();
    for (name, changed) in [
        ("more", text.replacen("{\n", "{\n  \"names\": [\"Ann Smith\"],\n", 1)),
        ("type", text.replacen("\"seed\": 0", "\"seed\": \"Ann Smith\"", 1)),
        ("older", text.replacen("\"columns\"", "\"Ann Smith\"", 1)),
        ("cut", text[..text.len() / 2].to_string()),
    ] {
        scene.copy("plain", name);
        fs::write(scene.path(name).join("_manifest.json"), changed).unwrap();
        let error = scene.context.sql(&verify(&scene, name, "")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data, "{name}: {error}");
        assert!(
            error.to_string().contains("is not a manifest of anonsql"),
            "{name}: {error}"
        );
        assert!(!error.to_string().contains("Ann"), "{name}: {error}");
    }
    scene.copy("plain", "large");
    let file = fs::File::create(scene.path("large").join("_manifest.json")).unwrap();
    file.set_len(1 << 27).unwrap();
    let error = scene.context.sql(&verify(&scene, "large", "")).await.unwrap_err();
    assert!(error.to_string().contains("more than 64 MB"), "{error}");
}

#[tokio::test]
async fn a_file_or_column_that_is_named_again_and_again_is_found_at_once() {
    const TIMES: usize = 50_000;
    let scene = Scene::new().await;
    scene.copy("plain", "files");
    scene.seal("files", |m: &mut Manifest| {
        let file = m.output[0].clone();
        m.output = vec![file; TIMES];
    });
    assert_eq!(scene.failing("files", "", "").await, set(&[FILES]));
    scene.copy("plain", "columns");
    scene.seal("columns", |m: &mut Manifest| {
        let age = m.columns.iter().find(|c| c.name == "age").unwrap().clone();
        m.columns.extend(vec![age; TIMES]);
    });
    assert_eq!(scene.failing("columns", "", "").await, set(&[NAMED]));
}

#[tokio::test]
async fn no_literal_of_a_query_is_in_the_manifest_unless_it_was_asked_for() {
    let scene = Scene::new().await;
    let source = scene.path("census.parquet");
    let listed = "CREATE HIERARCHY listed AS VALUES ('female', 'Ann Smith'), ('male', 'other') ON UNMAPPED TOP";
    collect(&scene.context, listed).await;
    collect(
        &scene.context,
        &format!(
            "CREATE EXTERNAL TABLE census STORED AS PARQUET LOCATION '{}'",
            source.display()
        ),
    )
    .await;
    let release = async |name: &str, options: &str, person: &str| {
        let sql = format!(
            "ANONYMIZE (SELECT age, sex, occupation FROM census WHERE name <> '{person}' AND age <> 12321) TO '{}' {options} \
             QUASI IDENTIFIERS (age USING age, sex USING listed) SENSITIVE (occupation) SATISFYING k_anonymity(5) \
             AT NODE (age 3, sex 1) REPORT TO '{}'",
            scene.path(name).display(),
            scene.path(name).with_extension("json").display()
        );
        collect(&scene.context, &sql).await;
        let report = fs::read_to_string(scene.path(name).with_extension("json")).unwrap();
        let manifest = fs::read_to_string(scene.path(name).join("_manifest.json")).unwrap();
        assert!(!report.contains("Smith") && !report.contains("12321"), "{name}");
        let verify = format!(
            "VERIFY '{}' QUASI IDENTIFIERS (age, sex) SATISFYING k_anonymity(5) AGAINST census",
            scene.path(name).display()
        );
        assert_eq!(scene.failing_of(&verify).await, set(&[]), "{name}");
        (manifest, scene.manifest(name))
    };
    let (text, redacted) = release("redacted", "", "Bob Smith").await;
    assert!(!text.contains("Smith") && !text.contains("12321"), "{text}");
    assert!(
        redacted.statement.contains("name <> '?' AND age <> ?"),
        "{}",
        redacted.statement
    );
    let (text, full) = release("full", "OPTIONS (statement 'full')", "Bob Smith").await;
    assert!(
        full.statement.contains("name <> 'Bob Smith' AND age <> 12321"),
        "{}",
        full.statement
    );
    // Neither manifest contains labels of a hierarchy.
    assert!(!text.contains("Ann"), "{text}");
    let sha = anonsql_sha256(&full.statement);
    assert_eq!(full.statement_sha256, sha);
    // Another literal makes another statement. The digest of a hierarchy also depends on the
    // literal.
    let (_, other) = release("other", "", "Cid Smith").await;
    let digest = |m: &Manifest| m.hierarchy_of("sex").unwrap().digest.clone().unwrap();
    assert_ne!(other.statement_sha256, redacted.statement_sha256);
    assert_ne!(digest(&other), digest(&redacted));
    assert_eq!(other.hierarchy_of("age"), redacted.hierarchy_of("age"));
}

fn anonsql_sha256(text: &str) -> String {
    let bytes = <sha2::Sha256 as sha2::Digest>::digest(text);
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
