//! Where the two scans, the write and the recount of a release run.
//!
//! Each stage asks the [`Executor`] of its session first. An executor computes elsewhere what it
//! can, and declines the rest, which the stage then does on this machine. A new executor is a
//! folder and a line in [`EXECUTORS`].
//!
//! An executor is not trusted: `write` accepts only files with the rows that the classes have, and
//! the recount proves the order of rows that others have put in order.

mod here;
mod interface;
#[cfg(feature = "cluster")]
mod workers;

pub(super) use interface::{Done, Executor, ToWrite, Wrote};

use crate::error::Result;
use crate::observe::Observer;
use datafusion::execution::SessionState;
use datafusion::prelude::SessionConfig;
use here::Here;
use interface::ExecutorKind;
use std::sync::Arc;

/// The executors of this build that are tried before this machine.
const EXECUTORS: &[ExecutorKind] = &[
    #[cfg(feature = "cluster")]
    workers::KIND,
];

/// Makes it possible for sessions of this configuration to use the executors of this build.
pub(crate) fn enable_executors(config: &mut SessionConfig) {
    EXECUTORS.iter().for_each(|kind| (kind.enable)(config));
}

/// Makes the executors of this configuration report their trouble to an observer.
pub(crate) fn observe_executors(config: &mut SessionConfig, observer: &Arc<dyn Observer>) {
    EXECUTORS
        .iter()
        .for_each(|kind| (kind.observe)(config, Arc::clone(observer)));
}

/// Returns the executor of a session: the one that its settings name, or else this machine.
pub(super) fn executor(state: &SessionState) -> Result<Box<dyn Executor>> {
    for kind in EXECUTORS {
        if let Some(executor) = (kind.of)(state)? {
            return Ok(executor);
        }
    }
    Ok(Box::new(Here))
}
