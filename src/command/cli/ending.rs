//! Handles SIGTERM and SIGHUP. A running statement is cancelled and cleans up as after Ctrl-C, and
//! the command exits with 128 plus the number of the signal. If no statement is running, the
//! command exits immediately.

use crate::base::error::{Error, Result};
use crate::data::lake::Keeper;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;
use tokio::task::AbortHandle;

/// The exit code for the received signal; 0 if no signal was received.
static CODE: AtomicU8 = AtomicU8::new(0);
/// The running statement, and the keeper of its session; `None` if no statement is running.
static RUNNING: Mutex<Option<(AbortHandle, Keeper)>> = Mutex::new(None);

/// The maximum time for deleting the files that a cancelled statement wrote to an object store.
pub const CLEANING: Duration = Duration::from_secs(10);

/// The time that the process waits before it exits, for the cleanup of a cancelled statement and
/// for threads that are still computing.
const PATIENCE: Duration = Duration::from_secs(3);

/// Returns the exit code for the signal that ends the command; `None` if no signal was received.
pub fn code() -> Option<u8> {
    Some(CODE.load(Ordering::Relaxed)).filter(|code| *code != 0)
}

/// A running statement, which a signal cancels. The statement counts as running until this value is
/// dropped.
#[must_use]
pub struct Running(());

impl Running {
    /// Marks a statement as running. `task` is the handle of its task, and `keeper` is the keeper
    /// of its session.
    pub fn mark(task: AbortHandle, keeper: Keeper) -> Self {
        *RUNNING.lock() = Some((task, keeper));
        Self(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        *RUNNING.lock() = None;
    }
}

/// Starts a thread that waits for signals, because all other threads may be computing. Signals that
/// the process was started to ignore, such as SIGHUP under nohup, are still ignored.
#[cfg(unix)]
pub fn watch() -> Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let failed = |e| Error::io("cannot wait for signals", e);
    let ignored = ignored();
    let is_heard = |kind: &SignalKind| ignored >> (kind.as_raw_value() - 1) & 1 == 0;
    let kinds = [SignalKind::terminate(), SignalKind::hangup()];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(failed)?;
    let heard: std::io::Result<Vec<_>> = {
        let _inside = runtime.enter();
        let kinds = kinds.into_iter().filter(is_heard);
        kinds.map(|kind| Ok((kind.as_raw_value(), signal(kind)?))).collect()
    };
    let heard = heard.map_err(failed)?;
    let wait = move || {
        let signals = heard.into_iter().map(|(number, mut signal)| {
            Box::pin(async move {
                signal.recv().await;
                number
            })
        });
        let signals: Vec<_> = signals.collect();
        if !signals.is_empty() {
            let (number, ..) = runtime.block_on(futures::future::select_all(signals));
            end(&runtime, u8::try_from(128 + number).unwrap_or(1));
        }
    };
    let thread = std::thread::Builder::new().name("signals".into()).spawn(wait);
    thread.map(drop).map_err(failed)
}

/// Does nothing, because other systems terminate the process themselves.
#[cfg(not(unix))]
pub fn watch() -> Result<()> {
    Ok(())
}

/// Returns the signals that the process ignores, as a bit mask; 0 if the system does not report
/// them.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

fn end(runtime: &tokio::runtime::Runtime, code: u8) {
    CODE.store(code, Ordering::Relaxed);
    let running = RUNNING.lock().clone();
    if let Some((task, keeper)) = running {
        task.abort();
        std::thread::sleep(PATIENCE);
        runtime.block_on(keeper.cleaned_up(CLEANING));
    }
    std::process::exit(code.into());
}
