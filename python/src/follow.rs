//! What a statement tells while it runs, and Ctrl-C.

use anonsql::manifest::{Drift, Warning};
use anonsql::{Observer, Phase};
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

/// The observer of one statement.
#[derive(Default)]
pub struct Follow {
    interrupt: Arc<AtomicBool>,
    phase: Mutex<Option<Phase>>,
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

    /// Runs the interpreter's handlers of signals, on its main thread. Returns the exception if the
    /// statement is to be cancelled. The first Ctrl-C in a search makes it go on with the best so
    /// far, and the first one while a release is put in its place lets that end: what has begun
    /// then ends on a thread of its own, whoever waits for it.
    pub fn signals(&self) -> PyResult<()> {
        let Err(raised) = signals() else {
            return Ok(());
        };
        let is_interrupt = Python::attach(|py| raised.is_instance_of::<PyKeyboardInterrupt>(py));
        if is_interrupt && *held(&self.phase) == Some(Phase::Publish) && !self.deferred.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let searches = *held(&self.phase) == Some(Phase::Search);
        if is_interrupt && searches && !self.interrupt.swap(true, Ordering::Relaxed) {
            self.note("interrupted: the search ended with the best so far; Ctrl-C again cancels the statement");
            return Ok(());
        }
        Err(raised)
    }
}

/// Returns what a mutex holds; a thread that panicked while it held it left it whole.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Observer for Follow {
    fn begin(&self, phase: Phase) -> Arc<AtomicU64> {
        *held(&self.phase) = Some(phase);
        if phase == Phase::Publish {
            self.publishes.store(true, Ordering::Relaxed);
        }
        Arc::default()
    }

    fn end(&self, phase: Phase) {
        let mut current = held(&self.phase);
        if *current == Some(phase) {
            *current = None;
        }
    }

    fn warned(&self, warning: &Warning) {
        self.note(&*warning.text);
    }

    fn drifted(&self, drift: &Drift, stops: bool) {
        // What stops the statement is in its error.
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
