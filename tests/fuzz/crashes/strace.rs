//! Faults injected by `strace`, from the operating system's package of that name.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The longest time for a run. A run normally takes less than a second.
const LONGEST: Duration = Duration::from_secs(60);
/// The longest time for a run whose threads may never be woken.
const LONG: Duration = Duration::from_secs(2);
/// The text added to the standard error of a run that exceeds its time.
pub const HANGS: &str = "(it hangs)";

/// The system calls that read a disk, change it, or flush it.
const CALLS: &[&str] = &[
    "openat",
    "read",
    "pread64",
    "getdents64",
    "statx",
    "mkdir",
    "write",
    "pwrite64",
    "fsync",
    "rename",
    "renameat2",
    "unlink",
    "unlinkat",
    "rmdir",
    "flock",
];

/// A system call, and each number n for which the n-th such call of a thread is on a file.
pub struct Call {
    pub name: String,
    pub nths: Vec<u64>,
}

/// A fault that is injected into the n-th call of this name by a thread.
pub struct Fault {
    call: String,
    n: u64,
    what: &'static str,
    pub kills: bool,
}

impl Fault {
    pub fn kill(call: &str, n: u64) -> Self {
        Self {
            call: call.into(),
            n,
            what: "signal=KILL",
            kills: true,
        }
    }

    /// Returns the errors of a full disk and of a broken one.
    pub fn errors(call: &str, n: u64) -> impl Iterator<Item = Self> {
        ["error=ENOSPC", "error=EIO"].into_iter().map(move |what| Self {
            call: call.into(),
            n,
            what,
            kills: false,
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.call, self.n, self.what)
    }
}

/// Returns why strace cannot be used here, or `None` if it can.
pub fn missing() -> Option<&'static str> {
    let command = Command::new("true");
    let mut traced = traced(&command, "write", true);
    let nowhere = ["-y", "-o", "/dev/null", "--"];
    match traced.args(nowhere).arg("true").stderr(Stdio::null()).status() {
        Ok(status) if status.success() => None,
        Ok(_) => Some("strace may not trace here, or is older than 5.3"),
        Err(_) => Some("strace is not installed"),
    }
}

/// Returns the system calls of a run.
pub fn calls(command: &Command) -> Vec<Call> {
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut traced = traced(command, &CALLS.join(","), true);
    traced.arg("-y").arg("-o").arg(log.path());
    let output = run_in(traced, command, || false).unwrap();
    assert!(output.status.success(), "{command:?} under strace: {output:?}");
    // A line begins with the number of its thread: `123 openat(...`.
    let mut made: BTreeMap<(String, String), u64> = BTreeMap::new();
    let mut nths: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for line in std::fs::read_to_string(log.path()).unwrap().lines() {
        let call = line.split_once(char::is_whitespace).and_then(|(thread, rest)| {
            let (name, _) = rest.trim_start().split_once('(')?;
            Some((name.to_string(), thread.to_string()))
        });
        if let Some(call) = call.filter(|(name, _)| CALLS.contains(&name.as_str())) {
            let name = call.0.clone();
            let n = made.entry(call).or_default();
            *n += 1;
            if !is_no_file(line) {
                nths.entry(name).or_default().insert(*n);
            }
        }
    }
    let calls = nths.into_iter().map(|(name, nths)| Call {
        name,
        nths: nths.into_iter().collect(),
    });
    calls.collect()
}

/// Returns true if a line does not name a file. The line may be about a pipe, socket or event
/// descriptor or `/dev/null`, or it may be the end of a call.
fn is_no_file(line: &str) -> bool {
    let others = ["<anon_inode:", "<pipe:", "<socket:", "</dev/null>", " resumed>"];
    others.iter().any(|other| line.contains(other))
}

/// Runs the command with the fault. The second value is true if the fault hit something other than
/// a file, such as the descriptor that wakes a thread.
pub fn run(command: &Command, fault: &Fault) -> (Output, bool) {
    let log = tempfile::NamedTempFile::new().unwrap();
    // With the kernel's filter, strace 6.1 counts wrongly when it sends a signal: it would kill a
    // run only at its first call.
    let mut traced = traced(command, &fault.call, !fault.kills);
    traced
        .arg("-e")
        .arg(format!("inject={}:{}:when={}", fault.call, fault.what, fault.n));
    traced.arg("-y").arg("-o").arg(log.path());
    let elsewhere = || {
        let log = std::fs::read_to_string(log.path()).unwrap_or_default();
        let mut met = log.lines().filter(|line| line.ends_with("(INJECTED)"));
        met.any(is_no_file)
    };
    // A fault on the descriptor that wakes a thread can leave the thread asleep. The run then
    // hangs, so it is killed sooner.
    let output = run_in(traced, command, elsewhere).unwrap();
    (output, elsewhere())
}

/// Returns the command under strace. With `filter`, only the system calls `calls` stop the command.
/// Without it, every system call does.
fn traced(command: &Command, calls: &str, filter: bool) -> Command {
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-e", &format!("trace={calls}"), "-e", "signal=none"]);
    if filter {
        traced.arg("--seccomp-bpf");
    }
    command.get_current_dir().into_iter().for_each(|folder| {
        traced.current_dir(folder);
    });
    traced
}

/// Runs the command under strace until it ends or hangs. If `may_hang` returns true, the command
/// counts as hanging after a shorter time.
fn run_in(mut traced: Command, command: &Command, may_hang: impl Fn() -> bool) -> Option<Output> {
    traced.arg("--").arg(command.get_program()).args(command.get_args());
    traced.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = traced.process_group(0).spawn().ok()?;
    let (started, mut hangs) = (Instant::now(), false);
    while child.try_wait().ok()?.is_none() {
        let took = started.elapsed();
        if !hangs && (took > LONGEST || (took > LONG && may_hang())) {
            hangs = true;
            // The run is a child of strace and would outlive it, so the whole group is killed.
            let group = format!("-{}", child.id());
            Command::new("kill").args(["-KILL", "--", &group]).status().ok()?;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut output = child.wait_with_output().ok()?;
    if hangs {
        output.stderr.extend_from_slice(HANGS.as_bytes());
    }
    Some(output)
}
