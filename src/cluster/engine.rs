//! The interface to the systems that execute plans on other machines.

use super::answer::told;
use super::greet::Member;
use crate::error::{Error, Result};
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

/// How long a task may make no progress before the driver gives it up.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

/// A system that executes plans on other machines. The error `None` means that a machine was lost,
/// so that its part is requested again.
pub(super) trait Engine: Send + Sync {
    /// Returns the members that answer. Fails with `ErrorKind::Usage` if a member has another
    /// version, and with `ErrorKind::Unavailable` if no member answers.
    fn greet(&self) -> BoxFuture<'_, Result<Vec<Member>>>;

    /// Returns those of these members that still answer. Fails like [`Engine::greet`].
    fn living<'a>(&'a self, members: &'a [Member]) -> BoxFuture<'a, Result<Vec<Member>>>;

    /// Returns the number of parts into which rows are dealt out for these members.
    fn parts(&self, members: &[Member]) -> usize;

    /// Returns the rows of a plan of one partition, which a member executes. `attempts` is the
    /// number of earlier attempts.
    fn rows<'a>(
        &'a self,
        member: &'a Member,
        plan: Arc<dyn ExecutionPlan>,
        attempts: usize,
    ) -> BoxFuture<'a, Result<Answers, Option<Error>>>;

    /// Returns the rows of a shuffle, in any order.
    fn shuffle<'a>(
        &'a self,
        members: &'a [Member],
        shuffle: Shuffle<'a>,
        attempts: usize,
    ) -> BoxFuture<'a, Result<Answers, Option<Error>>>;
}

/// Rows that are made, dealt out by a hash, and processed by part.
pub(crate) struct Shuffle<'a> {
    /// The plans that make the rows, with the same schema.
    pub(crate) makes: Vec<Arc<dyn ExecutionPlan>>,
    /// The expression whose hash decides the part of a row.
    pub(crate) by: Arc<dyn PhysicalExpr>,
    /// The number of parts into which the rows are dealt out.
    pub(crate) parts: usize,
    /// The plan over the rows of one part, or over the rows of each part if no number is given.
    pub(crate) take: &'a Take<'a>,
}

/// Returns the plan, of one partition, over a source of the rows of a part. Without a number it is
/// the plan for any part.
pub(crate) type Take<'a> =
    dyn Fn(Option<usize>, Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> + Send + Sync + 'a;

/// The rows with which members answer. Dropping this value ends their computation.
pub(crate) struct Answers {
    rows: BoxStream<'static, DfResult<RecordBatch>>,
    _known: Box<dyn Any + Send>,
}

impl Answers {
    /// Returns answers that last for as long as `known` exists.
    pub(super) fn new(rows: BoxStream<'static, DfResult<RecordBatch>>, known: impl Any + Send) -> Self {
        Self {
            rows,
            _known: Box::new(known),
        }
    }

    /// Returns the next rows; `None` after the last. The error `None` means that a machine was
    /// lost.
    pub(crate) async fn next(&mut self) -> Result<Option<RecordBatch>, Option<Error>> {
        match timeout(PATIENCE, self.rows.next()).await {
            Ok(Some(Ok(batch))) => Ok(Some(batch)),
            Ok(Some(Err(e))) => Err(told(&e)),
            Ok(None) => Ok(None),
            Err(_) => Err(None),
        }
    }
}
