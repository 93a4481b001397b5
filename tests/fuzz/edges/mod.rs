//! Mutates input from outside: statements, manifests, hierarchy files and data files. Each case
//! ends in a result or an error within [`PATIENCE`] and without a panic, and every release still
//! satisfies its model.

mod data_files;
mod hierarchy_files;
mod manifests;
mod mutate;
mod samples;
mod statements;

use crate::Outcome;
use anonsql::AnonContext;
use anonsql::error::{Error, ErrorKind};
use arrow::record_batch::RecordBatch;
use datafusion::prelude::{SessionConfig, SessionContext};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// The longest time for a case. A case fails only if the process also computed for that long,
/// because a case may wait while the machine is busy.
const PATIENCE: Duration = Duration::from_secs(20);
/// The longest time for a case, whether or not the process computed.
const IDLE: Duration = Duration::from_secs(600);

/// A value of the sources that no error may contain.
const SECRET: &str = "Quixotica";

pub fn statements(cases: u64, seed: u64, threads: usize) -> Outcome {
    drive::<statements::Statements>("statements", cases, seed, threads)
}

pub fn data_files(cases: u64, seed: u64, threads: usize) -> Outcome {
    drive::<data_files::DataFiles>("data-files", cases, seed, threads)
}

pub fn manifests(cases: u64, seed: u64, threads: usize) -> Outcome {
    drive::<manifests::Manifests>("manifests", cases, seed, threads)
}

pub fn hierarchy_files(cases: u64, seed: u64, threads: usize) -> Outcome {
    drive::<hierarchy_files::HierarchyFiles>("hierarchy-files", cases, seed, threads)
}

pub fn samples(cases: u64, seed: u64, threads: usize) -> Outcome {
    drive::<samples::Samples>("samples", cases, seed, threads)
}

/// A kind of input. Each thread creates its own instance and runs cases on it.
trait Input: Sized {
    fn new() -> Self;
    /// Runs a case. Returns a name for the result, or a description of the failure.
    fn case(&mut self, rng: &mut ChaCha8Rng) -> Result<&'static str, String>;
}

/// The location and message of the last panic. The data of the cases is invented, so the message
/// may be printed.
static PANIC: Mutex<String> = Mutex::new(String::new());

fn last_panic() -> String {
    PANIC.lock().map(|last| last.clone()).unwrap_or_default()
}

fn drive<I: Input>(kind: &str, cases: u64, seed: u64, threads: usize) -> Outcome {
    std::panic::set_hook(Box::new(|info| {
        if let Ok(mut last) = PANIC.lock() {
            *last = info.to_string().replace('\n', " ");
        }
    }));
    let (next, end) = (AtomicU64::new(seed), seed.saturating_add(cases));
    let failed = AtomicU64::new(0);
    let tally: Mutex<BTreeMap<&'static str, u64>> = Mutex::default();
    let busy: Mutex<BTreeMap<u64, (Instant, Option<Duration>)>> = Mutex::default();
    let over = AtomicBool::new(false);
    let work = || {
        let mut input = I::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= end {
                return;
            }
            busy.lock().unwrap().insert(number, (Instant::now(), worked()));
            let mut rng = ChaCha8Rng::seed_from_u64(number);
            let done = catch_unwind(AssertUnwindSafe(|| input.case(&mut rng)));
            busy.lock().unwrap().remove(&number);
            let done = done.unwrap_or_else(|_| Err(format!("a panic came through: {}", last_panic())));
            match done {
                Ok(how) => *tally.lock().unwrap().entry(how).or_default() += 1,
                Err(what) => {
                    failed.fetch_add(1, Ordering::Relaxed);
                    println!(
                        "FAILED: {what}\n  again: cargo test --release --test fuzz -- {kind} --seed 0 --case {number}"
                    );
                }
            }
        }
    };
    let ended = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(100));
                if let Some((number, _)) = busy.lock().unwrap().iter().find(|(_, since)| hangs(**since, threads)) {
                    // A thread cannot be stopped from outside, so the run ends here.
                    println!("FAILED: case {number} of {kind} has not ended in {PATIENCE:?}");
                    std::process::exit(1);
                }
            }
        });
        let ended: Vec<bool> = workers.into_iter().map(|w| w.join().is_ok()).collect();
        over.store(true, Ordering::Relaxed);
        ended.iter().all(|ended| *ended)
    });
    let _ = std::panic::take_hook();
    assert!(ended, "{kind} cannot begin: {}", last_panic());
    println!("{kind}: {:?}", tally.lock().unwrap());
    let failed = failed.into_inner();
    Outcome {
        passed: cases - failed,
        failed,
        ignored: 0,
    }
}

fn hangs((since, before): (Instant, Option<Duration>), threads: usize) -> bool {
    let work = || Some(worked()?.saturating_sub(before?) / threads.max(1) as u32);
    since.elapsed() > IDLE || since.elapsed() > PATIENCE && work().is_none_or(|work| work > PATIENCE)
}

/// Returns the CPU time of this process, to hundredths of a second; `None` if the system does not
/// report it.
fn worked() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(10 * ticks))
}

/// A session, its runtime, and a folder for its files.
struct Bench {
    runtime: Runtime,
    context: AnonContext,
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        Self {
            runtime: runtime.unwrap(),
            context: context(),
            folder: scratch(),
        }
    }

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, sql: &str) -> Result<Vec<RecordBatch>, Error> {
        self.runtime.block_on(self.context.sql(sql))
    }

    /// Runs a statement that must succeed.
    fn prepare(&self, sql: &str) {
        self.run(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    }
}

fn context() -> AnonContext {
    AnonContext::new(SessionContext::new_with_config(
        SessionConfig::new().with_target_partitions(2),
    ))
}

/// Checks an error. A statement may be refused, but an internal error is a bug, and no error may
/// contain a value.
fn refused(sql: &str, error: &Error) -> Result<(), String> {
    let said = error.to_string();
    if error.kind() == ErrorKind::Internal {
        return Err(format!("{sql}: {said}: {}", last_panic()));
    }
    match said.contains(SECRET) {
        true => Err(format!("{sql}: an error tells a value: {said}")),
        false => Ok(()),
    }
}

/// A scratch folder, in memory if the machine has `/dev/shm`.
fn scratch() -> TempDir {
    let builder = || tempfile::Builder::new().prefix("anonsql-edges-").tempdir_in("/dev/shm");
    builder().or_else(|_| tempfile::tempdir()).unwrap()
}

/// Returns a path in quotes.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display())
}
