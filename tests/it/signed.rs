//! Tests signed releases. VERIFY detects every change without the source.

use crate::common::{collect, holds, with_paths};
use anonsql::AnonContext;
use anonsql::error::ErrorKind;
use anonsql::manifest::Manifest;
use arrow::array::{AsArray, RecordBatch};
use datafusion::object_store::memory::InMemory;
use datafusion::prelude::SessionContext;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// The key pair from RFC 8410, section 10, and another key pair. They are used only in tests.
const PRIVATE: &str = "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC";
const PUBLIC: &str = "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=";
const OTHER_PRIVATE: &str = "MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";

const REQUEST: &str = "QUASI IDENTIFIERS (g) SENSITIVE (s) SATISFYING k_anonymity(2) AND l_diversity(2) ON s";

/// A session with a table of people, and a folder with keys.
struct Signed {
    folder: TempDir,
    context: AnonContext,
}

impl Signed {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = |name: &str, label: &str, body: &str| {
            let pem = format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n");
            fs::write(folder.path().join(name), pem).unwrap();
        };
        key("release.key", "PRIVATE KEY", PRIVATE);
        key("release.pub", "PUBLIC KEY", PUBLIC);
        key("other.key", "PRIVATE KEY", OTHER_PRIVATE);
        let context = with_paths(2);
        collect(
            &context,
            "CREATE TABLE people AS SELECT value % 4 AS g, 'illness ' || (value % 3) AS s FROM range(0, 48)",
        )
        .await;
        Self { folder, context }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn key(&self, name: &str) -> String {
        format!("OPTIONS (sign 'file:{}')", self.path(name).display())
    }

    /// Releases to a folder, with `more` after the name of the folder.
    async fn release(&self, name: &str, more: &str) -> PathBuf {
        let target = self.path(name);
        let sql = format!("ANONYMIZE people TO '{}' {more} {REQUEST}", target.display());
        collect(&self.context, &sql).await;
        target
    }

    async fn refused(&self, name: &str, more: &str) -> anonsql::error::Error {
        let sql = format!("ANONYMIZE people TO '{}' {more} {REQUEST}", self.path(name).display());
        self.context.sql(&sql).await.unwrap_err()
    }

    /// Returns the checks of VERIFY with the public key, and whether all of them passed.
    async fn verified(&self, release: &Path) -> (Vec<String>, bool) {
        let verify = self.verify(release);
        let checks = answer(&self.context, &verify).await;
        (names(&checks), holds(&checks))
    }

    fn verify(&self, release: &Path) -> String {
        format!(
            "VERIFY '{}' {REQUEST} SIGNED BY '{}'",
            release.display(),
            self.path("release.pub").display()
        )
        .replace(" AND l_diversity(2) ON s", "")
    }
}

/// Returns the rows of a VERIFY, even if its checks fail.
async fn answer(context: &AnonContext, verify: &str) -> Vec<RecordBatch> {
    use futures::TryStreamExt;
    let statement = context.script(verify).unwrap().next().unwrap().unwrap();
    let answer = context.execute(statement).await.unwrap();
    answer.rows.try_collect().await.unwrap()
}

fn names(checks: &[RecordBatch]) -> Vec<String> {
    let texts = checks.iter().flat_map(|batch| {
        let texts = batch.column(0).as_string::<i32>();
        texts.iter().flatten().map(String::from).collect::<Vec<_>>()
    });
    texts.collect()
}

/// Changes the manifest of a release, and updates the checksum of its text.
fn write_anew(release: &Path, change: impl FnOnce(&mut Manifest)) {
    let mut manifest = Manifest::read(release).unwrap().unwrap();
    change(&mut manifest);
    manifest.write(release).unwrap();
}

/// Returns all files of a folder with their bytes.
fn bytes(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            (
                entry.file_name().into_string().unwrap(),
                fs::read(entry.path()).unwrap(),
            )
        })
        .collect();
    files.sort();
    files
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_changed_is_found_without_the_source() {
    let signed = Signed::new().await;
    let sign = signed.key("release.key");
    let whole = signed.release("whole", &sign).await;
    let (checks, holds) = signed.verified(&whole).await;
    assert!(
        holds && checks.iter().any(|check| check == "signature of _manifest.json"),
        "{checks:?}"
    );

    // A file and the manifest are changed, and every checksum is computed again. Only the signature
    // reveals the change.
    let forged = signed.release("forged", &sign).await;
    let other = signed.release("other", "").await;
    let part = "part-00000.parquet";
    let mut written = fs::read(other.join(part)).unwrap();
    assert_eq!(written, fs::read(forged.join(part)).unwrap());
    let replaced = signed.path("replaced");
    collect(
        &signed.context,
        &format!(
            "ANONYMIZE (SELECT g, CASE g WHEN 1 THEN 'other ' || s ELSE s END AS s FROM people) TO '{}' {REQUEST}",
            replaced.display()
        ),
    )
    .await;
    written = fs::read(replaced.join(part)).unwrap();
    fs::write(forged.join(part), &written).unwrap();
    let output = Manifest::read(&replaced).unwrap().unwrap().output;
    write_anew(&forged, |manifest| manifest.output = output);
    let (checks, is_taken) = signed.verified(&forged).await;
    assert!(!is_taken);
    assert!(
        checks.contains(
            &"signature of _manifest.json (it was made with another key, or for another \
                          manifest)"
                .to_string()
        ),
        "{checks:?}"
    );
    // Without SIGNED BY no check fails, and the signature counts as not checked.
    let (unsigned, _) = signed
        .verify(&forged)
        .split_once(" SIGNED BY")
        .map(|(v, k)| (v.to_string(), k.to_string()))
        .unwrap();
    let found = answer(&signed.context, &unsigned).await;
    assert!(crate::common::holds(&found));
    assert!(names(&found).contains(&"not checked: signature of _manifest.json (no SIGNED BY)".to_string()));

    // Only the file is changed.
    let touched = signed.release("touched", &sign).await;
    fs::write(touched.join(part), &written).unwrap();
    assert!(!signed.verified(&touched).await.1);

    // The signature is removed, is made with another key, or belongs to another manifest.
    let bare = signed.release("bare", &sign).await;
    write_anew(&bare, |manifest| manifest.signature = None);
    let (checks, is_taken) = signed.verified(&bare).await;
    assert!(!is_taken && checks.contains(&"signature of _manifest.json (there is none)".to_string()));
    let by_other = signed.release("by_other", &signed.key("other.key")).await;
    assert!(!signed.verified(&by_other).await.1);
    let own = Manifest::read(&whole).unwrap().unwrap().signature;
    write_anew(&by_other, |manifest| manifest.signature = own);
    assert!(!signed.verified(&by_other).await.1);

    // Only the text of the manifest is changed. Then the whole manifest is removed.
    let edited = signed.release("edited", &sign).await;
    let text = fs::read_to_string(edited.join("_manifest.json")).unwrap();
    let changed = text.replacen("\"rows_out\": 48", "\"rows_out\": 48 ", 1);
    assert_ne!(text, changed);
    fs::write(edited.join("_manifest.json"), changed).unwrap();
    let (checks, is_taken) = signed.verified(&edited).await;
    assert!(
        !is_taken
            && checks
                .contains(&"signature of _manifest.json (the manifest was changed after it was signed)".to_string())
    );
    fs::remove_file(edited.join("_manifest.json")).unwrap();
    let (checks, is_taken) = signed.verified(&edited).await;
    assert!(!is_taken && checks.contains(&"signature of _manifest.json (there is no manifest)".to_string()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signed_manifest_says_itself_what_is_checked() {
    let signed = Signed::new().await;
    let whole = signed.release("whole", &signed.key("release.key")).await;
    let public = signed.path("release.pub").display().to_string();
    let verify = format!("VERIFY '{}' SIGNED BY '{public}'", whole.display());
    for more in ["", " AGAINST people"] {
        let checks = answer(&signed.context, &format!("{verify}{more}")).await;
        let named = names(&checks);
        assert!(holds(&checks), "{checks:?}");
        for check in ["k_anonymity(2)", "l_diversity(2) ON s", "signature of _manifest.json"] {
            assert!(named.iter().any(|name| name == check), "{check}: {named:?}");
        }
    }
    // Another session does not have the tables of the release.
    let checks = answer(&with_paths(1), &verify).await;
    assert!(holds(&checks));
    let unsigned = signed.release("unsigned", "").await;
    let unknown = format!("VERIFY '{}' SIGNED BY '{public}'", unsigned.display());
    let failed = signed.context.sql(&unknown).await.unwrap_err();
    assert_eq!(failed.kind(), ErrorKind::Verification);
    for (wrong, said) in [
        (format!("VERIFY people SIGNED BY '{public}'"), "no manifest"),
        (format!("{verify} QUASI IDENTIFIERS (g)"), "VERIFY needs SATISFYING"),
        (
            format!("VERIFY '{}' SIGNED BY 'nowhere.pub'", whole.display()),
            "cannot read the public key",
        ),
        (
            format!(
                "VERIFY '{}' SIGNED BY '{}'",
                whole.display(),
                signed.path("release.key").display()
            ),
            "is not a public key",
        ),
    ] {
        let error = signed.context.sql(&wrong).await.unwrap_err().to_string();
        assert!(error.contains(said) && !error.contains(PRIVATE), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signature_changes_no_other_byte() {
    let signed = Signed::new().await;
    let sign = signed.key("release.key");
    let (bare, whole) = (signed.release("bare", "").await, signed.release("whole", &sign).await);
    let again = signed.release("again", &sign).await;
    let parts = |folder: &Path| {
        bytes(folder)
            .into_iter()
            .filter(|(name, _)| name != "_manifest.json")
            .collect::<Vec<_>>()
    };
    assert_eq!(parts(&bare), parts(&whole));
    let manifest =
        |folder: &Path| -> Value { serde_json::from_slice(&fs::read(folder.join("_manifest.json")).unwrap()).unwrap() };
    assert!(manifest(&bare).get("signature").is_none());
    // The same statement for another target has the same envelope, except for the statement's
    // digest.
    assert_ne!(manifest(&whole)["signature"], manifest(&again)["signature"]);
    let overwritten = |manifest: Value| manifest["signature"].clone();
    let first = overwritten(manifest(&whole));
    signed.release("whole", &format!("OVERWRITE {sign}")).await;
    let second = overwritten(manifest(&whole));
    signed.release("whole", &format!("OVERWRITE {sign}")).await;
    assert_eq!(second, overwritten(manifest(&whole)));
    assert_ne!(first, second);
    let text = fs::read_to_string(whole.join("_manifest.json")).unwrap();
    assert!(!text.contains(&PRIVATE[22..]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_vouches_for_nothing_that_it_did_not_sign() {
    let signed = Signed::new().await;
    let (sign, other) = (signed.key("release.key"), signed.key("other.key"));
    let grows = signed.release("grows", &format!("APPEND {sign}")).await;
    collect(
        &signed.context,
        "CREATE OR REPLACE TABLE people AS SELECT value % 4 AS g, 'illness ' || (value % 3) AS s FROM range(48, 96)",
    )
    .await;
    let read_again = |options: &str| options.replace("OPTIONS (", "OPTIONS (read_again true, ");
    for (options, said) in [
        (
            "APPEND OPTIONS (read_again true)".to_string(),
            "is signed, and would lose its signature",
        ),
        (format!("APPEND {}", read_again(&other)), "is not signed with the key"),
        (format!("IF NOT EXISTS {other}"), "is not signed with the key"),
    ] {
        let error = signed.refused("grows", &options).await.to_string();
        assert!(error.contains(said), "{error}");
    }
    let before = bytes(&grows);
    write_anew(&grows, |manifest| manifest.rows_out += 1);
    let error = signed.refused("grows", &format!("APPEND {}", read_again(&sign))).await;
    assert!(error.to_string().contains("is not signed with the key"), "{error}");
    for (name, content) in before {
        fs::write(grows.join(name), content).unwrap();
    }
    signed.release("grows", &format!("APPEND {}", read_again(&sign))).await;
    let manifest = Manifest::read(&grows).unwrap().unwrap();
    assert_eq!((manifest.batches.len(), manifest.rows_out), (2, 96));
    assert!(signed.verified(&grows).await.1);
    signed
        .release("grows", &format!("IF NOT EXISTS {}", signed.key("release.key")))
        .await;
    let bare = signed.release("bare", "").await;
    let error = signed.refused("bare", &format!("IF NOT EXISTS {sign}")).await;
    assert_eq!(error.kind(), ErrorKind::TargetExists);
    assert!(Manifest::read(&bare).unwrap().unwrap().signature.is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_is_none_is_refused_before_a_row_is_read() {
    let signed = Signed::new().await;
    let missing = "sign 'env:ANONSQL_NO_SUCH_KEY'";
    for (option, said) in [
        (format!("sign '{PRIVATE}'"), "write the place of the private key"),
        ("sign 'key:release'".into(), "write the place of the private key"),
        (
            missing.into(),
            "the environment variable ANONSQL_NO_SUCH_KEY with the secret is not set",
        ),
        (format!("sign 'file:{}'", signed.path("none.key").display()), "none.key"),
        (
            format!("sign 'file:{}'", signed.path("release.pub").display()),
            "is not a private key of Ed25519",
        ),
    ] {
        let error = signed.refused("out", &format!("OPTIONS ({option})")).await.to_string();
        assert!(error.contains(said) && !error.contains(&PRIVATE[..20]), "{error}");
        assert!(!signed.path("out").exists());
    }
}

/// If a release does not contain the column that identifies people, VERIFY fails instead of
/// counting rows in place of people.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_promised_of_people_is_not_counted_in_rows() {
    let signed = Signed::new().await;
    let target = signed.path("visits").display().to_string();
    let people = "(SELECT value % 8 AS p, value % 2 AS g FROM range(0, 48))";
    let sign = signed.key("release.key");
    let request = "IDENTIFIERS (p) QUASI IDENTIFIERS (g) ENTITY (p) SATISFYING k_anonymity(2)";
    collect(
        &signed.context,
        &format!("ANONYMIZE {people} TO '{target}' {sign} {request}"),
    )
    .await;
    let by = format!("SIGNED BY '{}'", signed.path("release.pub").display());
    let promised = signed.context.sql(&format!("VERIFY '{target}' {by}")).await;
    let error = promised.unwrap_err().to_string();
    assert!(error.contains("do not name it"), "{error}");
    let of_rows = format!("VERIFY '{target}' QUASI IDENTIFIERS (g) SATISFYING k_anonymity(2) {by}");
    assert!(holds(&answer(&signed.context, &of_rows).await));
}

/// Releases to a target, and verifies the signature there.
async fn is_signed_at(signed: &Signed, target: &str, more: &str) {
    let sql = format!("ANONYMIZE people TO '{target}' {more} {REQUEST}");
    collect(&signed.context, &sql).await;
    let public = signed.path("release.pub").display().to_string();
    let checks = answer(&signed.context, &format!("VERIFY '{target}' SIGNED BY '{public}'")).await;
    assert!(holds(&checks), "{target}: {checks:?}");
    assert!(names(&checks).iter().any(|name| name == "signature of _manifest.json"));
}

/// In an object store the signature is committed with the manifest.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stores_are_signed_too() {
    let signed = Signed::new().await;
    let session: &SessionContext = signed.context.session();
    session.register_object_store(&"mem://lake".parse().unwrap(), Arc::new(InMemory::new()));
    let sign = signed.key("release.key");
    let plain = sign.replace("OPTIONS (", "OPTIONS (layout 'plain', ");
    is_signed_at(&signed, "mem://lake/runs", &sign).await;
    is_signed_at(&signed, "mem://lake/plain", &plain).await;
}

#[cfg(feature = "delta")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn delta_tables_are_signed_too() {
    let signed = Signed::new().await;
    let table = signed.path("table").display().to_string();
    let more = format!("STORED AS DELTA {}", signed.key("release.key"));
    is_signed_at(&signed, &table, &more).await;
}
