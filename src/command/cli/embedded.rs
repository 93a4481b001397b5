//! A session inside another program, such as a Python interpreter. Its limits, threads and
//! cancellation work as in the `anonsql` command, but it does not handle signals, and prints no
//! results and no messages.

use super::ending::CLEANING;
use super::environment::{Limits, session_with};
use super::memory::Guard;
use super::panic;
use super::runner::{interruption, outcome};
use super::workers::StatementRuntime;
use crate::base::error::{Error, ErrorKind, Result};
use crate::language::session::{AnonContext, enable_path_tables};
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::task::JoinHandle;

/// The interval at which the caller is asked whether a statement should continue.
const TICK: Duration = Duration::from_millis(100);
/// The time that a cancelled statement has to clean up.
const PATIENCE: Duration = Duration::from_secs(1);

/// A session, and the threads that run its statements.
pub struct Embedded {
    context: AnonContext,
    workers: Option<StatementRuntime>,
    memory: Option<usize>,
}

impl Embedded {
    /// Starts a session with the given limits. From then on, panics in this process print nothing,
    /// because their messages may quote data.
    pub fn start(limits: &Limits) -> Result<Self> {
        panic::keep_quiet();
        let workers = StatementRuntime::start(limits.threads())?;
        // Some components of DataFusion start tasks when they are created.
        let session = workers.inside(|| session_with(limits))?;
        Ok(Self {
            context: workers.inside(|| AnonContext::new(enable_path_tables(session))),
            workers: Some(workers),
            memory: limits.memory,
        })
    }

    /// Returns the session.
    pub fn context(&self) -> &AnonContext {
        &self.context
    }

    /// Runs a job on the threads of the session, and waits for it on the calling thread. Calls
    /// `goes_on` ten times per second, and cancels the job if it returns false. Fails with
    /// `ErrorKind::Interrupted` if the job is cancelled before it is done. If the process exceeds
    /// its memory limit, the job is cancelled as well, and fails with `ErrorKind::Resources`.
    pub fn run<T: Send + 'static>(
        &self,
        job: impl Future<Output = Result<T>> + Send + 'static,
        mut goes_on: impl FnMut() -> bool,
    ) -> Result<T> {
        let workers = self.workers.as_ref().ok_or_else(interruption)?;
        let supervisor = Builder::new_current_thread().enable_all().build();
        let supervisor = supervisor.map_err(|e| Error::io("cannot wait for a statement", e))?;
        let guard = Guard::above_now(self.memory);
        let mut task = workers.spawn(job);
        let done = supervisor.block_on(async {
            let mut exceeded = std::pin::pin!(guard.exceeded());
            let excess = loop {
                tokio::select! {
                    biased;
                    done = &mut task => return outcome(done),
                    excess = &mut exceeded => break Some(excess),
                    () = tokio::time::sleep(TICK) => if !goes_on() { break None },
                }
            };
            let done = cancelled(workers, task).await;
            done.map_err(|e| match excess {
                Some(excess) if e.kind() == ErrorKind::Interrupted => excess,
                _ => e,
            })
        });
        // If the statement failed, this waits until the files that it wrote to an object store are
        // deleted.
        supervisor.block_on(self.context.keeper().cleaned_up(CLEANING));
        done
    }
}

/// Cancels a job. A computing thread stops only at its next await point. If it does not reach one
/// within [`PATIENCE`], the thread is abandoned.
async fn cancelled<T>(workers: &StatementRuntime, task: JoinHandle<Result<T>>) -> Result<T> {
    task.abort();
    tokio::select! {
        done = task => outcome(done),
        () = tokio::time::sleep(PATIENCE) => Err(workers.leave_behind().err().unwrap_or_else(interruption)),
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        if let Some(workers) = self.workers.take() {
            workers.shutdown(Duration::ZERO);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroUsize;

    fn embedded() -> Embedded {
        let limits = Limits {
            threads: Some(NonZeroUsize::MIN),
            memory: None,
            temporary: None,
        };
        Embedded::start(&limits).unwrap()
    }

    #[test]
    fn a_job_ends_once_the_caller_wants_no_more() {
        let embedded = embedded();
        assert_eq!(embedded.run(async { Ok(42) }, || true).unwrap(), 42);
        let mut asked = 0;
        let goes_on = || {
            asked += 1;
            asked < 3
        };
        let error = embedded.run(std::future::pending::<Result<()>>(), goes_on).unwrap_err();
        assert_eq!((error.kind(), asked), (ErrorKind::Interrupted, 3));
        let error = embedded.run::<()>(async { panic!("Alice") }, || true).unwrap_err();
        assert!(error.kind() == ErrorKind::Internal && !error.message().contains("Alice"));
        let context = embedded.context().clone();
        let rows = embedded.run(async move { context.sql("SELECT 1").await }, || true);
        assert_eq!(rows.unwrap()[0].num_rows(), 1);
    }
}
