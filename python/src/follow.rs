//! What a statement tells while it runs, and Ctrl-C.

use anonsql::manifest::{Drift, Warning};
use anonsql::{Observer, Phase, Progress};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Runs the interpreter's handlers of signals, on its main thread.
pub fn signals() -> PyResult<()> {
    Python::attach(|py| py.check_signals())
}

/// Returns whether what is done goes on: not if a handler of a signal raises, and then that is kept.
pub fn goes_on(raised: &mut Option<PyErr>, handlers: impl FnOnce() -> PyResult<()>) -> bool {
    match handlers() {
        Ok(()) => true,
        Err(e) => {
            *raised = Some(e);
            false
        }
    }
}

/// What is called with the progress of statements.
pub type Told = Py<PyAny>;

/// The observer of one statement.
#[derive(Default)]
pub struct Follow {
    interrupt: Arc<AtomicBool>,
    current: Mutex<Option<Current>>,
    /// Whether a release has begun to be put in its place.
    publishes: AtomicBool,
    /// Whether an interrupt came meanwhile, and waits for the end.
    deferred: AtomicBool,
    notes: Mutex<Vec<String>>,
}

impl Follow {
    /// Returns what was told, in order, and forgets it.
    pub fn notes(&self) -> Vec<String> {
        std::mem::take(&mut *held(&self.notes))
    }

    /// Returns whether an interrupt waited for the end of the statement.
    pub fn was_deferred(&self) -> bool {
        self.deferred.load(Ordering::Relaxed)
    }

    /// Returns what an interrupt has ended.
    pub fn cancelled(&self) -> &'static str {
        match self.publishes.load(Ordering::Relaxed) {
            true => "interrupted while the release was put in its place; look whether the target is the new one",
            false => "interrupted, and the statement was cancelled",
        }
    }

    fn note(&self, text: impl Into<String>) {
        held(&self.notes).push(text.into());
    }

    /// Returns the phase that has not ended.
    fn phase(&self) -> Option<Phase> {
        held(&self.current).as_ref().map(|current| current.phase)
    }

    /// Calls `progress` with the phase, how much of it is done and how much there is, and the best value
    /// of a search.
    fn tell(&self, progress: &Told) -> PyResult<()> {
        // No lock is held while Python runs.
        let Some((phase, known)) = held(&self.current).as_ref().map(|c| (c.phase, c.known())) else {
            return Ok(());
        };
        let (done, all, best) = known;
        Python::attach(|py| progress.call1(py, (phase.name(), done, all, best)).map(drop))
    }

    /// Runs the interpreter's handlers of signals, on its main thread, and calls `progress`. Returns the
    /// exception if the statement is to be cancelled. The first Ctrl-C in a search makes it go on with
    /// the best so far, and the first one while a release is put in its place lets that end: what has
    /// begun then ends on a thread of its own, whoever waits for it.
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
            self.note("interrupted: the search ended with the best so far; Ctrl-C again cancels the statement");
            return Ok(());
        }
        Err(raised)
    }
}

/// A phase that has not ended.
struct Current {
    phase: Phase,
    rows: Arc<AtomicU64>,
    /// The number of rows of the whole phase, if it is known.
    expected: Option<u64>,
    search: Option<Progress>,
}

impl Current {
    /// Returns the rows so far, or the nodes of a search, how many there are, and the best value.
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

/// Returns what a mutex holds; a thread that panicked while it held it left it whole.
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
            true => format!("{worker} reported something else than it was asked; others do its part"),
            false => format!("{worker} was lost, and others do its part"),
        });
    }

    fn interrupt(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.interrupt)
    }
}
