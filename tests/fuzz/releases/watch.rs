//! Runs many cases on several threads, with a watchdog and a progress display, and lists the
//! failures at the end.

use super::case::Case;
use super::{Ended, Failure, attempt, generate, shrink};
use crate::Outcome;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, PanicHookInfo};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// The longest time for a case. On an idle machine a case takes tens of milliseconds.
const PATIENCE: Duration = Duration::from_secs(120);

/// The location of the last panic.
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

/// Returns the location of the last panic of the process.
pub fn last_panic() -> String {
    LAST_PANIC.lock().map(|text| text.clone()).unwrap_or_default()
}

/// The result of one case.
struct Report {
    number: u64,
    ended: Result<Ended, Failure>,
}

/// The state that the threads share: the number of the next case, and the running cases with their
/// start times.
struct Shared {
    next: AtomicU64,
    end: u64,
    /// True if only one case is run. Such a case is printed.
    alone: bool,
    busy: Mutex<BTreeMap<u64, Instant>>,
    /// The number of failures of each kind that were reduced.
    shrunk: Mutex<BTreeMap<&'static str, usize>>,
}

/// The number of failures of each kind that are reduced. The others are listed by number only.
const SHRUNK: usize = 12;

/// Runs `cases` cases from number `seed` on.
pub fn run(cases: u64, seed: u64, threads: usize) -> Outcome {
    std::panic::set_hook(Box::new(|info: &PanicHookInfo| {
        if let (Ok(mut last), Some(at)) = (LAST_PANIC.lock(), info.location()) {
            *last = at.to_string();
        }
    }));
    let shared = Arc::new(Shared {
        next: AtomicU64::new(seed),
        end: seed + cases,
        alone: cases == 1,
        busy: Mutex::default(),
        shrunk: Mutex::default(),
    });
    let (sender, reports) = channel();
    (0..threads.min(cases as usize)).for_each(|_| work(&shared, &sender));
    let (mut outcome, mut failures, mut tally) = (Outcome::default(), vec![], BTreeMap::new());
    let start = Instant::now();
    let mut given_up: Vec<u64> = vec![];
    while outcome.passed + outcome.failed < cases {
        match reports.recv_timeout(Duration::from_secs(1)) {
            Ok(report) if given_up.contains(&report.number) => {}
            Ok(report) => take(report, &mut outcome, &mut failures, &mut tally),
            Err(_) => {
                for number in overdue(&shared) {
                    given_up.push(number);
                    let ended = Err(Failure::new("hang", format!("no end after {PATIENCE:?}")));
                    take(Report { number, ended }, &mut outcome, &mut failures, &mut tally);
                    work(&shared, &sender);
                }
            }
        }
        let done = outcome.passed + outcome.failed;
        if done % 1000 == 0 && done > 0 {
            println!(
                "{done} cases, {} failed, {:.0} s: {tally:?}",
                outcome.failed,
                start.elapsed().as_secs_f64()
            );
        }
    }
    let _ = std::panic::take_hook();
    println!("{tally:?}");
    for (number, failure) in &failures {
        println!("case {number} {}: {}", failure.kind, failure.what);
        println!("  again: cargo test --release --test fuzz -- releases --seed {number} --case 0");
    }
    outcome
}

fn take(
    report: Report,
    outcome: &mut Outcome,
    failures: &mut Vec<(u64, Failure)>,
    tally: &mut BTreeMap<&'static str, u64>,
) {
    match report.ended {
        Ok(ended) => {
            outcome.passed += 1;
            let kind = match &ended {
                Ended::Released => "released",
                Ended::Refused(kind, _) => kind,
            };
            *tally.entry(kind).or_default() += 1;
            if let (Ended::Refused(kind, said), true) = (&ended, std::env::var_os("FUZZ_SAY").is_some()) {
                println!("{} {kind}: {said}", report.number);
            }
        }
        Err(failure) => {
            outcome.failed += 1;
            *tally.entry(failure.kind).or_default() += 1;
            println!("case {} FAILED {}: {}", report.number, failure.kind, failure.what);
            failures.push((report.number, failure));
        }
    }
}

/// Returns the cases that have taken too long, and removes them from the running cases.
fn overdue(shared: &Shared) -> Vec<u64> {
    let Ok(mut busy) = shared.busy.lock() else {
        return vec![];
    };
    let late: Vec<u64> = busy
        .iter()
        .filter(|(_, since)| since.elapsed() > PATIENCE)
        .map(|(n, _)| *n)
        .collect();
    busy.retain(|number, _| !late.contains(number));
    late
}

/// Starts a thread that runs cases one after the other. A thread whose case took too long ends
/// after that case.
fn work(shared: &Arc<Shared>, sender: &Sender<Report>) {
    let (shared, sender) = (Arc::clone(shared), sender.clone());
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else { return };
        loop {
            let number = shared.next.fetch_add(1, Ordering::Relaxed);
            if number >= shared.end {
                return;
            }
            if let Ok(mut busy) = shared.busy.lock() {
                busy.insert(number, Instant::now());
            }
            let case = generate::case(number);
            if shared.alone {
                println!("{}", shrink::describe(&case, None));
            }
            let ended = attempt(&runtime, &case);
            let given_up = shared.busy.lock().is_ok_and(|mut busy| busy.remove(&number).is_none());
            let ended = ended.map_err(|failure| smaller(&shared, &runtime, number, case, failure));
            if sender.send(Report { number, ended }).is_err() || given_up {
                return;
            }
        }
    });
}

/// Finds the smallest case that fails in the same way, writes it to a folder, and returns its
/// failure.
fn smaller(shared: &Shared, runtime: &Runtime, number: u64, case: Case, failure: Failure) -> Failure {
    let enough = shared.shrunk.lock().is_ok_and(|mut shrunk| {
        let of_kind = shrunk.entry(failure.kind).or_default();
        *of_kind += 1;
        *of_kind > SHRUNK
    });
    if enough {
        return failure;
    }
    let work = || {
        let (case, failure) = shrink::shrink(runtime, case, failure.clone());
        let place = shrink::write(number, &case, &failure);
        let place = place.map_or_else(
            |e| format!("not written down: {e}"),
            |folder| folder.display().to_string(),
        );
        Failure::new(failure.kind, format!("{} ({place})", failure.what))
    };
    std::panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Failure::new(
            failure.kind,
            format!("{} (shrinking panicked at {})", failure.what, last_panic()),
        )
    })
}
