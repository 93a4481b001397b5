//! The engine of Ballista: jobs that a scheduler hands out to executors (feature `ballista`).
//!
//! Scheduler and executors are this command (`anonsql cluster scheduler`,
//! `anonsql cluster executor`), with the services of Ballista 55 in them. What Ballista does on its
//! own when an executor is lost cannot be trusted with a release: in a trial of 8 kills, 5 jobs
//! succeeded with up to four times their rows. So it is told to do nothing: the scheduler takes no
//! executor for lost, and the first failure of a task for that of its job. The driver looks after
//! each job ([`jobs`]), cancels what stands still, and asks for what is missing in another job.
//! Executors fetch their tasks. Where a scheduler sends them, the slots of a lost executor's tasks
//! are never free again.
//!
//! A shuffle is one job. Its first stage makes the rows and deals them out, its second executes the
//! plan of a part over each partition ([`each`](super::each)). The scheduler reads no operator of
//! ours, and so needs no secret of a hash ([`codec`]).
//!
//! Ballista cannot show certificates, so all of it is on one machine: loopback addresses only. Rows
//! that are dealt out are in files while a job runs. They are removed with the job, and those of a
//! killed executor by the next one ([`work`]).

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
use crate::error::Result;
use datafusion::execution::SessionState;
use std::sync::Arc;
use url::Url;

#[cfg(feature = "ballista")]
pub(crate) use processes::{Executor, execute, schedule};

/// Returns the engine behind a scheduler.
#[cfg(feature = "ballista")]
pub(super) fn engine(state: &SessionState, scheduler: &Url, codec: Codec) -> Result<Arc<dyn Engine>> {
    Ok(Arc::new(jobs::Ballista::of(state, scheduler, codec)?))
}

/// Says that this build has no Ballista.
#[cfg(not(feature = "ballista"))]
pub(super) fn engine(_: &SessionState, scheduler: &Url, _: Codec) -> Result<Arc<dyn Engine>> {
    Err(crate::error::Error::usage(format!(
        "{scheduler} is a scheduler of Ballista, and this anonsql was built without it; build it with --features ballista, or use \
         workers: anonsql worker"
    )))
}
