//! Creates the DataFusion session according to the command line arguments.

use super::args::Args;
use crate::base::catalogue::size;
use crate::base::error::{Error, Result};
use crate::base::spill::with_unnamed_files;
use crate::language::session::enable_path_tables;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{FairSpillPool, TrackConsumersPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

/// The number of memory consumers that are named in an out-of-memory error.
const NAMED_CONSUMERS: NonZeroUsize = NonZeroUsize::new(3).unwrap();

/// The resources of the machine that a session may use.
pub struct Limits {
    /// The number of computing threads; `None` for one thread per core.
    pub threads: Option<NonZeroUsize>,
    /// The memory limit in bytes; `None` for all memory of the machine.
    pub memory: Option<usize>,
    /// The folder for temporary files; `None` for the system's folder.
    pub temporary: Option<PathBuf>,
}

impl Limits {
    /// Parses a size such as `512MB` or `1GiB`, and returns its number of bytes.
    pub fn bytes(text: &str) -> Result<usize> {
        size(text)
    }

    /// Returns the requested number of threads, or the number of cores if none is requested.
    pub fn threads(&self) -> NonZeroUsize {
        self.threads
            .or_else(|| std::thread::available_parallelism().ok())
            .unwrap_or(NonZeroUsize::MIN)
    }

    fn of(args: &Args) -> Self {
        Self {
            threads: args.threads,
            memory: args.memory_limit,
            temporary: args.temp_dir.clone(),
        }
    }
}

/// Creates a DataFusion session with the limits in the arguments. In this session, a quoted path
/// can be used as a table name.
pub fn session(args: &Args) -> Result<SessionContext> {
    let context = session_with(&Limits::of(args))?;
    Ok(enable_path_tables(context))
}

/// Creates a DataFusion session with the given limits.
pub fn session_with(limits: &Limits) -> Result<SessionContext> {
    let mut config = SessionConfig::new()
        .with_target_partitions(limits.threads().get())
        .with_information_schema(true);
    let mut environment = RuntimeEnvBuilder::new();
    if let Some(limit) = limits.memory.filter(|limit| *limit < LEAST) {
        return Err(Error::usage(format!(
            "--memory-limit {} MB is too small for any job: the program itself uses {} MB; write at least {} MB",
            limit / 1_000_000,
            OWN / 1_000_000,
            LEAST / 1_000_000
        )));
    }
    if let Some(limit) = limits.memory.or_else(memory) {
        // The pool gives each sort an equal share of the memory that is not reserved by the base
        // frequency set. In a first-come, first-served pool, the first sort could starve the
        // others.
        let pool = TrackConsumersPool::new(FairSpillPool::new(handed_out(limit)), NAMED_CONSUMERS);
        environment = environment.with_memory_pool(Arc::new(pool));
    }
    if let Some(folder) = &limits.temporary {
        if !folder.is_dir() {
            return Err(Error::usage(format!(
                "--temp-dir: there is no folder {}",
                folder.display()
            )));
        }
        let disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::Directories(vec![folder.clone()]));
        environment = environment.with_disk_manager_builder(disk);
    }
    let environment = environment.build()?;
    let environment = with_unnamed_files(&environment, &mut config)?.unwrap_or(environment);
    Ok(SessionContext::new_with_config_rt(config, Arc::new(environment)))
}

/// The memory, in bytes, that the process needs before any query: the pages of the program, and the
/// initial memory of its threads.
const OWN: usize = 72_000_000;
/// The minimum memory limit in bytes, which leaves enough memory for a small statement.
const LEAST: usize = 100_000_000;

/// Returns the part of the memory limit that the pool may hand out. The rest is for memory that
/// operators do not reserve: the program itself, batches in transit, columns that are being decoded
/// or encoded, and memory that the allocator retains.
fn handed_out(limit: usize) -> usize {
    limit.saturating_sub(OWN) / 3 * 2
}

/// Returns the memory of the machine or of the container, in bytes. If a session uses this value as
/// its memory limit, a request that needs more memory fails with an error, and the system does not
/// kill the process. Returns `None` if the system does not report its memory.
fn memory() -> Option<usize> {
    let system = System::new_with_specifics(RefreshKind::nothing().with_memory(MemoryRefreshKind::everything()));
    // The function `cgroup_limits` of sysinfo panics on a system that does not report its memory.
    let machine = Some(system.total_memory()).filter(|b| *b > 0)?;
    let container = system.cgroup_limits().map(|limits| limits.total_memory);
    let bytes = container.filter(|b| *b > 0).map_or(machine, |c| c.min(machine));
    usize::try_from(bytes).ok()
}

/// Returns the requested number of threads, or the number of cores if none is requested.
pub fn threads(args: &Args) -> NonZeroUsize {
    Limits::of(args).threads()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &[&str]) -> Args {
        Args::read(["anonsql"].iter().chain(line).map(Into::into)).unwrap().0
    }

    #[test]
    fn memory_is_limited_whether_told_or_not() {
        use datafusion::execution::memory_pool::MemoryLimit;
        let limit = |line: &[&str]| session(&args(line)).unwrap().runtime_env().memory_pool.memory_limit();
        assert!(matches!(
            limit(&["--memory-limit", "102MB"]),
            MemoryLimit::Finite(20_000_000)
        ));
        let Some(all) = memory() else { return };
        assert!(all > 100 << 20, "{all} bytes");
        assert!(matches!(limit(&[]), MemoryLimit::Finite(bytes) if bytes.abs_diff(handed_out(all)) <= all / 10));
        let error = session(&args(&["--memory-limit", "99MB"])).err().unwrap();
        assert!(error.to_string().contains("at least 100 MB"), "{error}");
    }

    #[test]
    fn limits_reach_the_session() {
        let session = session(&args(&["--threads", "3", "--memory-limit", "102MB"])).unwrap();
        assert_eq!(session.copied_config().target_partitions(), 3);
        let pool = &session.runtime_env().memory_pool;
        let reservation = datafusion::execution::memory_pool::MemoryConsumer::new("test").register(pool);
        assert!(reservation.try_grow(12_000_000).is_ok());
        assert!(reservation.try_grow(12_000_000).is_err());
    }

    #[test]
    fn a_missing_folder_is_named() {
        let error = session(&args(&["--temp-dir", "/no/such/folder"])).err().unwrap();
        assert!(error.to_string().contains("/no/such/folder"), "{error}");
    }
}
