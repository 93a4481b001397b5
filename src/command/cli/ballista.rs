//! Implements the commands `anonsql cluster scheduler` and `anonsql cluster executor`.

use super::args::ClusterProcess;
use crate::base::error::Result;

/// Runs the scheduler or an executor of a Ballista cluster until the process ends.
#[cfg(feature = "ballista")]
pub fn run(part: &ClusterProcess) -> Result<()> {
    use super::args::ProcessLimits;
    use super::serving::{ready, serve};
    use crate::release::cluster::{ExecutorProcess, execute, schedule};

    match part {
        ClusterProcess::Scheduler { listen } => {
            let listen = listen.clone();
            serve(&ProcessLimits::default(), "the scheduler", |_| async move {
                schedule(&listen, ready).await
            })
        }
        ClusterProcess::Executor(executor) => {
            let (scheduler, listen) = (executor.scheduler.clone(), executor.listen.clone());
            let folder = executor.takes.temp_dir.clone().unwrap_or_else(std::env::temp_dir);
            serve(&executor.takes, "the executor", |session| async move {
                let executor = ExecutorProcess {
                    scheduler: &scheduler,
                    listen: &listen,
                    folder: &folder,
                };
                execute(&session, executor, ready).await
            })
        }
    }
}

/// Returns the error for a build without Ballista.
#[cfg(not(feature = "ballista"))]
pub fn run(_: &ClusterProcess) -> Result<()> {
    Err(crate::base::error::Error::usage(
        "this anonsql was built without Ballista; build it with --features ballista, or use workers: anonsql worker",
    ))
}
