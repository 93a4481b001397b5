//! The thread pool of a session.

use super::blocking::blocking;
use super::cancelled::{Waiter, waited_for};
use super::parallel::MANY;
use crate::base::error::Result;
use datafusion::prelude::SessionConfig;
use parking_lot::Mutex;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Arc, OnceLock};

/// A thread pool with as many threads as the session has `target_partitions`. The threads are
/// started with the first work, and stopped when the last clone of the pool is dropped. A pool of
/// one thread starts no thread, and the calling thread does the work.
#[derive(Debug, Clone)]
pub(crate) struct Pool {
    threads: usize,
    /// The running threads. The inner value is `None` if the system could not start them.
    started: Arc<OnceLock<Option<ThreadPool>>>,
}

impl Pool {
    /// Creates a pool of `threads` threads.
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            threads: threads.max(1),
            started: Arc::default(),
        }
    }

    /// Returns the pool of the session with this configuration. Returns a new pool if the
    /// configuration has no [`SessionPool`].
    pub(crate) fn of(config: &SessionConfig) -> Self {
        let threads = config.target_partitions();
        match config.get_extension::<SessionPool>() {
            Some(shared) => shared.sized(threads),
            None => Self::new(threads),
        }
    }

    /// Returns the number of threads of the pool.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    fn started(&self) -> Option<&ThreadPool> {
        let start = || {
            let builder = ThreadPoolBuilder::new().num_threads(self.threads);
            // If the threads cannot be started, the calling threads do the work.
            builder.thread_name(|i| format!("anonsql-{i}")).build().ok()
        };
        match self.threads {
            1 => None,
            _ => self.started.get_or_init(start).as_ref(),
        }
    }

    /// Runs work that divides itself among the threads of the pool, and waits for the result. See
    /// [`super`] for the rules for work on the pool.
    pub(crate) fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let Some(pool) = self.started() else {
            return work();
        };
        let (mut work, mut done) = (Some(work), None);
        install_in(pool, &mut || done = work.take().map(|work| work()));
        done.expect("the pool runs the work, or panics")
    }

    /// Runs work on `entries` entries, like [`Self::install`]. Work on fewer than [`MANY`] entries
    /// runs on the calling thread.
    pub(crate) fn install_for<T: Send>(&self, entries: usize, work: impl FnOnce() -> T + Send) -> T {
        match entries < MANY {
            true => work(),
            false => self.install(work),
        }
    }

    /// Runs work like [`Self::install`], but returns a future, so that a task of a runtime does not
    /// block.
    pub(crate) fn compute<T: Send + 'static>(
        &self,
        what: &'static str,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T>> + Send + 'static {
        let pool = self.clone();
        blocking(what, move || pool.install(work))
    }
}

/// Runs work on a pool. It is not generic, because rayon's functions would be compiled for each
/// type of work.
fn install_in(pool: &ThreadPool, work: &mut (dyn FnMut() + Send)) {
    let waiter = Waiter::current();
    pool.install(|| waited_for(waiter, work));
}

/// The pool that all statements of a session share. It is stored in the configuration of the
/// session.
#[derive(Debug)]
pub(crate) struct SessionPool(Mutex<Pool>);

impl SessionPool {
    /// Adds a pool to a session's configuration, unless it already has one.
    pub(crate) fn set(config: &mut SessionConfig) {
        if config.get_extension::<Self>().is_none() {
            let pool = Pool::new(config.target_partitions());
            config.set_extension(Arc::new(Self(Mutex::new(pool))));
        }
    }

    /// Returns the pool with this number of threads. If the number has changed, for example by `SET
    /// datafusion.execution.target_partitions`, creates a new pool. The old pool finishes its work.
    fn sized(&self, threads: usize) -> Pool {
        let mut pool = self.0.lock();
        if pool.threads != threads.max(1) {
            *pool = Pool::new(threads);
        }
        pool.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::super::parallel::{map, threads};
    use super::*;
    use std::collections::BTreeSet;

    /// Returns the names of the pool's threads.
    fn names(pool: &Pool) -> BTreeSet<String> {
        let name = || std::thread::current().name().unwrap_or_default().to_string();
        pool.started().unwrap().broadcast(|_| name()).into_iter().collect()
    }

    #[test]
    fn sessions_have_pools_of_their_own_sizes() {
        let configs = [2, 3].map(|threads| {
            let mut config = SessionConfig::new().with_target_partitions(threads);
            SessionPool::set(&mut config);
            config
        });
        let [two, three] = configs.each_ref().map(Pool::of);
        assert_eq!((two.threads(), three.threads()), (2, 3));
        assert_eq!(names(&two), ["anonsql-0", "anonsql-1"].map(Into::into).into());
        assert_eq!(names(&three).len(), 3);
        assert_eq!((two.install(threads), three.install(threads)), (2, 3));
        assert!(
            Arc::ptr_eq(&two.started, &Pool::of(&configs[0]).started),
            "it is shared"
        );

        let one = configs[0].clone().with_target_partitions(1);
        assert_eq!(Pool::of(&one).install(threads), 1);
        let again = Pool::of(&configs[0]);
        assert!(again.threads() == 2 && !Arc::ptr_eq(&two.started, &again.started));
        assert_eq!(two.install(|| map(9, |i| i)).len(), 9, "the old one works on");
    }

    #[test]
    fn one_thread_is_that_of_whoever_asks() {
        let own = std::thread::current().id();
        let pool = Pool::new(1);
        assert_eq!(pool.install(|| std::thread::current().id()), own);
        assert!(pool.started.get().is_none());
    }
}
