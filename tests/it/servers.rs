//! Tests releases on real servers for object stores. They have the same bytes as in a folder, and a
//! failing server leads to a correct release or an error.

use crate::azurite::{Azurite, CONTAINER, KEY};
use crate::common::{anonsql, collect};
use crate::moto::{BUCKET, Moto, SECRET};
use crate::proxy::{Fault, Proxy};
use anonsql::manifest::Manifest;
use datafusion::object_store::path::Path as ObjectPath;
use datafusion::object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};
use futures::TryStreamExt;
use sha2::{Digest, Sha256};
use std::path::Path;
use std::process::Output;

/// The files that the quickstart reads.
const READ: [&str; 4] = [
    "data/census.parquet",
    "data/hierarchies/education.csv",
    "data/hierarchies/marital_status.csv",
    "data/hierarchies/native_country.csv",
];

/// A server that a test starts, with everything that the quickstart needs.
struct Place {
    /// The scheme and the bucket.
    url: String,
    store: Box<dyn ObjectStore>,
    environment: Vec<(&'static str, String)>,
    secret: &'static str,
}

impl Place {
    fn of_moto(moto: &Moto) -> Self {
        Self {
            url: format!("s3://{BUCKET}"),
            store: Box::new(moto.store()),
            environment: moto.environment(),
            secret: SECRET,
        }
    }

    fn of_azurite(azurite: &Azurite) -> Self {
        Self {
            url: format!("az://{CONTAINER}"),
            store: Box::new(azurite.store()),
            environment: azurite.environment(),
            secret: KEY,
        }
    }

    /// Runs a script with the server's environment variables.
    fn run(&self, folder: &Path, sql: &str) -> Output {
        let mut command = anonsql(folder);
        let script = folder.join("script.sql");
        std::fs::write(&script, sql).unwrap();
        let output = command.envs(self.environment.clone()).args(["--log", "json", "-f"]);
        let output = output.arg(&script).output().unwrap();
        for text in [&output.stdout, &output.stderr] {
            assert!(!String::from_utf8_lossy(text).contains(self.secret));
        }
        output
    }

    fn names(&self) -> Vec<String> {
        let listed = async { self.store.list(None).try_collect::<Vec<ObjectMeta>>().await };
        let listed = runtime().block_on(listed).unwrap();
        let mut names: Vec<String> = listed.iter().map(|meta| meta.location.to_string()).collect();
        names.sort();
        names
    }

    fn bytes(&self, path: &str) -> Vec<u8> {
        let path = ObjectPath::parse(path).unwrap();
        let got = async { self.store.get(&path).await.unwrap().bytes().await.unwrap() };
        runtime().block_on(got).to_vec()
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Runtime::new().unwrap()
}

fn succeeded(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Checks that the quickstart, with its source, hierarchies and target on the server, releases the
/// same bytes as in a folder.
fn quickstart_is_the_same(place: &Place) {
    let scratch = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::os::unix::fs::symlink(root.join("data"), scratch.path().join("data")).unwrap();
    let script = std::fs::read_to_string(root.join("sql/quickstart.sql")).unwrap();
    let original = root.join("sql/quickstart.sql");
    succeeded(&anonsql(scratch.path()).arg("-f").arg(&original).output().unwrap());
    let local = Manifest::read(&scratch.path().join("out/census_k5")).unwrap().unwrap();
    let mut there = script.replace("'out/census_k5/'", &format!("'{}/out/census_k5/'", place.url));
    for name in READ {
        let bytes = std::fs::read(root.join(name)).unwrap();
        let put = async { place.store.put(&ObjectPath::from(name), bytes.into()).await };
        runtime().block_on(put).unwrap();
        there = there.replace(&format!("'{name}'"), &format!("'{}/{name}'", place.url));
    }
    std::fs::remove_file(scratch.path().join("data")).unwrap();
    std::fs::remove_dir_all(scratch.path().join("out")).unwrap();
    std::fs::create_dir(scratch.path().join("out")).unwrap();
    let output = place.run(scratch.path(), &there);
    succeeded(&output);
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        log.contains("\"bytes_received\":") && log.contains("\"bytes_sent\":"),
        "{log}"
    );
    let manifest = place.bytes("out/census_k5/_manifest.json");
    assert!(!String::from_utf8_lossy(&manifest).contains(place.secret));
    let released: Manifest = serde_json::from_slice(&manifest).unwrap();
    let digests =
        |manifest: &Manifest| -> Vec<String> { manifest.output.iter().map(|file| file.sha256.clone()).collect() };
    assert_eq!(digests(&released), digests(&local));
    let [file] = &released.output[..] else {
        panic!("one file: {:?}", released.output)
    };
    let bytes = place.bytes(&format!("out/census_k5/{}", file.name));
    assert_eq!(hex::encode(Sha256::digest(&bytes)), file.sha256);
    let report = std::fs::read_to_string(scratch.path().join("out/census_k5.html")).unwrap();
    assert!(!report.contains(place.secret));
}

#[test]
#[cfg_attr(not(has_moto), ignore = "needs moto_server: pip install 'moto[server]'")]
fn the_quickstart_is_the_same_on_s3() {
    quickstart_is_the_same(&Place::of_moto(&Moto::start()));
}

#[test]
#[cfg_attr(not(has_azurite), ignore = "needs azurite-blob: npm install -g azurite")]
fn the_quickstart_is_the_same_on_azure() {
    quickstart_is_the_same(&Place::of_azurite(&Azurite::start()));
}

/// Returns the script of a release from a bucket to the same bucket. A proxy is in front of the
/// server.
fn release(how: &str) -> String {
    format!(
        "CREATE HIERARCHY age AS INTERVALS (10); ANONYMIZE 's3://{BUCKET}/people/' TO 's3://{BUCKET}/out' {how} \
         OPTIONS (rows_per_file 20000) QUASI IDENTIFIERS (age USING age) KEEP (x) SATISFYING k_anonymity(2)"
    )
}

/// Tests a server that fails every fifth request, and a server that stops responding halfway
/// through the run.
#[test]
#[cfg_attr(not(has_moto), ignore = "needs moto_server: pip install 'moto[server]'")]
fn a_server_that_fails_is_asked_again_or_given_up() {
    let moto = Moto::start();
    let scratch = tempfile::tempdir().unwrap();
    let direct = Place::of_moto(&moto);
    for file in 0..3 {
        let rows = format!(
            "COPY (SELECT value % 90 AS age, value AS x FROM range({}, {})) TO 's3://{BUCKET}/people/{file}.parquet'",
            file * 20_000,
            (file + 1) * 20_000
        );
        succeeded(&direct.run(scratch.path(), &rows));
    }
    let behind = |proxy: &Proxy| {
        let mut place = Place::of_moto(&moto);
        place.environment.retain(|(name, _)| *name != "AWS_ENDPOINT_URL");
        place.environment.push(("AWS_ENDPOINT_URL", proxy.endpoint()));
        place
    };
    let failing = Proxy::start(moto.port(), Fault::Every(5));
    for how in ["", "OVERWRITE"] {
        let output = behind(&failing).run(scratch.path(), &release(how));
        succeeded(&output);
        assert!(String::from_utf8_lossy(&output.stderr).contains("\"failed_requests\":"));
    }
    assert!(failing.requests() > 20);
    let verify = format!("VERIFY 's3://{BUCKET}/out' QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)");
    succeeded(&direct.run(scratch.path(), &verify));
    succeeded(&direct.run(scratch.path(), &format!("VACUUM 's3://{BUCKET}/out' RETAIN '0s'")));
    let released = |place: &Place| place.names().into_iter().filter(|name| name.starts_with("out/"));
    let before: Vec<String> = released(&direct).collect();
    let manifest = direct.bytes("out/_manifest.json");
    let whole = {
        let counting = Proxy::start(moto.port(), Fault::Every(u64::MAX));
        succeeded(&behind(&counting).run(scratch.path(), &release("OVERWRITE").replace("/out'", "/other'")));
        counting.requests()
    };
    let dying = Proxy::start(moto.port(), Fault::After(whole / 2));
    let output = behind(&dying).run(scratch.path(), &release("OVERWRITE"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(said.contains("\"kind\":\"Unavailable\""), "{said}");
    assert_eq!(direct.bytes("out/_manifest.json"), manifest, "nothing was published");
    succeeded(&direct.run(scratch.path(), &verify));
    // The files that the run could not delete still exist, but no reader uses them.
    let after: Vec<String> = released(&direct).collect();
    assert!(before.iter().all(|name| after.contains(name)), "{after:?}");
    let rows = runtime().block_on(collect(
        &moto.context(),
        &format!("ANONYMIZE 's3://{BUCKET}/out' QUASI IDENTIFIERS (age) KEEP (x) SATISFYING k_anonymity(2)"),
    ));
    assert_eq!(rows.iter().map(|batch| batch.num_rows()).sum::<usize>(), 60_000);
}
