//! Tests runs in which workers are killed. The release is the same as if no worker had been lost,
//! or there is no release.

use super::workers::Workers;
use super::{SECRET, SETUP, driver, people, strangers, sums};
use crate::common::process;
use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

const SQL: &str = "ANONYMIZE people TO 'out' OVERWRITE OPTIONS (rows_per_file 25000) IDENTIFIERS (person, score) \
    QUASI IDENTIFIERS (age USING age, zip USING zip) SENSITIVE (illness) KEEP (note, name) SATISFYING k_anonymity(5)";

/// The phases in which workers take part, as they are named in `--log json`.
const PHASES: [&str; 3] = ["scan", "write", "verify"];

/// A driver whose log is read while it runs.
pub struct Running {
    driver: Child,
    log: Lines<BufReader<ChildStderr>>,
    /// True if an event reported a lost worker.
    told: bool,
}

impl Running {
    fn start(folder: &Path, workers: &Workers) -> Self {
        Self::of(driver(folder, Some(workers), SQL))
    }

    /// Starts a driver.
    pub fn of(mut driver: Command) -> Self {
        let driver = driver
            .args(["--log", "json"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut driver = driver.spawn().unwrap();
        let log = BufReader::new(driver.stderr.take().unwrap()).lines();
        Self {
            driver,
            log,
            told: false,
        }
    }

    /// Reads the log until a phase begins or ends. If the phase ended, returns its duration in
    /// seconds.
    pub fn until(&mut self, phase: &str, state: &str) -> Option<f64> {
        loop {
            let line = self.log.next().unwrap().unwrap();
            let event: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
            self.told |= event["event"] == "worker" && event["state"] == "lost";
            if event["phase"] == phase && event["state"] == state {
                return event["seconds"].as_f64();
            }
        }
    }

    /// Waits until the driver ends. Returns true if a worker was reported as lost. If the driver
    /// failed, returns the rest of the log as the error.
    pub fn end(mut self) -> Result<bool, String> {
        let left: Vec<String> = self.log.by_ref().map(|line| line.unwrap()).collect();
        let is_lost = |line: &String| line.contains("\"event\":\"worker\"") && line.contains("\"state\":\"lost\"");
        self.told |= left.iter().any(is_lost);
        match self.driver.wait().unwrap().success() {
            true => Ok(self.told),
            false => Err(left.join("\n")),
        }
    }
}

/// Kills one of several workers at many moments of each phase.
fn one_is_killed(start: impl Fn(&Path) -> Workers, count: usize, kills: u32) {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    people(folder);
    assert!(driver(folder, None, SQL).status().unwrap().success());
    let expected = sums(&folder.join("out"));
    let begun = Instant::now();
    let workers = start(folder);
    let mut undisturbed = Running::start(folder, &workers);
    let usual = PHASES.map(|phase| (phase, undisturbed.until(phase, "end").unwrap()));
    assert_eq!(undisturbed.end(), Ok(false), "nobody is lost");
    let whole = begun.elapsed();
    drop(workers);
    let times = std::env::var("ANONSQL_KILLS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(kills);
    let mut told = 0;
    for (kill, (phase, seconds)) in (0..times).flat_map(|kill| usual.map(|usual| (kill, usual))) {
        let what = format!("{phase}, kill {kill} of {times}");
        let mut workers = start(folder);
        let begun = Instant::now();
        let mut running = Running::start(folder, &workers);
        running.until(phase, "begin");
        let part = f64::from(2 * kill + 1) / f64::from(2 * times);
        std::thread::sleep(Duration::from_secs_f64(seconds * part));
        workers.kill(kill as usize % count);
        told += u32::from(running.end().expect(&what));
        assert!(begun.elapsed() < 2 * whole + Duration::from_secs(60), "{what}");
        assert_eq!(sums(&folder.join("out")), expected, "{what}");
        drop(workers);
        let left = strangers(folder, &["people", "out", "config"]);
        let (executors, left): (Vec<_>, Vec<_>) = left
            .into_iter()
            .partition(|path| path.display().to_string().contains(EXECUTOR));
        // New executors remove the files of killed executors, so only the folders of the last
        // executors can be left.
        assert!(executors.len() <= count, "{what}: {executors:?}");
        assert!(left.is_empty(), "{what}: {left:?}");
    }
    // Some workers were killed during their work.
    assert!(told > 0, "no worker was said to be lost");
}

/// A worker that is lost during a phase or between two phases is reported as a note, or as an event
/// of the log, and not as an error.
#[test]
fn a_lost_worker_is_a_note_and_an_event() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    people(folder);
    for log in [&["--log", "json"][..], &[]] {
        let mut workers = Workers::start(2, folder);
        let urls = workers.urls();
        let mut command = process(folder);
        command
            .args(["--threads", "2", "--cluster", &urls, "-c", &format!("{SETUP} {SQL}")])
            .args(log)
            .env("SALT", SECRET)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let (running, begun) = (command.spawn().unwrap(), Instant::now());
        let is_staged = || {
            let mut entries = std::fs::read_dir(folder).unwrap();
            entries.any(|entry| {
                let name = entry.unwrap().file_name();
                name.to_string_lossy().starts_with(".anonsql-staging-")
            })
        };
        while !is_staged() && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(5));
        }
        workers.kill(0);
        let output = running.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{said}");
        let lost = format!("{}/", urls.split(',').next().unwrap());
        let message = format!("{lost} was lost, and other workers do its part");
        if log.is_empty() {
            let notes: Vec<&str> = said.lines().filter(|line| line.contains("was lost")).collect();
            assert_eq!(notes, [format!("note: {message}")], "{said}");
            continue;
        }
        let events = said.lines().map(|line| serde_json::from_str(line).unwrap());
        let events: Vec<serde_json::Value> = events
            .filter(|event: &serde_json::Value| event["event"] == "worker")
            .collect();
        assert_eq!(events.len(), 1, "{said}");
        for (field, value) in [("worker", &lost), ("state", &"lost".to_string()), ("message", &message)] {
            assert_eq!(events[0][field], value.as_str(), "{said}");
        }
    }
    for (phase, state) in [
        ("prepare", "end"),
        ("scan", "end"),
        ("measure", "end"),
        ("write", "end"),
    ] {
        let mut workers = Workers::start(2, folder);
        let mut running = Running::start(folder, &workers);
        running.until(phase, state);
        workers.kill(0);
        assert_eq!(running.end(), Ok(true), "{phase} {state}");
    }
}

/// The beginning of the name of an executor's folder.
const EXECUTOR: &str = ".anonsql-executor-";

#[test]
fn a_killed_worker_changes_no_file() {
    one_is_killed(|folder| Workers::start(3, folder), 3, 3);
}

/// The driver does not rely on Ballista's recovery. It requests the missing parts again.
#[test]
fn a_killed_executor_changes_no_file() {
    one_is_killed(|folder| Workers::of_ballista(2, folder), 2, 1);
}

/// If all workers are killed, the statement fails soon, and the target is unchanged.
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
        // The statement may already have ended or reached its recount.
        assert!(matches!(status.code(), Some(0 | 6)), "{status}");
        assert_eq!(sums(&folder.join("out")), before);
        assert!(strangers(folder, &["people", "out", "config"]).is_empty());
    }
}

/// The next run removes the files of a killed driver.
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
