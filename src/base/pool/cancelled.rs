//! Cancellation: work on a blocking thread stops early once its result is no longer needed.
//!
//! The future for the result of the work owns a [`Waiter`]. Dropping the future marks the waiter as
//! gone. The work checks this with [`check_cancelled`], on each of its threads, including pool
//! threads.

use crate::base::error::{Error, ErrorKind, Result};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A shared flag that is true once nobody waits for the result of the work any more.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waiter(Arc<AtomicBool>);

thread_local! {
    /// The waiter for the work that runs on this thread.
    static CURRENT: RefCell<Option<Waiter>> = const { RefCell::new(None) };
}

impl Waiter {
    /// Records that the result is no longer needed.
    pub(crate) fn leave(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Makes this the waiter of the current thread. Work that later runs on the thread uses this
    /// waiter, unless the work has its own waiter.
    pub(crate) fn adopt(self) {
        CURRENT.set(Some(self));
    }

    /// Returns the waiter for the work that runs on this thread; `None` if the work cannot be
    /// cancelled.
    pub(super) fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }
}

/// Runs a part of cancellable work on this thread. `waiter` is the waiter for the whole work.
pub(super) fn waited_for<T>(waiter: Option<Waiter>, work: impl FnOnce() -> T) -> T {
    /// Restores the previous waiter of this thread when dropped, even after a panic.
    struct Before(Option<Waiter>);
    impl Drop for Before {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let _before = Before(CURRENT.replace(waiter));
    work()
}

/// Returns true if the result of the current work is no longer needed.
pub(crate) fn is_cancelled() -> bool {
    CURRENT.with_borrow(|waiter| waiter.as_ref().is_some_and(|w| w.0.load(Ordering::Relaxed)))
}

/// Fails with `ErrorKind::Interrupted` if the result of the current work is no longer needed. Long
/// computations call this function between steps.
pub(crate) fn check_cancelled() -> Result<()> {
    match is_cancelled() {
        true => Err(Error::new(ErrorKind::Interrupted, "interrupted")),
        false => Ok(()),
    }
}
