//! The engine of Ballista: a scheduler that distributes jobs to executors (feature `ballista`).
//!
//! The commands `anonsql cluster scheduler` and `anonsql cluster executor` contain the services of
//! Ballista 55. Ballista's own recovery from a lost executor is not safe for a release: in a trial
//! of 8 kills, 5 jobs succeeded with up to four times their rows. Its recovery is therefore turned
//! off: the scheduler never considers an executor lost, and a job fails with the first failure of
//! one of its tasks. The driver watches each job ([`jobs`]), cancels a job that makes no progress,
//! and requests the missing rows in another job. Executors fetch their tasks from the scheduler. If
//! the scheduler sent tasks instead, the task slots of a lost executor would never become free.
//!
//! A shuffle is one job. Its first stage produces the rows and partitions them. Its second stage
//! executes a plan over each partition ([`each`](super::each)). The scheduler does not decode
//! operators of this crate, and therefore does not need the secret of a hash ([`codec`]).
//!
//! Ballista cannot present certificates, so all its processes run on one machine and use loopback
//! addresses only. The rows of a shuffle are written to files, which exist until the job is
//! removed. If an executor is killed, the next executor removes its files ([`work`]).

#[cfg(feature = "ballista")]
mod codec;
#[cfg(feature = "ballista")]
mod jobs;
#[cfg(feature = "ballista")]
mod processes;
#[cfg(feature = "ballista")]
mod unopened;
#[cfg(feature = "ballista")]
mod work;

use super::codec::Codec;
use super::engine::Engine;
use crate::base::error::Result;
use datafusion::execution::SessionState;
use std::sync::Arc;
use url::Url;

#[cfg(feature = "ballista")]
pub(crate) use processes::{ExecutorProcess, execute, schedule};

/// Returns the engine that submits jobs to a scheduler.
#[cfg(feature = "ballista")]
pub(super) fn engine(state: &SessionState, scheduler: &Url, codec: Codec) -> Result<Arc<dyn Engine>> {
    Ok(Arc::new(jobs::Ballista::of(state, scheduler, codec)?))
}

/// Fails, because this build does not contain Ballista.
#[cfg(not(feature = "ballista"))]
pub(super) fn engine(_: &SessionState, scheduler: &Url, _: Codec) -> Result<Arc<dyn Engine>> {
    Err(crate::base::error::Error::usage(format!(
        "{scheduler} is a Ballista scheduler, but this anonsql was built without Ballista; build it with --features \
        ballista, or use workers: anonsql worker"
    )))
}
