//! The seam to what executes plans on other machines.

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

/// How long a task may move nothing before it is given up.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

/// What executes plans on other machines. An error that is `None` is a lost machine: what it had is
/// asked for again.
pub(super) trait Engine: Send + Sync {
    /// Returns the members that answer. Fails with `ErrorKind::Usage` if one is of another version,
    /// and with `ErrorKind::Unavailable` if none answers.
    fn greet(&self) -> BoxFuture<'_, Result<Vec<Member>>>;

    /// Returns those of these members that still answer. Fails as [`Engine::greet`] does.
    fn living<'a>(&'a self, members: &'a [Member]) -> BoxFuture<'a, Result<Vec<Member>>>;

    /// Returns into how many parts rows are dealt out for these members.
    fn parts(&self, members: &[Member]) -> usize;

    /// Returns the rows of a plan of one partition, which a member executes. `attempts` is how
    /// often it was tried before.
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

/// Rows that are made, dealt out by a hash, and taken.
pub(crate) struct Shuffle<'a> {
    /// The plans that make the rows, with the same schema.
    pub(crate) makes: Vec<Arc<dyn ExecutionPlan>>,
    /// What the hash is of.
    pub(crate) by: Arc<dyn PhysicalExpr>,
    /// Into how many parts the rows are dealt out.
    pub(crate) parts: usize,
    /// What is executed over the rows of a part, or over those of each part if no number is given.
    pub(crate) take: &'a Take<'a>,
}

/// Returns the plan, of one partition, over a source of the rows of a part; of any part if no
/// number is given.
pub(crate) type Take<'a> =
    dyn Fn(Option<usize>, Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> + Send + Sync + 'a;

/// The rows that members answer with. What they compute ends when this is dropped.
pub(crate) struct Answers {
    rows: BoxStream<'static, DfResult<RecordBatch>>,
    _known: Box<dyn Any + Send>,
}

impl Answers {
    /// Returns answers that come as long as `known` is kept.
    pub(super) fn new(rows: BoxStream<'static, DfResult<RecordBatch>>, known: impl Any + Send) -> Self {
        Self {
            rows,
            _known: Box::new(known),
        }
    }

    /// Returns the next rows; `None` after the last. An error that is `None` is a lost machine.
    pub(crate) async fn next(&mut self) -> Result<Option<RecordBatch>, Option<Error>> {
        match timeout(PATIENCE, self.rows.next()).await {
            Ok(Some(Ok(batch))) => Ok(Some(batch)),
            Ok(Some(Err(e))) => Err(told(&e)),
            Ok(None) => Ok(None),
            Err(_) => Err(None),
        }
    }
}
