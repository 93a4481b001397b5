//! Kills runs, or lets their system calls fail. Afterwards the target contains the complete old
//! release or the complete new one, and the next run removes all hidden files.
//!
//! The `strace` of the operating system kills a run at a given call, or lets that call fail. If
//! `strace` is missing, the cases that need it are counted as ignored. The other cases still run:
//! they kill a run after a random time, or limit the size of its files. The same input and
//! statement give the same bytes, so the judge compares bytes.

mod strace;
mod ways;

use crate::Outcome;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use strace::{Call, Fault};
use tempfile::TempDir;
use ways::{Found, WAYS, Way, hidden};

/// Limits on the size of a file are tried from 0 blocks to one below this number.
const BLOCKS: u64 = 12;

/// The result of a case whose run was killed.
const KILLED: &str = "killed";

/// The result of a case; `None` if the case needs something that this machine does not have.
type Ended = Result<Option<String>, String>;

/// Kills runs at a random call or at a random moment.
pub fn kills(cases: u64, seed: u64, threads: usize) -> Outcome {
    let subjects = Subject::all();
    let missing = strace::missing();
    let run = |case| {
        let random = mix(seed, case);
        let subject = &subjects[(case % subjects.len() as u64) as usize];
        if random.is_multiple_of(4) {
            return subject.killed_after(subject.took.mul_f64((random % 1000) as f64 / 1000.0), case);
        }
        if missing.is_some() {
            return Ok(None);
        }
        let Call { name, nths } = &subject.calls[(random / 4) as usize % subject.calls.len()];
        let n = nths[(random / 1024) as usize % nths.len()];
        subject.interrupted(&Fault::kill(name, n), case)
    };
    let (mut outcome, ways) = each("kills", missing, cases, threads, run);
    let killed = ways.iter().filter(|(how, _)| how.contains(KILLED)).map(|(_, n)| n);
    let killed: u64 = killed.sum();
    println!("  {killed} runs were killed");
    // Without kills, nothing is tested.
    if killed < outcome.passed / 4 {
        println!("  these are too few");
        outcome.failed += 1;
    }
    outcome
}

/// Lets system calls fail: every call of a run in turn, if there are enough cases.
pub fn faults(cases: u64, seed: u64, threads: usize) -> Outcome {
    let subjects = Subject::all();
    let faults: Vec<(&Subject, Fault)> = subjects.iter().flat_map(|s| s.faults().map(move |f| (s, f))).collect();
    let limits = (0..BLOCKS).flat_map(|blocks| subjects.iter().map(move |s| (s, blocks)));
    let limits: Vec<(&Subject, u64)> = limits.collect();
    let count = (faults.len() + limits.len()) as u64;
    println!("  {count} calls can fail");
    // A stride that shares no factor with the number of faults visits each fault once.
    let stride = (count * 5 / 8..).find(|s| gcd(*s, count) == 1).unwrap_or(1);
    let run = |case| {
        let chosen = ((seed % count + case % count * stride) % count) as usize;
        match faults.get(chosen) {
            Some((subject, fault)) => subject.interrupted(fault, case),
            None => {
                let (subject, blocks) = limits[chosen - faults.len()];
                subject.limited(blocks, case)
            }
        }
    };
    each("faults", strace::missing(), cases, threads, run).0
}

/// Runs cases on some threads, prints those that fail, and counts the cases by result.
fn each(
    kind: &str,
    missing: Option<&str>,
    cases: u64,
    threads: usize,
    run: impl Fn(u64) -> Ended + Sync,
) -> (Outcome, BTreeMap<String, u64>) {
    let (next, outcome) = (AtomicU64::new(0), Mutex::new(Outcome::default()));
    let tally: Mutex<BTreeMap<String, u64>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                loop {
                    let case = next.fetch_add(1, Ordering::Relaxed);
                    if case >= cases {
                        return;
                    }
                    let ended = run(case);
                    let mut outcome = outcome.lock().unwrap();
                    match ended {
                        Ok(Some(how)) => {
                            outcome.passed += 1;
                            *tally.lock().unwrap().entry(how).or_default() += 1;
                        }
                        Ok(None) => outcome.ignored += 1,
                        Err(why) => {
                            println!("  case {case}: {why}");
                            outcome.failed += 1;
                        }
                    }
                }
            });
        }
    });
    if let Some(why) = missing {
        println!("  calls are neither killed nor failed, ignored: {why}");
    }
    let tally = tally.into_inner().unwrap();
    println!("{kind}: {tally:?}");
    (outcome.into_inner().unwrap(), tally)
}

/// The expected end of a run, apart from success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expects {
    Kill,
    Error,
    /// The fault hit something other than a file.
    Anything,
}

/// A way to write a release, with its result when nothing interrupts it.
struct Subject {
    way: &'static Way,
    /// The folder before the statement runs.
    prepared: TempDir,
    old: Found,
    new: Found,
    took: Duration,
    /// The system calls of one run; empty without strace.
    calls: Vec<Call>,
}

impl Subject {
    fn all() -> Vec<Self> {
        WAYS.iter().map(Self::new).collect()
    }

    fn new(way: &'static Way) -> Self {
        let prepared = tempfile::tempdir().unwrap();
        way.prepare(prepared.path(), |folder, sql| succeed(&mut anonsql(folder, sql)));
        let folder = copy(prepared.path());
        let started = Instant::now();
        succeed(&mut anonsql(folder.path(), &way.sql()));
        let took = started.elapsed();
        let counted = copy(prepared.path());
        Self {
            way,
            old: Found::of(prepared.path()),
            new: Found::of(folder.path()),
            took,
            calls: match strace::missing() {
                None => strace::calls(&anonsql(counted.path(), &way.sql())),
                Some(_) => vec![],
            },
            prepared,
        }
    }

    fn faults(&self) -> impl Iterator<Item = Fault> {
        let each = |c: &'_ Call| {
            let faults = c.nths.iter().flat_map(|n| Fault::errors(&c.name, *n));
            faults.collect::<Vec<_>>()
        };
        self.calls.iter().flat_map(each)
    }

    /// Runs the statement once with a fault, and once more without a fault.
    fn interrupted(&self, fault: &Fault, case: u64) -> Ended {
        let folder = copy(self.prepared.path());
        let (output, elsewhere) = strace::run(&anonsql(folder.path(), &self.way.sql()), fault);
        let expects = match (fault.kills, elsewhere) {
            (true, _) => Expects::Kill,
            (false, true) => Expects::Anything,
            (false, false) => Expects::Error,
        };
        self.judge(folder.path(), &output, expects)
            .map_err(|why| format!("{}, {fault}: {why}", self.way.name))
            .inspect_err(|_| keep(folder, case))
    }

    /// Runs the statement once with files limited to `blocks` blocks. At the limit, one write is
    /// cut short and the next one fails.
    fn limited(&self, blocks: u64, case: u64) -> Ended {
        let folder = copy(self.prepared.path());
        let plain = anonsql(folder.path(), &self.way.sql());
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' XFSZ; ulimit -f $0; exec \"$@\"", &blocks.to_string()]);
        command
            .arg(plain.get_program())
            .args(plain.get_args())
            .current_dir(folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let output = command.output().unwrap();
        self.judge(folder.path(), &output, Expects::Error)
            .map_err(|why| format!("{}, files of {blocks} blocks: {why}", self.way.name))
            .inspect_err(|_| keep(folder, case))
    }

    fn killed_after(&self, time: Duration, case: u64) -> Ended {
        let folder = copy(self.prepared.path());
        let mut child = anonsql(folder.path(), &self.way.sql()).spawn().unwrap();
        std::thread::sleep(time);
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        self.judge(folder.path(), &output, Expects::Kill)
            .map_err(|why| format!("{}, killed after {time:?}: {why}", self.way.name))
            .inspect_err(|_| keep(folder, case))
    }

    fn judge(&self, folder: &Path, output: &Output, expects: Expects) -> Ended {
        let said = String::from_utf8_lossy(&output.stderr);
        let found = Found::of(folder);
        let (is_old, is_new) = (found.outputs == self.old.outputs, found.outputs == self.new.outputs);
        let names = || found.outputs.keys().cloned().collect::<Vec<_>>().join(" ");
        if !is_old && !is_new {
            return Err(format!("the target is torn: {}\n{said}", names()));
        }
        if found.report != self.old.report && (found.report != self.new.report || !is_new) {
            return Err(format!("the report is torn, or of a release that is not there\n{said}"));
        }
        match output.status.code() {
            Some(0) if found != self.new => return Err("success without its release".into()),
            Some(0) => (),
            Some(1) if is_old || said.contains("is in place") || said.contains("report") => (),
            // Readers skip a file if stat fails for it, so the recount misses rows.
            Some(4) if is_old && said.contains("nothing was published") => (),
            Some(127) if said.contains("shared librar") => (),
            None if expects == Expects::Kill => (),
            _ if expects == Expects::Anything => (),
            code => return Err(format!("exit code {code:?}: {said}")),
        }
        if expects != Expects::Anything && (said.contains("panicked") || said.contains("a bug in anonsql")) {
            return Err(format!("a panic: {said}"));
        }
        if expects != Expects::Anything && said.contains(strace::HANGS) {
            return Err("it does not end".into());
        }
        if ["flu", "gout"].iter().any(|value| said.contains(value)) {
            return Err(format!("a value is told: {said}"));
        }
        let how = match output.status.code() {
            Some(0) => "ended well",
            Some(_) => "refused",
            None if is_new && !is_old => "killed when all was done",
            None => KILLED,
        };
        let ended = Ok(Some(format!("{}: {how}", self.way.name)));
        if is_new && self.way.once {
            return ended;
        }
        succeed_in(&mut anonsql(folder, &self.way.sql()))?;
        if Found::of(folder) != self.new {
            return Err("the next run does not leave its release".into());
        }
        match hidden(folder).as_slice() {
            [] => ended,
            left => Err(format!("the next run leaves {left:?}")),
        }
    }
}

/// Returns the command for a folder. It gives several threads little work, so the order of its
/// system calls is nearly the same in each run.
fn anonsql(folder: &Path, sql: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_anonsql"));
    command.args(["--threads", "2", "-c", sql]).current_dir(folder);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

fn succeed(command: &mut Command) {
    succeed_in(command).unwrap_or_else(|why| panic!("{why}"));
}

fn succeed_in(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|e| e.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

fn copy(from: &Path) -> TempDir {
    let to = tempfile::tempdir().unwrap();
    copy_into(from, to.path());
    to
}

fn copy_into(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir(&to).unwrap();
            copy_into(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Keeps the folder of a case that failed.
fn keep(folder: TempDir, case: u64) {
    let kept: PathBuf = folder.keep();
    println!("  case {case}: {} is kept", kept.display());
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Returns a pseudorandom number for a case.
fn mix(seed: u64, case: u64) -> u64 {
    let mut z = seed.wrapping_add(case.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
