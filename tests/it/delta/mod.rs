//! Tests Delta tables as sources and targets. A statement reads one version, a release is committed
//! as one version, and other tools read the same rows.

mod beside;
mod lost;
mod numbers;
mod outside;
mod pipeline;
mod vacuumed;

use crate::common::{collect, context, holds, number, objects, rows, text};
use crate::sources::Watches;
use anonsql::AnonContext;
use anonsql::Phase;
use anonsql::error::ErrorKind;
use anonsql::manifest::Manifest;
use datafusion::object_store::ObjectStoreExt;
use datafusion::object_store::memory::InMemory;
use datafusion::object_store::path::Path as ObjectPath;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use url::Url;

const REQUEST: &str = "QUASI IDENTIFIERS (age USING age) KEEP (sex) SATISFYING k_anonymity(3)";
const VERIFY: &str = "QUASI IDENTIFIERS (age USING age) SATISFYING k_anonymity(3)";

/// The statements that create the source: six people. The release contains none of their names.
const TABLE: &str = "CREATE HIERARCHY age AS INTERVALS (10); \
    CREATE TABLE people AS VALUES (31, 'f', 'Quixotica'), (32, 'f', 'b'), (33, 'f', 'c'), (41, 'm', 'd'), (42, 'm', 'e'), (43, 'm', 'f'); \
    CREATE VIEW p AS SELECT column1 AS age, column2 AS sex FROM people WHERE column3 <> 'Nobody'";

async fn session() -> AnonContext {
    let context = context(2);
    collect(&context, TABLE).await;
    context
}

async fn session_over(store: &Arc<InMemory>) -> AnonContext {
    let context = session().await;
    let url = Url::parse("s3://lake").unwrap();
    context.session().register_object_store(&url, Arc::clone(store) as _);
    context
}

/// Returns the actions of an entry in the log of a local table.
fn entry(table: &Path, version: u64) -> Vec<Value> {
    let path = table.join(format!("_delta_log/{version:020}.json"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn action<'a>(entry: &'a [Value], name: &str) -> &'a Value {
    entry.iter().find_map(|action| action.get(name)).unwrap()
}

/// Adds an entry to the log of a local table, as another tool would do.
fn commit(table: &Path, version: u64, actions: &[Value]) {
    let lines: Vec<String> = actions.iter().map(Value::to_string).collect();
    std::fs::write(table.join(format!("_delta_log/{version:020}.json")), lines.join("\n")).unwrap();
}

fn manifest(table: &Path, version: u64) -> Manifest {
    let entry = entry(table, version);
    let name = action(&entry, "metaData")["configuration"]["anonsql.manifest"].clone();
    let text = std::fs::read(table.join(name.as_str().unwrap())).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// A release in a local table is created, refused, kept, and replaced by a release with other
/// columns. Each version can be read by its number.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_release_is_a_version_of_a_table() {
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    for (name, how) in [
        ("plain", ""),
        ("parts", "PARTITIONED BY (sex)"),
        ("files", "OPTIONS (rows_per_file 2)"),
    ] {
        let table = scratch.path().join(name);
        let to = table.display();
        let release = |how: &str, request: &str| format!("ANONYMIZE p TO '{to}' STORED AS DELTA {how} {request}");
        collect(&context, &release(how, REQUEST)).await;
        let first = manifest(&table, 0);
        let created = entry(&table, 0);
        let told = action(&created, "commitInfo");
        assert_eq!(told["anonsql.k"], "3");
        assert_eq!(told["anonsql.models"], "k_anonymity(3)");
        assert_eq!(told["anonsql.release"], json!(first.run));
        let log = std::fs::read_to_string(table.join("_delta_log/00000000000000000000.json")).unwrap();
        assert!(!log.contains("Nobody") && !log.contains("Quixotica"), "{log}");
        let added: Vec<&Value> = created.iter().filter_map(|action| action.get("add")).collect();
        assert_eq!(added.len(), first.output.len());
        for (added, file) in added.iter().zip(&first.output) {
            let statistics: Value = serde_json::from_str(added["stats"].as_str().unwrap()).unwrap();
            assert_eq!(statistics["numRecords"], json!(file.rows.unwrap()));
            assert_eq!(statistics["nullCount"]["age"], 0);
            assert!(statistics["minValues"]["age"].is_string(), "{statistics}");
        }
        assert!(!table.join("_manifest.json").exists());
        let all = |place: &str| format!("SELECT count(*) FROM {place}");
        assert_eq!(number(&collect(&context, &all(&format!("delta.'{to}'"))).await), 6.0);
        for place in [
            format!("'{to}'"),
            format!("'file://{to}/'"),
            format!("delta.'{to}'"),
            format!("delta.'{to}' VERSION AS OF 0"),
        ] {
            let checks = collect(&context, &format!("VERIFY {place} {VERIFY} AGAINST p")).await;
            assert!(holds(&checks), "{place}: {checks:?}");
            assert_eq!(text(&checks, "check", "files as _manifest.json says", "ok"), "true");
            collect(&context, &format!("RISK OF {place} QUASI IDENTIFIERS (age)")).await;
        }
        let again = format!("ANONYMIZE p {REQUEST} USING MANIFEST '{to}'");
        assert_eq!(rows(&collect(&context, &again).await), 6);

        let e = context.sql(&release(how, REQUEST)).await.unwrap_err();
        assert_eq!((e.kind(), e.exit_code()), (ErrorKind::TargetExists, 5), "{e}");
        collect(&context, &release(&format!("{how} IF NOT EXISTS"), REQUEST)).await;
        assert!(!table.join("_delta_log/00000000000000000001.json").exists());

        let other = "QUASI IDENTIFIERS (age USING age) SATISFYING k_anonymity(3)";
        let smaller = release("OVERWRITE", other).replace(" p TO", " (SELECT age FROM p WHERE age < 40) TO");
        collect(&context, &smaller).await;
        let replaced = entry(&table, 1);
        assert_eq!(
            replaced.iter().filter(|action| action.get("remove").is_some()).count(),
            first.output.len()
        );
        let id = |entry: &[Value]| action(entry, "metaData")["id"].clone();
        assert_eq!(id(&replaced), id(&created));
        let now = collect(&context, &format!("SELECT * FROM delta.'{to}'")).await;
        assert_eq!((rows(&now), now[0].num_columns()), (3, 1));
        assert!(holds(&collect(&context, &format!("VERIFY '{to}' {VERIFY}")).await));
        // The previous release is read by time travel.
        let before = collect(&context, &format!("SELECT age, sex FROM delta.'{to}@v0'")).await;
        assert_eq!(rows(&before), 6);
        let checks = collect(
            &context,
            &format!("VERIFY delta.'{to}' VERSION AS OF 0 {VERIFY} AGAINST p"),
        )
        .await;
        assert!(holds(&checks), "{checks:?}");
        let e = context
            .sql(&format!("VERIFY delta.'{to}' VERSION AS OF 9 {VERIFY}"))
            .await
            .unwrap_err();
        assert!(e.to_string().contains("no version 9"), "{e}");
    }
}

/// A pinned version is read even if later versions exist. The manifest names the table, its version
/// and its files.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_is_pinned_to_its_version() {
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    let source = scratch.path().join("people");
    let from = source.display().to_string();
    let fill = |rows: &str, how: &str| {
        format!(
            "ANONYMIZE ({rows}) TO '{from}' STORED AS DELTA {how} QUASI IDENTIFIERS (age) KEEP (sex) SATISFYING k_anonymity(1)"
        )
    };
    collect(&context, &fill("SELECT * FROM p", "PARTITIONED BY (sex)")).await;
    let other = session().await;
    let overwrite = fill("SELECT * FROM p WHERE age < 33", "OVERWRITE");
    let handle = tokio::runtime::Handle::current();
    let observer = Watches::new(Phase::Write, move || {
        let run = std::thread::spawn(move || handle.block_on(async move { collect(&other, &overwrite).await }));
        run.join().unwrap();
    });
    let watched = session().await.with_observer(Arc::new(observer));
    let out = scratch.path().join("out");
    let release = |from: &str| format!("ANONYMIZE {from} TO '{}' OVERWRITE {REQUEST}", out.display());
    collect(&watched, &release(&format!("delta.'{from}'"))).await;
    let released = Manifest::read(&out).unwrap().unwrap();
    assert_eq!((released.rows_in, released.rows_out), (Some(6), 6));
    assert_eq!(released.input[0].version.as_deref(), Some("0"));
    assert!(
        released.input[0].name.ends_with("/people/"),
        "{}",
        released.input[0].name
    );
    assert_eq!(released.input.len(), 3);
    assert!(released.input[1..].iter().all(|file| file.sha256.len() == 64));
    for (place, expected) in [
        (format!("delta.'{from}'"), 2),
        (format!("delta.'{from}' VERSION AS OF 0"), 6),
        (format!("delta.'{from}' TIMESTAMP AS OF '2199-01-01'"), 2),
        (format!("(SELECT * FROM delta.'{from}@v0' WHERE sex = 'f')"), 3),
        (
            format!("(SELECT t.* FROM delta.'{from}' VERSION AS OF 0 AS t WHERE sex = 'f')"),
            3,
        ),
        (
            format!("(SELECT * FROM delta.'{from}' TIMESTAMP AS OF '2199-01-01')"),
            2,
        ),
        (format!("'{from}'"), 2),
    ] {
        let sql = format!("ANONYMIZE {place} QUASI IDENTIFIERS (age) KEEP (sex) SATISFYING k_anonymity(1)");
        assert_eq!(rows(&collect(&context, &sql).await), expected, "{place}");
    }
    for (place, said) in [
        (format!("delta.'{from}' TIMESTAMP AS OF '1999-01-01'"), "did not exist"),
        (format!("delta.'{from}' TIMESTAMP AS OF 'then'"), "is not a time"),
        (format!("delta.'{}'", out.display()), "there is no Delta table"),
        (format!("'{from}' OPTIONS (delimiter ';')"), "leave OPTIONS out"),
        ("delta.'https://example.org/t'".into(), "web server"),
    ] {
        let sql = format!("ANONYMIZE {place} QUASI IDENTIFIERS (age) KEEP (sex) SATISFYING k_anonymity(1)");
        let e = context.sql(&sql).await.unwrap_err();
        assert!(e.to_string().contains(said), "{e}");
    }
    let same = format!("ANONYMIZE delta.'{from}' TO '{from}' STORED AS DELTA OVERWRITE {REQUEST}");
    let e = context.sql(&same).await.unwrap_err();
    assert!(e.to_string().contains("holds the source"), "{e}");
    // The file is vacuumed between the scans, and then before the run.
    let file = source.join(&manifest(&source, 0).output[0].name);
    let gone = file.clone();
    let observer = Watches::new(Phase::Verify, move || std::fs::remove_file(gone).unwrap());
    let vacuumed = session().await.with_observer(Arc::new(observer));
    for context in [&vacuumed, &context] {
        let sql = release(&format!("delta.'{from}' VERSION AS OF 0"));
        let e = context.sql(&sql).await.unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Data, "{e}");
        assert!(e.to_string().contains("is missing: the table was vacuumed"), "{e}");
    }
}

/// Returns a deletion vector that is stored in the log itself and deletes these rows.
pub fn deletion_vector(rows: &[u16]) -> Value {
    let mut bytes = 1_681_511_377u32.to_le_bytes().to_vec();
    bytes.extend(1u64.to_le_bytes());
    bytes.extend(0u32.to_le_bytes());
    // One container of a roaring bitmap, as an array.
    for number in [12_346u32, 1] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(0u16.to_le_bytes());
    bytes.extend((rows.len() as u16 - 1).to_le_bytes());
    bytes.extend(16u32.to_le_bytes());
    bytes.extend(rows.iter().flat_map(|row| row.to_le_bytes()));
    assert_eq!(bytes.len() % 4, 0);
    let alphabet = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
    let mut spelled = String::new();
    for four in bytes.chunks(4) {
        let number = u32::from_be_bytes(four.try_into().unwrap());
        let digit = |power: u32| char::from(alphabet[(number / 85u32.pow(power) % 85) as usize]);
        spelled.extend((0..5).rev().map(digit));
    }
    json!({"storageType": "i", "pathOrInlineDv": spelled, "sizeInBytes": bytes.len(), "cardinality": rows.len()})
}

/// Rows that a deletion vector deletes are not read, renamed columns are read, and an unknown
/// feature is an error.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn features_of_a_table_are_read_or_refused() {
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    let make = async |name: &str| {
        let table = scratch.path().join(name);
        let sql = format!(
            "ANONYMIZE p TO '{}' STORED AS DELTA QUASI IDENTIFIERS (age) KEEP (sex) SATISFYING k_anonymity(1)",
            table.display()
        );
        collect(&context, &sql).await;
        table
    };
    let features = |reader: &str| json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": [reader], "writerFeatures": [reader]}});
    let table = make("deleted").await;
    let added = action(&entry(&table, 0), "add").clone();
    let mut deleted = added.clone();
    deleted["deletionVector"] = deletion_vector(&[1, 4]);
    let removed = json!({"remove": {"path": added["path"], "dataChange": true, "deletionTimestamp": 0}});
    let add = json!({"add": deleted});
    commit(&table, 1, &[features("deletionVectors"), removed, add]);
    let read = collect(&context, &format!("SELECT sum(age) FROM delta.'{}'", table.display())).await;
    assert_eq!(number(&read), f64::from(31 + 33 + 41 + 43));
    let sql = format!("ANONYMIZE delta.'{}' {}", table.display(), REQUEST.replace('3', "2"));
    assert_eq!(rows(&collect(&context, &sql).await), 4);
    let filtered = format!("SELECT count(*) FROM delta.'{}' WHERE age > 32", table.display());
    assert_eq!(number(&collect(&context, &filtered).await), 3.0);
    // The table is no longer the release that its properties describe.
    let overwrite = format!(
        "ANONYMIZE p TO '{}' STORED AS DELTA OVERWRITE {REQUEST}",
        table.display()
    );
    for sql in [format!("VERIFY '{}' {VERIFY}", table.display()), overwrite] {
        let e = context.sql(&sql).await.unwrap_err();
        assert!(e.to_string().contains("another tool changed"), "{e}");
    }

    let table = make("mapped").await;
    let created = entry(&table, 0);
    let mut metadata = action(&created, "metaData").clone();
    let field = |name: &str, physical: &str, kind: &str, id: u32| {
        let metadata = json!({"delta.columnMapping.id": id, "delta.columnMapping.physicalName": physical});
        json!({"name": name, "type": kind, "nullable": true, "metadata": metadata})
    };
    let fields = [field("years", "age", "long", 1), field("gender", "sex", "string", 2)];
    metadata["schemaString"] = json!(json!({"type": "struct", "fields": fields}).to_string());
    metadata["configuration"] = json!({"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "2"});
    commit(&table, 1, &[features("columnMapping"), json!({"metaData": metadata})]);
    let read = format!("SELECT sum(years) FROM delta.'{}' WHERE gender = 'm'", table.display());
    assert_eq!(number(&collect(&context, &read).await), 126.0);

    let table = make("unknown").await;
    commit(&table, 1, &[features("clairvoyance")]);
    for place in [format!("delta.'{}'", table.display()), format!("'{}'", table.display())] {
        let e = context
            .sql(&format!("RISK OF {place} QUASI IDENTIFIERS (age)"))
            .await
            .unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Data, "{e}");
        assert!(e.to_string().contains("features"), "{e}");
    }
    let damaged = make("damaged").await;
    std::fs::write(
        damaged.join("_delta_log/00000000000000000001.json"),
        "{\"add\": Quixotica",
    )
    .unwrap();
    let e = context
        .sql(&format!("SELECT * FROM delta.'{}'", damaged.display()))
        .await
        .unwrap_err();
    assert!(!e.to_string().contains("Quixotica"), "{e}");
}

/// A table that is not a release is not replaced. A request that no Delta table can fulfil is
/// refused before any row is read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_table_cannot_be_is_refused() {
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    let foreign = scratch.path().join("foreign");
    collect(
        &context,
        &format!("ANONYMIZE p TO '{}' STORED AS DELTA {REQUEST}", foreign.display()),
    )
    .await;
    let mut metadata = action(&entry(&foreign, 0), "metaData").clone();
    metadata["configuration"] = json!({});
    commit(&foreign, 1, &[json!({"metaData": metadata})]);
    let folder = scratch.path().join("folder");
    collect(&context, &format!("ANONYMIZE p TO '{}' {REQUEST}", folder.display())).await;
    let to = |path: &Path, how: &str| format!("ANONYMIZE p TO '{}' STORED AS DELTA {how} {REQUEST}", path.display());
    let new = scratch.path().join("new");
    for (sql, kind, said) in [
        (to(&foreign, ""), ErrorKind::TargetExists, "exists"),
        (to(&foreign, "OVERWRITE"), ErrorKind::Usage, "anonsql did not write"),
        (to(&folder, "OVERWRITE"), ErrorKind::TargetExists, "_manifest.json"),
        (to(&new, "OPTIONS (layout 'plain')"), ErrorKind::Usage, "layout"),
        (
            to(&new, "").replace("TO '", "TO 'https://example.org"),
            ErrorKind::Usage,
            "web server",
        ),
        (
            to(&new, "")
                .replace(" p TO", " (SELECT *, sex AS \"a b\" FROM p) TO")
                .replace("(sex)", "(sex, \"a b\")"),
            ErrorKind::Usage,
            "cannot have a column of this name",
        ),
        (
            to(&new, "")
                .replace(" p TO", " (SELECT *, CAST('10:00' AS TIME) AS t FROM p) TO")
                .replace("(sex)", "(sex, t)"),
            ErrorKind::Usage,
            "cannot store values of type",
        ),
        (
            to(&new, "PARTITIONED BY (sex)").replace(" p TO", " (SELECT age, '' AS sex FROM p) TO"),
            ErrorKind::Data,
            "empty text",
        ),
        (
            format!("VACUUM '{}'", foreign.display()),
            ErrorKind::Usage,
            "local folder",
        ),
        (
            format!("ANONYMIZE p TO '{}' OVERWRITE {REQUEST}", foreign.display()),
            ErrorKind::TargetExists,
            "",
        ),
    ] {
        let e = context.sql(&sql).await.unwrap_err();
        assert!(
            e.kind() == kind && e.to_string().contains(said),
            "{:?} {e}\n{sql}",
            e.kind()
        );
    }
    assert!(!new.exists());
    assert_eq!(Manifest::read(&folder).unwrap().unwrap().rows_out, 6);
}

/// A run ends with exit code 5 or 6, and removes its files and folders, if its table got a new
/// version in the meantime.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_writer_leaves_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let table = scratch.path().join("out");
    for (how, version, ends) in [
        ("PARTITIONED BY (sex)", 0, (ErrorKind::TargetExists, 5)),
        ("OVERWRITE", 1, (ErrorKind::Unavailable, 6)),
    ] {
        let release = format!("ANONYMIZE p TO '{}' STORED AS DELTA {how} {REQUEST}", table.display());
        let (other, own) = (session().await, release.clone());
        let handle = tokio::runtime::Handle::current();
        let observer = Watches::new(Phase::Verify, move || {
            let run = std::thread::spawn(move || handle.block_on(async move { collect(&other, &own).await }));
            run.join().unwrap();
        });
        let slow = session().await.with_observer(Arc::new(observer));
        let e = slow.sql(&release).await.unwrap_err();
        assert_eq!((e.kind(), e.exit_code()), ends, "{e}");
        let folders = std::fs::read_dir(&table).unwrap().count();
        assert_eq!(
            folders as u64,
            version + 3,
            "the log, the manifests, and a folder of each version"
        );
        let manifests = std::fs::read_dir(table.join("_anonsql/manifests")).unwrap().count();
        assert_eq!(manifests as u64, version + 1);
        let checks = collect(&session().await, &format!("VERIFY '{}' {VERIFY}", table.display())).await;
        assert!(holds(&checks), "{checks:?}");
    }
}

/// Two, four and eight writers write to a table in a store at once. Without OVERWRITE, exactly one
/// succeeds, and with OVERWRITE at least one. The others end with exit code 5 or 6 and leave no
/// files.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_many_writers_wins() {
    let store = Arc::new(InMemory::new());
    for (round, writers) in [2, 4, 8].into_iter().enumerate() {
        let (how, ends) = match round {
            0 => ("", (ErrorKind::TargetExists, 5)),
            _ => ("OVERWRITE", (ErrorKind::Unavailable, 6)),
        };
        let release = format!("ANONYMIZE p TO 's3://lake/out' STORED AS DELTA {how} {REQUEST}");
        let runs = (0..writers).map(|_| async { session_over(&store).await.sql(&release).await });
        let ended = futures::future::join_all(runs).await;
        let lost: Vec<_> = ended.into_iter().filter_map(Result::err).collect();
        // With OVERWRITE, a writer that begins after another one has committed may also succeed.
        assert!(lost.iter().all(|e| (e.kind(), e.exit_code()) == ends), "{lost:?}");
        let found = objects(store.as_ref()).await;
        let entries = found.iter().filter(|name| name.starts_with("out/_delta_log/")).count();
        assert!(round > 0 || lost.len() == writers - 1, "{lost:?}");
        let manifests = found.iter().filter(|name| name.ends_with("_manifest.json")).count();
        let files = found.iter().filter(|name| name.ends_with(".parquet")).count();
        assert_eq!((manifests, files), (entries, entries), "{found:?}");
        assert!(!found.iter().any(|name| name.contains("lease")), "{found:?}");
        let checks = collect(
            &session_over(&store).await,
            &format!("VERIFY 's3://lake/out' {VERIFY} AGAINST p"),
        )
        .await;
        assert!(holds(&checks), "{checks:?}");
    }
    // VACUUM does not delete files that any entry of the log names.
    let before = objects(store.as_ref()).await;
    let context = session_over(&store).await;
    assert_eq!(rows(&collect(&context, "VACUUM 's3://lake/out' RETAIN '0s'").await), 0);
    assert_eq!(objects(store.as_ref()).await, before);
    let killed = "out/run=20260101T000000Z00000000/part-00000-000000000000.parquet";
    store.put(&ObjectPath::from(killed), "x".into()).await.unwrap();
    assert_eq!(rows(&collect(&context, "SELECT * FROM delta.'s3://lake/out'").await), 6);
}
