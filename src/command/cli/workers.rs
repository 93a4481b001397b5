//! The threads on which statements run.

use crate::base::error::{Error, Result};
use crate::base::pool::Waiter;
use parking_lot::Mutex;
use std::num::NonZeroUsize;
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;

/// The stack of a thread in bytes, as large as that of a process's first thread. In a build without
/// optimization, the nested futures of a statement with a report need more than the usual 2 MB.
const STACK: usize = 8 << 20;

/// The runtime on which statements run. A cancelled task stops at its next await point, but the
/// inner loop of a join may compute for minutes before it reaches one. In this case, the runtime is
/// abandoned, and the next statement gets a new one.
pub struct StatementRuntime {
    threads: NonZeroUsize,
    /// The runtime, and the flag that tells whether its work is still awaited.
    running: Mutex<(Runtime, Waiter)>,
}

impl StatementRuntime {
    /// Starts a runtime with the given number of threads. The session's pool has the same number of
    /// threads, and computes while the threads of the runtime wait.
    pub fn start(threads: NonZeroUsize) -> Result<Self> {
        Ok(Self {
            threads,
            running: Mutex::new(running(threads)?),
        })
    }

    /// Starts a task on the current runtime.
    pub fn spawn<T: Send + 'static>(&self, task: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
        self.running.lock().0.spawn(task)
    }

    /// Returns a handle of the current runtime.
    pub fn handle(&self) -> Handle {
        self.running.lock().0.handle().clone()
    }

    /// Calls `work` within the context of the current runtime, so that it can start tasks.
    pub fn inside<T>(&self, work: impl FnOnce() -> T) -> T {
        let running = self.running.lock();
        let _inside = running.0.enter();
        work()
    }

    /// Abandons the current runtime: cancels its work, and lets each thread end after its current
    /// computation. Later tasks run on a new runtime.
    pub fn leave_behind(&self) -> Result<()> {
        let new = running(self.threads)?;
        let (runtime, waiter) = std::mem::replace(&mut *self.running.lock(), new);
        waiter.leave();
        runtime.shutdown_background();
        Ok(())
    }

    /// Ends the runtime. Waits at most `patience` for threads that are still computing.
    pub fn shutdown(self, patience: Duration) {
        self.running.into_inner().0.shutdown_timeout(patience);
    }
}

fn running(threads: NonZeroUsize) -> Result<(Runtime, Waiter)> {
    let waiter = Waiter::default();
    let of_threads = waiter.clone();
    let runtime = Builder::new_multi_thread()
        .worker_threads(threads.get())
        .thread_name("anonsql")
        .thread_stack_size(STACK)
        .on_thread_start(move || of_threads.clone().adopt())
        .enable_all()
        .build()
        .map_err(|e| Error::io("cannot start threads", e))?;
    Ok((runtime, waiter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn a_task_that_does_not_stop_is_left_behind() {
        let workers = StatementRuntime::start(NonZeroUsize::MIN).unwrap();
        let (begun, begins) = channel();
        let (end, ends) = channel::<()>();
        let stuck = workers.spawn(async move {
            begun.send(()).unwrap();
            // The test never sends anything, so this call returns when the sender is dropped.
            ends.recv().is_err()
        });
        begins.recv().unwrap();
        stuck.abort();
        workers.leave_behind().unwrap();
        let (answered, answers) = channel();
        workers.spawn(async move { answered.send(42).unwrap() });
        assert_eq!(answers.recv_timeout(Duration::from_secs(60)).unwrap(), 42);
        drop(end);
        workers.shutdown(Duration::from_secs(60));
    }
}
