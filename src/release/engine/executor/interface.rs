//! The interface of an executor, which runs parts of a release on this machine or on others.

use crate::base::error::Result;
use crate::data::folder::Footer;
use crate::release::engine::apply::Rewrite;
use crate::release::engine::decide::Decision;
use crate::release::engine::write::{FileColumns, Spool, Staging, Writers, Written, WrittenFile};
use crate::release::job::{Job, Roles, Target};
use crate::release::observe::Observer;
use crate::release::recount::Elsewhere;
use datafusion::execution::{SendableRecordBatchStream, SessionState};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::future::BoxFuture;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// A kind of executor other than this machine.
pub(super) struct ExecutorKind {
    /// Enables the executor for sessions of this configuration.
    pub(super) enable: fn(&mut SessionConfig),
    /// Makes the executor report failing machines to an observer.
    pub(super) observe: fn(&mut SessionConfig, Arc<dyn Observer>),
    /// Returns the executor if the session is set to use it.
    pub(super) of: Connect,
}

/// Connects a session to the executor. Returns `None` if the session is not set to use the
/// executor.
type Connect = fn(&SessionState) -> Result<Option<Box<dyn Executor>>>;

/// Runs the plans of a release, on this machine or on others.
pub(in crate::release::engine) trait Executor: Send + Sync {
    /// Counts the rows of a scan: returns its distinct rows with their counts, in as many streams
    /// as the session has partitions. Returns `None` if the scan has to run on this machine.
    fn count<'a>(
        &'a self,
        plan: &'a Arc<dyn ExecutionPlan>,
        observer: Option<&'a dyn Observer>,
    ) -> BoxFuture<'a, Result<Option<Vec<SendableRecordBatchStream>>>>;

    /// Writes the files of a release to its stage.
    fn write<'a>(&'a self, release: ToWrite<'a>) -> BoxFuture<'a, Result<Wrote>>;

    /// Prepares the recount of a release. Fails if other machines have sorted the rows, and none of
    /// these machines is left to check the order.
    fn recount<'a>(&'a self, written: &'a Written) -> BoxFuture<'a, Result<Arc<dyn Recounting>>>;
}

/// An executor's part in the recount of a release.
pub(in crate::release::engine) trait Recounting: Send + Sync {
    /// Returns the optimizer rules that make the executor compute its part of the recount's
    /// queries. The executor adds the rows that it reads to `progress`.
    fn elsewhere(self: Arc<Self>, progress: &Arc<AtomicU64>) -> Elsewhere;

    /// Checks the order of the rows of the written files, if the executor has sorted the rows.
    /// `table` is the name of the files in the recounting session. Fails with
    /// `ErrorKind::Verification` if the rows are not in the order of the released values.
    fn check_order<'a>(
        &'a self,
        session: &'a SessionContext,
        table: &'a str,
        roles: &'a Roles,
        written: &'a Written,
    ) -> BoxFuture<'a, Result<()>>;
}

/// The inputs of the write of a release.
pub(in crate::release::engine) struct ToWrite<'a> {
    pub(in crate::release::engine) job: &'a Job,
    pub(in crate::release::engine) decision: &'a Decision,
    pub(in crate::release::engine) rewrite: &'a Rewrite,
    pub(in crate::release::engine) target: &'a Target,
    pub(in crate::release::engine) staging: &'a Staging,
    pub(in crate::release::engine) columns: &'a FileColumns,
    pub(in crate::release::engine) footer: &'a Footer,
    /// The rows that are recounted in addition to the files; `None` if the files contain everything
    /// that the recount needs.
    pub(in crate::release::engine) spool: Option<Spool>,
    /// The number of rows written so far.
    pub(in crate::release::engine) progress: Arc<AtomicU64>,
    pub(in crate::release::engine) observer: &'a dyn Observer,
}

/// The result of asking an executor to write a release.
pub(in crate::release::engine) enum Wrote {
    /// The executor wrote all files.
    Done(Done),
    /// The executor wrote nothing. The release is to be written on this machine, with the unchanged
    /// spool.
    Declined(Option<Spool>),
}

/// The written files of a release, and the rows that are recounted in addition to them.
pub(in crate::release::engine) struct Done {
    pub(in crate::release::engine) files: Vec<WrittenFile>,
    /// The rows that are recounted in addition to the files.
    pub(in crate::release::engine) spool: Option<Spool>,
    /// The machines that wrote the files: this machine or others.
    pub(in crate::release::engine) writers: Writers,
}
