//! Promises about single rows, which the second scan enforces. Each promise is one file and one
//! line in [`ROW_PROMISES`].

mod interface;
mod personal;

pub(super) use interface::RowPromise;

use crate::base::error::Result;
use crate::release::job::Job;
use interface::PrepareRows;

/// The promises about single rows. A job has at most one of them.
const ROW_PROMISES: &[PrepareRows] = &[personal::prepare];

/// Prepares the job's promise about single rows. Returns `None` if the job has no such promise.
pub(super) async fn row_promise(job: &Job) -> Result<Option<Box<dyn RowPromise>>> {
    for prepare in ROW_PROMISES {
        if let Some(promise) = prepare(job).await? {
            return Ok(Some(promise));
        }
    }
    Ok(None)
}
