//! The progress and the notes of a running statement, and its response to Ctrl-C.

use anonsql::manifest::{Drift, Warning};
use anonsql::{Observer, Phase, Progress};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Runs Python's handlers for the signals that have arrived. Does nothing on a thread other than
/// the main thread.
pub fn signals() -> PyResult<()> {
    Python::attach(|py| py.check_signals())
}

/// Runs the `handlers`, and returns whether the work continues. If a handler raises an exception,
/// the work ends, and the exception is stored in `raised`.
pub fn goes_on(raised: &mut Option<PyErr>, handlers: impl FnOnce() -> PyResult<()>) -> bool {
    match handlers() {
        Ok(()) => true,
        Err(e) => {
            *raised = Some(e);
            false
        }
    }
}

/// The Python function that is called with the progress of statements.
pub type Told = Py<PyAny>;

/// The observer of one statement.
#[derive(Default)]
pub struct Follow {
    interrupt: Arc<AtomicBool>,
    current: Mutex<Option<Current>>,
    /// Whether the statement has begun to publish its release.
    publishes: AtomicBool,
    /// Whether an interrupt arrived during publication. It is deferred to the end of the statement.
    deferred: AtomicBool,
    notes: Mutex<Vec<String>>,
}

impl Follow {
    /// Removes and returns the notes since the last call, in order.
    pub fn notes(&self) -> Vec<String> {
        std::mem::take(&mut *held(&self.notes))
    }

    /// Returns whether an interrupt was deferred to the end of the statement.
    pub fn was_deferred(&self) -> bool {
        self.deferred.load(Ordering::Relaxed)
    }

    /// Returns the message for an interrupt that ended the statement.
    pub fn cancelled(&self) -> &'static str {
        match self.publishes.load(Ordering::Relaxed) {
            true => "interrupted while the release was published; check whether the target is the new release",
            false => "interrupted, and the statement was cancelled",
        }
    }

    fn note(&self, text: impl Into<String>) {
        held(&self.notes).push(text.into());
    }

    /// Returns the running phase.
    fn phase(&self) -> Option<Phase> {
        held(&self.current).as_ref().map(|current| current.phase)
    }

    /// Calls `progress` with the name of the phase, the rows or nodes so far, their total if it is
    /// known, and the best value of a search.
    fn tell(&self, progress: &Told) -> PyResult<()> {
        // The lock is released before Python runs.
        let Some((phase, known)) = held(&self.current).as_ref().map(|c| (c.phase, c.known())) else {
            return Ok(());
        };
        let (done, all, best) = known;
        Python::attach(|py| progress.call1(py, (phase.name(), done, all, best)).map(drop))
    }

    /// Runs Python's signal handlers, and calls `progress`. Fails with the exception that cancels
    /// the statement. The first Ctrl-C in a search ends the search, and the statement continues
    /// with the best node so far. The first Ctrl-C during publication is deferred, because
    /// publication runs on its own thread to its end, even if nothing waits for it.
    pub fn look(&self, progress: Option<&Told>) -> PyResult<()> {
        let looked = signals().and_then(|()| progress.map_or(Ok(()), |progress| self.tell(progress)));
        let Err(raised) = looked else {
            return Ok(());
        };
        let is_interrupt = Python::attach(|py| raised.is_instance_of::<PyKeyboardInterrupt>(py));
        if is_interrupt && self.phase() == Some(Phase::Publish) && !self.deferred.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let searches = self.phase() == Some(Phase::Search);
        if is_interrupt && searches && !self.interrupt.swap(true, Ordering::Relaxed) {
            self.note("interrupted: continuing with the best node so far; press Ctrl-C again to cancel");
            return Ok(());
        }
        Err(raised)
    }
}

/// The running phase.
struct Current {
    phase: Phase,
    rows: Arc<AtomicU64>,
    /// The number of rows of the whole phase, if it is known.
    expected: Option<u64>,
    search: Option<Progress>,
}

impl Current {
    /// Returns the rows so far, or the nodes of a search, with their total and the best value.
    fn known(&self) -> (u64, Option<u64>, Option<f64>) {
        match &self.search {
            Some(search) => {
                let all = search.of.and_then(|of| u64::try_from(of).ok());
                (search.nodes, all, search.best)
            }
            None => (self.rows.load(Ordering::Relaxed), self.expected, None),
        }
    }
}

/// Locks a mutex, even if a thread panicked while it held the lock. This is safe, because no panic
/// leaves the value half changed.
pub fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Observer for Follow {
    fn begin(&self, phase: Phase) -> Arc<AtomicU64> {
        let rows = Arc::new(AtomicU64::new(0));
        *held(&self.current) = Some(Current {
            phase,
            rows: Arc::clone(&rows),
            expected: None,
            search: None,
        });
        if phase == Phase::Publish {
            self.publishes.store(true, Ordering::Relaxed);
        }
        rows
    }

    fn expects(&self, phase: Phase, rows: u64) {
        let mut current = held(&self.current);
        if let Some(current) = current.as_mut().filter(|current| current.phase == phase) {
            current.expected = Some(rows);
        }
    }

    fn searched(&self, progress: Progress) {
        if let Some(current) = held(&self.current).as_mut() {
            current.search = Some(progress);
        }
    }

    fn end(&self, phase: Phase) {
        let mut current = held(&self.current);
        if current.as_ref().is_some_and(|current| current.phase == phase) {
            *current = None;
        }
    }

    fn warned(&self, warning: &Warning) {
        self.note(&*warning.text);
    }

    fn drifted(&self, drift: &Drift, stops: bool) {
        // The error already contains the drift that stops the statement.
        if !stops {
            self.note(&*drift.text);
        }
    }

    fn advised(&self, advice: &str) {
        self.note(advice);
    }

    fn worker_failed(&self, worker: &str, is_distrusted: bool) {
        self.note(match is_distrusted {
            true => format!("{worker} reported a result that does not belong to its task; other workers do its part"),
            false => format!("{worker} was lost, and other workers do its part"),
        });
    }

    fn interrupt(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.interrupt)
    }
}
