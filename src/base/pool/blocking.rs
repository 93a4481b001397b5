//! Runs blocking work outside the worker threads of a tokio runtime.

use super::cancelled::{Waiter, check_cancelled, waited_for};
use crate::base::error::{Error, Result};
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::task::{JoinHandle, spawn_blocking};

/// Starts `work` at once on a blocking thread, and returns a future for its result. `what`
/// describes the work in the error that reports a panic. If the future is dropped, work that has
/// not started is cancelled, and work that has started stops at its next [`check_cancelled`].
pub(crate) fn blocking<T: Send + 'static>(
    what: &'static str,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> impl Future<Output = Result<T>> + Send + 'static {
    let place = Arc::new(Mutex::new(None));
    let done = Arc::clone(&place);
    let waiting = Waiting::begin(Box::new(move || {
        let result = work()?;
        *done.lock() = Some(result);
        Ok(())
    }));
    async move {
        waiting.ended(what).await?;
        let result = place.lock().take();
        result.ok_or_else(|| Error::internal(format!("{what} has no result")))
    }
}

/// A handle to running work. Dropping it cancels the work.
struct Waiting {
    waiter: Waiter,
    begun: JoinHandle<Result<()>>,
}

impl Waiting {
    /// Starts work. The work is not generic, because tokio's functions would be compiled for each
    /// type of work.
    fn begin(work: Box<dyn FnOnce() -> Result<()> + Send>) -> Self {
        let waiter = Waiter::default();
        let own = Some(waiter.clone());
        let begun = spawn_blocking(move || waited_for(own, || check_cancelled().and_then(|()| work())));
        Self { waiter, begun }
    }

    async fn ended(mut self, what: &'static str) -> Result<()> {
        (&mut self.begun).await.map_err(|e| Error::from_task(what, &e))?
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.waiter.leave();
        self.begun.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Pool, map};
    use super::*;
    use crate::base::error::ErrorKind;
    use std::sync::mpsc::channel;

    #[tokio::test(flavor = "current_thread")]
    async fn work_runs_beside_the_only_worker_and_a_panic_keeps_its_text() {
        let worker = std::thread::current().id();
        let apart = blocking("a test", || Ok(std::thread::current().id()));
        assert_ne!(apart.await.unwrap(), worker);
        let e = blocking::<()>("a test", || panic!("Alice")).await.unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Internal);
        assert!(
            e.to_string().contains("a test ended by a panic") && !e.to_string().contains("Alice"),
            "{e}"
        );
    }

    /// Tests that dropped work stops on every pool thread that takes part in it. Without
    /// cancellation, the work would run forever.
    #[tokio::test(flavor = "current_thread")]
    async fn dropped_work_ends_on_all_threads() {
        for threads in [1, 2, 3] {
            let (begun, begins) = channel();
            let (ended, ends) = channel();
            let endless = move |_| {
                begun.send(()).unwrap();
                while check_cancelled().is_ok() {
                    std::thread::yield_now();
                }
            };
            let work = move || {
                Pool::new(threads).install(|| map(threads, endless));
                ended.send(check_cancelled().unwrap_err().kind()).unwrap();
                Ok(())
            };
            let working = blocking("a test", work);
            begins.recv().unwrap();
            drop(working);
            assert_eq!(ends.recv().unwrap(), ErrorKind::Interrupted, "{threads} threads");
        }
    }

    /// Tests that a pool thread that switches to other work uses the waiter of that work, and not
    /// the waiter of its earlier work.
    #[tokio::test(flavor = "current_thread")]
    async fn work_that_is_waited_for_is_not_cancelled_with_other_work() {
        let pool = Pool::new(2);
        let (begun, begins) = channel();
        let own = pool.clone();
        let endless = blocking("a test", move || {
            begun.send(()).unwrap();
            own.install(|| while check_cancelled().is_ok() {});
            Ok(())
        });
        begins.recv().unwrap();
        drop(endless);
        let found = pool.compute("a test", || {
            map(64, |_| check_cancelled()).into_iter().collect::<Result<Vec<()>>>()
        });
        assert!(found.await.is_ok());
        assert!(check_cancelled().is_ok());
    }
}
