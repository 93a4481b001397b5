//! Chooses where the first scan, the write and the recount of a release run. The write includes the
//! second scan.
//!
//! Each of the three first asks the [`Executor`] of the session. The executor runs the work on
//! other machines or declines it. Declined work is done on this machine by the stage itself. A new
//! executor needs a folder and a line in [`EXECUTORS`]. If it writes on this machine, it calls
//! `write_rows`, as the stage itself does.
//!
//! An executor does not trust its machines. [`Executor::write`] returns files only if they have as
//! many rows as the classes, and `Recounting::check_order` checks the order of rows that other
//! machines have sorted. The recount checks everything else.

mod here;
mod interface;
#[cfg(feature = "cluster")]
mod workers;

pub(super) use interface::{Done, Executor, ToWrite, Wrote};

use crate::base::error::Result;
use crate::release::observe::Observer;
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

/// Enables the executors of this build for sessions of this configuration.
pub(crate) fn enable_executors(config: &mut SessionConfig) {
    EXECUTORS.iter().for_each(|kind| (kind.enable)(config));
}

/// Makes the executors of this configuration report failing machines to an observer.
pub(crate) fn observe_executors(config: &mut SessionConfig, observer: &Arc<dyn Observer>) {
    EXECUTORS
        .iter()
        .for_each(|kind| (kind.observe)(config, Arc::clone(observer)));
}

/// Returns the executor that the settings of a session name, or else this machine.
pub(super) fn executor(state: &SessionState) -> Result<Box<dyn Executor>> {
    for kind in EXECUTORS {
        if let Some(executor) = (kind.of)(state)? {
            return Ok(executor);
        }
    }
    Ok(Box::new(Here))
}

/// Returns true if the settings of a session name no other executor than this machine.
pub(super) fn is_only_here(state: &SessionState) -> Result<bool> {
    for kind in EXECUTORS {
        if (kind.of)(state)?.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}
