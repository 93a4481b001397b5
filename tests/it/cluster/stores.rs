//! Tests sources and targets in an object store. The driver and each worker open the store by
//! themselves.

use super::workers::Workers;
use super::{SETUP, driver, people, sums};
use crate::common::anonsql;
use crate::moto::{BUCKET, Moto, SECRET};
use anonsql::manifest::Manifest;
use datafusion::object_store::ObjectStoreExt;
use datafusion::object_store::path::Path as ObjectPath;
use sha2::{Digest, Sha256};
use std::path::Path;
use std::process::Output;
use std::time::Instant;

const REQUEST: &str = "IDENTIFIERS (person, score) QUASI IDENTIFIERS (age USING age, zip USING zip) SENSITIVE (illness) \
                       KEEP (note, name) SATISFYING k_anonymity(5)";

/// Runs a statement over people in the bucket. Only the driver's process knows the address of the
/// bucket.
fn run(folder: &Path, moto: &Moto, workers: Option<&str>, sql: &str) -> Output {
    let place = format!(
        "SET anonsql.s3.endpoint = '{}'; SET anonsql.s3.allow_http = true;",
        moto.endpoint()
    );
    let setup = SETUP.replace("'people/'", &format!("'s3://{BUCKET}/people/'"));
    let mut command = anonsql(folder);
    command
        .envs(credentials(moto))
        .args(["-q", "--log", "json", "-c", &format!("{place} {setup} {sql}")]);
    if let Some(workers) = workers {
        command.args(["--cluster", workers]);
    }
    let output = command.output().unwrap();
    for text in [&output.stdout, &output.stderr] {
        assert!(!String::from_utf8_lossy(text).contains(SECRET));
    }
    output
}

fn succeeded(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the environment without the address of the server.
fn credentials(moto: &Moto) -> Vec<(&'static str, String)> {
    let own = moto.environment().into_iter();
    own.filter(|(name, _)| !matches!(*name, "AWS_ENDPOINT_URL" | "AWS_ALLOW_HTTP"))
        .collect()
}

/// Checks that everything under the prefix is one release. Returns the checksums of the released
/// objects, in the order of their names.
async fn released(moto: &Moto, prefix: &str) -> Vec<String> {
    let read = async |name: &str| {
        let found = moto.store().get(&ObjectPath::from(name)).await.unwrap();
        found.bytes().await.unwrap()
    };
    let manifest: Manifest = serde_json::from_slice(&read(&format!("{prefix}/_manifest.json")).await).unwrap();
    let mut expected: Vec<String> = manifest
        .output
        .iter()
        .map(|file| format!("{prefix}/{}", file.name))
        .collect();
    let run = manifest.output[0].name.split('/').next().unwrap();
    let mut all = expected.clone();
    all.extend([String::new(), format!("{run}/")].map(|folder| format!("{prefix}/{folder}_manifest.json")));
    all.sort();
    assert_eq!(moto.names(prefix).await, all);
    let mut sums = vec![];
    expected.sort();
    for name in &expected {
        let sum = hex::encode(Sha256::digest(read(name).await));
        assert!(name.contains(&sum[..12]), "{name}");
        sums.push(sum);
    }
    sums
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_moto), ignore = "needs moto_server: pip install 'moto[server]'")]
async fn objects_are_the_same_files() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    people(folder);
    let moto = Moto::start();
    for i in 0..8 {
        let file = std::fs::read(folder.join(format!("people/{i}.parquet"))).unwrap();
        moto.put(&format!("people/{i}.parquet"), file).await;
    }
    let clusters = [
        ("workers", Workers::with_environment(2, folder, &credentials(&moto))),
        ("ballista", Workers::of_ballista_with(2, folder, &credentials(&moto))),
    ];
    for (name, how) in [
        ("files", "OPTIONS (rows_per_file 25000)"),
        ("folders", "PARTITIONED BY (zip) OPTIONS (rows_per_file 9000)"),
    ] {
        let local = format!("ANONYMIZE people TO '{name}' {how} {REQUEST}");
        assert!(driver(folder, None, &local).status().unwrap().success());
        let expected: Vec<String> = sums(&folder.join(name)).into_values().collect();
        let sql = format!("ANONYMIZE people TO 's3://{BUCKET}/{name}/' OVERWRITE {how} {REQUEST}");
        succeeded(&run(folder, &moto, None, &sql));
        assert_eq!(released(&moto, name).await, expected);
        for (of, cluster) in &clusters {
            let away = sql.replace(&format!("/{name}/"), &format!("/{of}/{name}/"));
            succeeded(&run(folder, &moto, Some(&cluster.urls()), &away));
            assert_eq!(released(&moto, &format!("{of}/{name}")).await, expected);
            let audit = format!(
                "VERIFY 's3://{BUCKET}/{of}/{name}/' QUASI IDENTIFIERS (age USING age, zip USING zip) \
                 SATISFYING k_anonymity(5)"
            );
            succeeded(&run(folder, &moto, None, &audit));
        }
    }
    // The source is in a store and the target is a folder.
    for (of, cluster) in &clusters {
        let sql = format!("ANONYMIZE people TO 'here-{of}' OPTIONS (rows_per_file 25000) {REQUEST}");
        succeeded(&run(folder, &moto, Some(&cluster.urls()), &sql));
        assert_eq!(sums(&folder.join(format!("here-{of}"))), sums(&folder.join("files")));
    }
}

/// Written files that the driver did not accept are deleted at the end of the run, with or without
/// a release.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(has_moto), ignore = "needs moto_server: pip install 'moto[server]'")]
async fn killed_workers_leave_no_object() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    people(folder);
    let moto = Moto::start();
    for i in 0..8 {
        let file = std::fs::read(folder.join(format!("people/{i}.parquet"))).unwrap();
        moto.put(&format!("people/{i}.parquet"), file).await;
    }
    let how = "OPTIONS (rows_per_file 5000)";
    let sql = |target: &str| format!("ANONYMIZE people TO 's3://{BUCKET}/{target}/' {how} {REQUEST}");
    let begun = Instant::now();
    let workers = Workers::with_environment(3, folder, &credentials(&moto));
    succeeded(&run(folder, &moto, Some(&workers.urls()), &sql("usual")));
    let usual = begun.elapsed();
    drop(workers);
    let expected = released(&moto, "usual").await;
    let start = [Workers::with_environment, Workers::of_ballista_with];
    for (kill, all, of) in [
        (3, false, 0),
        (5, false, 0),
        (7, false, 0),
        (3, true, 0),
        (5, true, 0),
        (7, true, 0),
        (6, false, 1),
    ] {
        let target = format!("kill-{kill}-{all}-{of}");
        let mut workers = start[of](3, folder, &credentials(&moto));
        let urls = workers.urls();
        let killed = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(usual * kill / 10);
                for worker in 0..if all { 3 } else { 1 } {
                    workers.kill(worker);
                }
            });
            run(folder, &moto, Some(&urls), &sql(&target))
        });
        if killed.status.success() {
            assert_eq!(released(&moto, &target).await, expected, "{target}");
        } else {
            assert!(all, "{target}: {}", String::from_utf8_lossy(&killed.stderr));
            assert_eq!(moto.names(&target).await, Vec::<String>::new(), "{target}");
        }
    }
}
