//! The engine of Ballista: jobs that a scheduler hands out to executors (feature `ballista`).
//!
//! The scheduler and the executors are this command, with the services of Ballista 55 in them:
//! `anonsql cluster scheduler` and `anonsql cluster executor`. Ballista's own recovery from a lost
//! executor cannot be trusted with a release: in a trial of 8 kills, 5 jobs succeeded with up to
//! four times their rows. Its recovery is therefore turned off: the scheduler never considers an
//! executor lost, and a job fails with the first failure of one of its tasks. The driver watches
//! each job ([`jobs`]), cancels a job that makes no progress, and asks for the missing rows in
//! another job. Executors fetch their tasks. If the scheduler sent them instead, the slots of a
//! lost executor's tasks would never be free again.
//!
//! A shuffle is one job. Its first stage makes the rows and deals them out. Its second stage
//! executes the plan of a part over each partition ([`each`](super::each)). The scheduler does not
//! read operators of this crate, and so does not need the secret of a hash ([`codec`]).
//!
//! Ballista cannot show certificates, so all its processes are on one machine, on loopback
//! addresses only. Rows that are dealt out are in files while a job runs. The files are removed
//! with the job. The files of a killed executor are removed by the next executor ([`work`]).

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
pub(crate) use processes::{ExecutorProcess, execute, schedule};

/// Returns the engine behind a scheduler.
#[cfg(feature = "ballista")]
pub(super) fn engine(state: &SessionState, scheduler: &Url, codec: Codec) -> Result<Arc<dyn Engine>> {
    Ok(Arc::new(jobs::Ballista::of(state, scheduler, codec)?))
}

/// Returns the error for a build without Ballista.
#[cfg(not(feature = "ballista"))]
pub(super) fn engine(_: &SessionState, scheduler: &Url, _: Codec) -> Result<Arc<dyn Engine>> {
    Err(crate::error::Error::usage(format!(
        "{scheduler} is a scheduler of Ballista, and this anonsql was built without it; build it with --features ballista, or use \
         workers: anonsql worker"
    )))
}
