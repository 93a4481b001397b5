//! Cancellation: work on a blocking thread ends early once nobody waits for its result any more.
//!
//! The future that waits for the work has a [`Waiter`]. Dropping the future marks the waiter as
//! gone. The work sees the mark on its own threads, including those of the pool, through
//! [`check_cancelled`].

use crate::error::{Error, ErrorKind, Result};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether somebody still waits for the result of a piece of work.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waiter(Arc<AtomicBool>);

thread_local! {
    /// The waiter of the work that this thread does.
    static CURRENT: RefCell<Option<Waiter>> = const { RefCell::new(None) };
}

impl Waiter {
    /// Records that nobody waits any more.
    pub(crate) fn leave(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Makes this the waiter for all work on this thread that has no other waiter.
    pub(crate) fn adopt(self) {
        CURRENT.set(Some(self));
    }

    /// Returns the waiter of the work that this thread does; `None` if the work cannot be
    /// cancelled.
    pub(super) fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }
}

/// Runs, on this thread, a part of the work that `waiter` waits for.
pub(super) fn waited_for<T>(waiter: Option<Waiter>, work: impl FnOnce() -> T) -> T {
    /// Restores the waiter of the work that this thread was doing, also after a panic.
    struct Before(Option<Waiter>);
    impl Drop for Before {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let _before = Before(CURRENT.replace(waiter));
    work()
}

/// Returns true if nobody waits for the result of the current work any more.
pub(crate) fn is_cancelled() -> bool {
    CURRENT.with_borrow(|waiter| waiter.as_ref().is_some_and(|w| w.0.load(Ordering::Relaxed)))
}

/// Fails with `ErrorKind::Interrupted` if nobody waits for the result of the current work any more.
/// Long computations call it between two steps.
pub(crate) fn check_cancelled() -> Result<()> {
    match is_cancelled() {
        true => Err(Error::new(ErrorKind::Interrupted, "interrupted")),
        false => Ok(()),
    }
}
