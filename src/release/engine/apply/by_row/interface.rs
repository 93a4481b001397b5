//! The interface of a promise about single rows.

use crate::base::error::Result;
use crate::data::recode::RowOutcome;
use crate::release::job::Job;
use datafusion::physical_plan::ExecutionPlan;
use futures::future::BoxFuture;
use std::sync::Arc;

/// A promise about single rows, prepared for the second scan.
pub(in crate::release::engine::apply) trait RowPromise: Send + Sync {
    /// Returns a plan that enforces the promise on the rows of `plan`, which are ordered by class.
    /// The returned plan drops the column of limits.
    fn kept(&self, plan: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan>;

    /// Returns the outcome of the promise, or `None` if not all rows have been read yet.
    fn outcome(&self) -> Option<RowOutcome>;
}

/// Prepares a promise about single rows. Returns `None` if the job does not have the promise.
pub(super) type PrepareRows = fn(&Job) -> BoxFuture<'_, Result<Option<Box<dyn RowPromise>>>>;
