//! Keeps the process within its memory limit.
//!
//! DataFusion's memory pool counts the memory that operators reserve. The rest (pages of the
//! program, columns that are being decoded or encoded, memory that the allocator retains) is
//! measured: the program checks its resident memory while a statement is running. If a statement
//! exceeds the limit, it ends with an error.

use super::args::Args;
use super::environment::threads;
use crate::base::error::{Error, ErrorKind};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};

/// The interval at which resident memory is checked.
const TICK: Duration = Duration::from_millis(4);
/// The number of bytes by which memory may exceed the limit before the statement is ended. This is
/// necessary because memory is allocated in large pieces and freed late.
const SLACK: usize = 16 << 20;
/// The number of bytes by which memory may exceed the limit while the program waits for an ended
/// statement. A thread that is computing for this statement continues until its next await point.
const MORE_SLACK: usize = 40 << 20;

/// A limit on the resident memory of this process.
#[derive(Debug, Clone, Copy)]
pub struct Guard {
    limit: Option<usize>,
}

impl Guard {
    /// Creates a guard for the given limit. `None` means that memory is not limited.
    pub fn new(limit: Option<usize>) -> Self {
        Self { limit }
    }

    /// Creates a guard for a process that is shared with another program. The limit is the current
    /// memory of the process plus `more` bytes.
    pub fn above_now(more: Option<usize>) -> Self {
        Self::new(more.map(|more| more + resident().unwrap_or_default()))
    }

    /// Waits until the process exceeds the limit, and returns the error for the running statement.
    pub async fn exceeded(self) -> Error {
        self.passed(SLACK).await;
        Error::new(
            ErrorKind::Resources,
            format!(
                "the statement takes more than the {} MB of --memory-limit; raise the limit, use fewer --threads, or name \
                 fewer columns",
                self.limit.unwrap_or_default() / 1_000_000
            ),
        )
    }

    /// Waits until the process exceeds the limit by so much that the program must stop waiting for
    /// an ended statement.
    pub async fn far_exceeded(self) {
        self.passed(MORE_SLACK).await;
    }

    /// Returns true if the process now exceeds the limit so far that [`Guard::far_exceeded`] would
    /// complete.
    pub fn is_far_exceeded(self) -> bool {
        self.has_passed(MORE_SLACK)
    }

    async fn passed(self, slack: usize) {
        if self.limit.is_none() {
            return std::future::pending().await;
        }
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !self.has_passed(slack) {
            ticks.tick().await;
        }
    }

    fn has_passed(self, slack: usize) -> bool {
        self.limit
            .is_some_and(|limit| resident().is_some_and(|bytes| bytes > limit + slack))
    }
}

/// The command line that restarts the program of this process.
#[derive(Debug, Clone)]
pub struct Restart {
    /// The path of the executable file; `None` if it is unknown.
    pub program: Option<PathBuf>,
    /// The arguments, without the name of the program.
    pub arguments: Vec<OsString>,
}

impl Restart {
    /// Returns the command line of this process. Its program is the command itself.
    pub fn itself() -> Self {
        Self {
            program: std::env::current_exe().ok(),
            arguments: std::env::args_os().skip(1).collect(),
        }
    }
}

/// Restarts the program with one allocator arena per thread if its memory is limited. By default,
/// glibc uses up to eight arenas per CPU core, and each retains freed memory that is not counted.
/// With one arena per thread, resident memory is a third smaller. glibc reads the number of arenas
/// only when a program starts. If the restart fails, the program continues unchanged.
pub fn restart_with_fewer_arenas(args: &Args, restart: &Restart) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if args.memory_limit.is_some() && std::env::var_os(ARENAS).is_none() {
        use std::os::unix::process::CommandExt;
        let Some(program) = &restart.program else { return };
        let mut command = std::process::Command::new(program);
        let arenas = threads(args).get().max(2);
        let _failed = command.args(&restart.arguments).env(ARENAS, arenas.to_string()).exec();
    }
}

/// The environment variable that sets the maximum number of glibc's arenas.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ARENAS: &str = "MALLOC_ARENA_MAX";

/// Returns the resident memory of the process in bytes; `None` if the system does not report it.
fn resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_limit_below_what_the_process_has_ends_the_wait() {
        let Some(own) = resident() else { return };
        assert!(own > 1 << 20, "{own} bytes");
        let error = Guard::new(Some(0)).exceeded();
        let held: Vec<u8> = vec![1; SLACK + (1 << 20)];
        let error = tokio::time::timeout(Duration::from_secs(20), error).await.unwrap();
        assert_eq!(error.kind(), ErrorKind::Resources);
        assert!(held.iter().all(|b| *b == 1) && error.to_string().contains("--memory-limit"));
        let patient = tokio::time::timeout(Duration::from_millis(50), Guard::new(None).exceeded());
        assert!(patient.await.is_err());
        let held: Vec<u8> = vec![1; MORE_SLACK];
        assert!(Guard::new(Some(0)).is_far_exceeded() && !Guard::new(None).is_far_exceeded());
        assert!(!Guard::new(Some(usize::MAX - MORE_SLACK)).is_far_exceeded());
        Guard::new(Some(0)).far_exceeded().await;
        assert!(held.iter().all(|b| *b == 1));
    }
}
