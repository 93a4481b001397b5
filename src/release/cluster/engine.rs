//! The interface to systems that execute plans on other machines.

use super::answer::told;
use super::greet::Member;
use crate::base::error::{Error, Result};
use arrow::record_batch::RecordBatch;
use datafusion::error::Result as DfResult;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// The maximum time without progress. After this time, the driver gives up a task.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

/// A system that executes plans on other machines, which are called its members. If a method
/// returns the error `None`, a machine was lost, and the driver requests the lost rows again.
pub(super) trait Engine: Send + Sync {
    /// Returns the members that respond. Fails with `ErrorKind::Usage` if a member has another
    /// version, and with `ErrorKind::Unavailable` if no member responds.
    fn greet(&self) -> BoxFuture<'_, Result<Vec<Member>>>;

    /// Returns those of `members` that still respond. Fails like [`Engine::greet`].
    fn living<'a>(&'a self, members: &'a [Member]) -> BoxFuture<'a, Result<Vec<Member>>>;

    /// Returns the number of parts into which the rows of a shuffle among these members are
    /// divided.
    fn parts(&self, members: &[Member]) -> usize;

    /// Executes a single-partition plan on a member, and returns the rows of the plan. `attempts`
    /// is the number of earlier attempts.
    fn rows<'a>(
        &'a self,
        member: &'a Member,
        plan: Arc<dyn ExecutionPlan>,
        attempts: usize,
    ) -> BoxFuture<'a, Result<MemberRows, Option<Error>>>;

    /// Returns the rows of a shuffle, in any order. `attempts` is the number of earlier attempts.
    fn shuffle<'a>(
        &'a self,
        members: &'a [Member],
        shuffle: Shuffle<'a>,
        attempts: usize,
    ) -> BoxFuture<'a, Result<MemberRows, Option<Error>>>;
}

/// A shuffle: rows are produced, divided into parts by a hash, and processed part by part.
pub(crate) struct Shuffle<'a> {
    /// The plans that produce the rows. All have the same schema.
    pub(crate) makes: Vec<Arc<dyn ExecutionPlan>>,
    /// The expression whose hash assigns a row to a part.
    pub(crate) by: Arc<dyn PhysicalExpr>,
    /// The number of parts.
    pub(crate) parts: usize,
    /// Returns the plan that processes the rows of a part. With `Some`, the plan is for the part
    /// with this index; with `None`, it is for any part.
    pub(crate) take: &'a Take<'a>,
}

/// A function from a part's index and a source of its rows to a single-partition plan over these
/// rows. If the index is `None`, the plan can process any part.
pub(crate) type Take<'a> =
    dyn Fn(Option<usize>, Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> + Send + Sync + 'a;

/// The rows that members send. Dropping this value cancels their computation.
pub(crate) struct MemberRows {
    rows: BoxStream<'static, DfResult<RecordBatch>>,
    _known: Box<dyn Any + Send>,
}

impl MemberRows {
    /// Wraps a stream of rows. `known` is dropped together with the stream.
    pub(super) fn new(rows: BoxStream<'static, DfResult<RecordBatch>>, known: impl Any + Send) -> Self {
        Self {
            rows,
            _known: Box::new(known),
        }
    }

    /// Returns the next batch; `None` after the last batch. The error `None` means that a machine
    /// was lost.
    pub(crate) async fn next(&mut self) -> Result<Option<RecordBatch>, Option<Error>> {
        match timeout(PATIENCE, self.rows.next()).await {
            Ok(Some(Ok(batch))) => Ok(Some(batch)),
            Ok(Some(Err(e))) => Err(told(&e)),
            Ok(None) => Ok(None),
            Err(_) => Err(None),
        }
    }
}
