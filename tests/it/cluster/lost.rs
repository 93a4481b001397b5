//! Workers that are killed: the release is the same, or there is none.

use super::workers::Workers;
use super::{driver, people, strangers, sums};
use std::time::{Duration, Instant};

const SQL: &str = "ANONYMIZE people TO 'out' OVERWRITE OPTIONS (rows_per_file 25000) IDENTIFIERS (person, score) \
    QUASI IDENTIFIERS (age USING age, zip USING zip) SENSITIVE (illness) KEEP (note, name) SATISFYING k_anonymity(5)";

/// One of three workers is killed at many moments of the statement.
#[test]
fn a_killed_worker_changes_no_file() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    people(folder);
    assert!(driver(folder, None, SQL).status().unwrap().success());
    let expected = sums(&folder.join("out"));
    let begun = Instant::now();
    let workers = Workers::start(3, folder);
    assert!(driver(folder, Some(&workers), SQL).status().unwrap().success());
    let usual = begun.elapsed();
    drop(workers);
    let times = std::env::var("ANONSQL_KILLS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(6u32);
    for kill in 0..times {
        let mut workers = Workers::start(3, folder);
        let begun = Instant::now();
        let mut running = driver(folder, Some(&workers), SQL).spawn().unwrap();
        std::thread::sleep(usual * (2 * kill + 1) / (2 * times));
        workers.kill(kill as usize % 3);
        let status = running.wait().unwrap();
        assert!(status.success(), "kill {kill}");
        assert!(begun.elapsed() < 2 * usual + Duration::from_secs(60), "kill {kill}");
        assert_eq!(sums(&folder.join("out")), expected, "kill {kill}");
        assert!(
            strangers(folder, &["people", "out", "config"]).is_empty(),
            "kill {kill}"
        );
    }
}

/// If all workers are killed, the statement fails soon, and the target is as it was.
#[test]
fn without_workers_nothing_is_released() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    people(folder);
    assert!(driver(folder, None, SQL).status().unwrap().success());
    let before = sums(&folder.join("out"));
    let begun = Instant::now();
    let workers = Workers::start(2, folder);
    assert!(driver(folder, Some(&workers), SQL).status().unwrap().success());
    let usual = begun.elapsed();
    for part in [1u32, 2, 3] {
        let mut workers = Workers::start(2, folder);
        let mut running = driver(folder, Some(&workers), SQL).spawn().unwrap();
        std::thread::sleep(usual * part / 5);
        workers.kill(0);
        workers.kill(1);
        let killed = Instant::now();
        let status = running.wait().unwrap();
        assert!(killed.elapsed() < Duration::from_secs(60));
        // The statement may have been over, or at its recount.
        assert!(matches!(status.code(), Some(0 | 1)), "{status}");
        assert_eq!(sums(&folder.join("out")), before);
        assert!(strangers(folder, &["people", "out", "config"]).is_empty());
    }
}

/// What a killed driver leaves is removed by the next run.
#[test]
fn a_killed_driver_leaves_the_target_as_it_was() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    people(folder);
    let workers = Workers::start(2, folder);
    let begun = Instant::now();
    assert!(driver(folder, Some(&workers), SQL).status().unwrap().success());
    let usual = begun.elapsed();
    let before = sums(&folder.join("out"));
    for part in [2u32, 3, 4] {
        let mut running = driver(folder, Some(&workers), SQL).spawn().unwrap();
        std::thread::sleep(usual * part / 5);
        running.kill().unwrap();
        running.wait().unwrap();
        assert_eq!(sums(&folder.join("out")), before);
    }
    assert!(driver(folder, Some(&workers), SQL).status().unwrap().success());
    assert_eq!(sums(&folder.join("out")), before);
    assert!(strangers(folder, &["people", "out", "config"]).is_empty());
}
