//! The released files are the same with and without workers, and for any number of workers.

use super::workers::Workers;
use super::{SECRET, SETUP, driver, people, strangers, sums};
use crate::common::anonsql;
use std::path::Path;
use std::time::{Duration, Instant};

/// The statements: the name, the request, and whether workers write the files.
pub const REQUESTS: &[(&str, &str, bool)] = &[
    (
        "plain",
        "OPTIONS (rows_per_file 25000) IDENTIFIERS (person, score, name) QUASI IDENTIFIERS (age USING age, zip USING zip) \
         SENSITIVE (illness) KEEP (note) SATISFYING k_anonymity(5) AND l_diversity(3) ON illness",
        true,
    ),
    (
        "people",
        "OPTIONS (rows_per_file 25000) IDENTIFIERS (name HASH WITH SECRET 'env:SALT') \
         QUASI IDENTIFIERS (age USING age, zip USING zip) SENSITIVE (illness) KEEP (note, score) ENTITY (person) \
         SATISFYING k_anonymity(60) AND l_diversity(3) ON illness AND t_closeness(0.5) ON illness \
         SUPPRESSING AT MOST 20 PERCENT SUPPRESSED ROWS STARRED",
        true,
    ),
    (
        "parts",
        "PARTITIONED BY (zip) OPTIONS (rows_per_file 9000) IDENTIFIERS (person, name, note) \
         QUASI IDENTIFIERS (age USING age, zip USING zip) KEEP (illness, score) SATISFYING k_anonymity(80) \
         SUPPRESSING AT MOST 15 PERCENT SUPPRESSED ROWS STARRED",
        true,
    ),
    (
        "bounds",
        "OPTIONS (rows_per_file 25000) IDENTIFIERS (person, name, zip) \
         QUASI IDENTIFIERS (age USING age LABELS BOUNDS LEVELS 1 TO 2, score) KEEP (illness, note) SATISFYING k_anonymity(80)",
        true,
    ),
    (
        "local",
        "OPTIONS (rows_per_file 25000) IDENTIFIERS (person, score, name) QUASI IDENTIFIERS (age USING age, zip USING zip) \
         SENSITIVE (illness) KEEP (note) SATISFYING k_anonymity(60) AND l_diversity(3) ON illness SEARCH USING mondrian",
        true,
    ),
    (
        "groups",
        "PARTITIONED BY (zip) OPTIONS (rows_per_file 9000) IDENTIFIERS (person, name) \
         QUASI IDENTIFIERS (age USING age LABELS BOUNDS, zip USING zip, score) KEEP (illness, note) SATISFYING k_anonymity(80) \
         SEARCH USING peel",
        true,
    ),
    (
        "csv",
        "STORED AS CSV IDENTIFIERS (person, zip, score, name, note) QUASI IDENTIFIERS (age USING age) SENSITIVE (illness) \
         SATISFYING k_anonymity(5)",
        false,
    ),
    (
        "random",
        "IDENTIFIERS (person, score, name, note) QUASI IDENTIFIERS (age USING age) SENSITIVE (illness RANDOMIZED) KEEP (zip) \
         SATISFYING k_anonymity(5)",
        false,
    ),
    (
        "classes",
        "IDENTIFIERS (person, score, name, note, illness) QUASI IDENTIFIERS (age USING age, zip USING zip) \
         SATISFYING k_anonymity(5)",
        false,
    ),
];

fn release(folder: &Path, workers: Option<&Workers>, target: &str, request: &str) {
    let sql = format!("ANONYMIZE people TO '{target}' {request}");
    let output = driver(folder, workers, &sql).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{target}: {said}");
    assert!(!said.contains(SECRET));
}

#[test]
fn one_two_and_three_workers_write_the_same_files() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let spilled = folder.join("spilled");
    std::fs::create_dir(&spilled).unwrap();
    people(folder);
    for (name, request, _) in REQUESTS {
        release(folder, None, &format!("{name}-0"), request);
    }
    for count in [1, 2, 3] {
        let workers = Workers::start(count, &spilled);
        for (name, request, _) in REQUESTS {
            let target = format!("{name}-{count}");
            release(folder, Some(&workers), &target, request);
            let (expected, found) = (sums(&folder.join(format!("{name}-0"))), sums(&folder.join(&target)));
            assert_eq!(expected, found, "{target}");
            // Hidden folders are staging folders and the folders into which workers wrote.
            let hidden = strangers(folder, &[]);
            let hidden = hidden
                .iter()
                .filter(|path| path.display().to_string().contains("/.anonsql"));
            assert_eq!(hidden.count(), 0, "{target} leaves something");
        }
        assert!(strangers(&spilled, &[]).is_empty());
    }
}

/// Executors of Ballista write the same files, and leave no files of their own.
#[test]
fn executors_write_the_same_files() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let spilled = folder.join("spilled");
    std::fs::create_dir(&spilled).unwrap();
    people(folder);
    let executors = Workers::of_ballista(2, &spilled);
    for (name, request, _) in REQUESTS {
        let (one, two) = (format!("{name}-0"), format!("{name}-1"));
        release(folder, None, &one, request);
        release(folder, Some(&executors), &two, request);
        assert_eq!(sums(&folder.join(one)), sums(&folder.join(two)), "{name}");
    }
    // The executors can also run functions on lists.
    let lists = "(SELECT age, zip, array_append(make_array(illness), note) AS tags FROM people)";
    for (target, executors) in [("lists-0", None), ("lists-1", Some(&executors))] {
        let sql = format!(
            "ANONYMIZE {lists} TO '{target}' QUASI IDENTIFIERS (age USING age, zip USING zip) KEEP (tags) \
             SATISFYING k_anonymity(5)"
        );
        assert!(driver(folder, executors, &sql).status().unwrap().success());
    }
    assert_eq!(sums(&folder.join("lists-0")), sums(&folder.join("lists-1")));
    // The files of a job are removed shortly after the job.
    let begun = Instant::now();
    while files_below(&spilled) > 0 {
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn files_below(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .map(|path| if path.is_dir() { files_below(&path) } else { 1 })
        .sum()
}

/// APPEND adds rows to a release. The numbers of the new files continue those of the existing
/// files.
#[test]
fn a_release_grows_alike() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    people(folder);
    let workers = Workers::start(2, folder);
    let request = "OPTIONS (rows_per_file 20000) IDENTIFIERS (person, score, name, note) \
                   QUASI IDENTIFIERS (age USING age, zip USING zip) KEEP (illness) SATISFYING k_anonymity(5)";
    for (target, workers) in [("one", None), ("two", Some(&workers))] {
        for (rows, how) in [("person < 50000", ""), ("person >= 50000", "APPEND")] {
            // Both batches read all files.
            let request = match how {
                "APPEND" => request.replace("OPTIONS (", "OPTIONS (read_again true, "),
                _ => request.to_string(),
            };
            let sql = format!("ANONYMIZE (SELECT * FROM people WHERE {rows}) TO '{target}' {how} {request}");
            let output = driver(folder, workers, &sql).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
    let (one, two) = (sums(&folder.join("one")), sums(&folder.join("two")));
    assert!(one.len() >= 10);
    assert_eq!(one, two);
}

/// Files have only a few rows, so that the boundaries of buckets lie within classes.
#[test]
fn files_smaller_than_classes_are_the_same() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    people(folder);
    let request = "OPTIONS (rows_per_file 700) IDENTIFIERS (person, zip, score, name) QUASI IDENTIFIERS (age USING age LEVELS 3 TO 3) KEEP (note, illness) \
                   SATISFYING k_anonymity(5)";
    release(folder, None, "one", request);
    let workers = Workers::start(2, folder);
    release(folder, Some(&workers), "two", request);
    let (one, two) = (sums(&folder.join("one")), sums(&folder.join("two")));
    assert!(one.len() > 200);
    assert_eq!(one, two);
}

#[test]
fn a_worker_with_another_secret_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    people(folder);
    let workers = Workers::with_secret(1, folder, "another secret of the same length");
    let sql = "ANONYMIZE people TO 'out' IDENTIFIERS (name HASH WITH SECRET 'env:SALT', person, zip, score, \
               illness, note) QUASI IDENTIFIERS (age USING age) SATISFYING k_anonymity(5)";
    let output = driver(folder, Some(&workers), sql).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("env:SALT") && said.contains("another one"), "{said}");
    assert!(!said.contains(SECRET) && !said.contains("another secret"));
    assert!(!folder.join("out").exists());
}

/// If workers cannot read a source, the driver reads it.
#[test]
fn a_source_of_other_rows_is_read_by_the_driver() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    people(folder);
    let workers = Workers::start(1, folder);
    let (request, query) = (
        "IDENTIFIERS (zip) QUASI IDENTIFIERS (age USING age) KEEP (n) SATISFYING k_anonymity(2)",
        "(SELECT age, zip, count(*) AS n FROM people GROUP BY age, zip)",
    );
    for (target, workers) in [("one", None), ("two", Some(&workers))] {
        let sql = format!("{SETUP} ANONYMIZE {query} TO '{target}' {request}");
        let mut command = anonsql(folder);
        command.args(["-c", &sql]);
        if let Some(workers) = workers {
            command.args(["--cluster", &workers.urls()]);
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        assert_eq!(
            said.contains("workers do not read this source"),
            workers.is_some(),
            "{said}"
        );
        assert_eq!(
            said.contains("workers do not write this release"),
            workers.is_some(),
            "{said}"
        );
    }
    assert_eq!(sums(&folder.join("one")), sums(&folder.join("two")));
}

#[test]
fn addresses_elsewhere_and_nobody_there_are_errors() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    for (url, said) in [
        ("http://10.0.0.1:8000", "another machine"),
        ("https://10.0.0.1:8000", "--cluster-tls"),
        ("dns+http://nobody.invalid:8000", "does not resolve to an address"),
        ("dns+http://localhost:1", "no worker of the cluster answers"),
        ("http://127.0.0.1:1", "no worker of the cluster answers"),
        ("127.0.0.1:8000", "not the address of a worker"),
        ("df://10.0.0.1:50050", "another machine"),
        ("df://127.0.0.1:1", "no executor answers"),
        ("df://127.0.0.1:1,http://127.0.0.1:1", "one scheduler"),
    ] {
        // A worker that does not respond now may respond later.
        let answers = !said.contains("answers") && !said.contains("resolve");
        let sql =
            "CREATE TABLE t AS VALUES (1), (2); ANONYMIZE t QUASI IDENTIFIERS (column1) SATISFYING k_anonymity(2)";
        let failed = anonsql(folder)
            .args(["-q", "--cluster", url, "-c", sql])
            .assert()
            .code(if answers { 1 } else { 6 });
        let output = failed.get_output();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains(said), "{url}: {told}");
    }
    for arguments in [
        &["worker", "--listen", "0.0.0.0:8000"][..],
        &["cluster", "scheduler", "--listen", "0.0.0.0:8000"],
        &["cluster", "executor", "--listen", "0.0.0.0:8000"],
    ] {
        let refused = anonsql(folder).args(arguments).assert().code(1);
        let told = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(told.contains("loopback"), "{told}");
    }
}
