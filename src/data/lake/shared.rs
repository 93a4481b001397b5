//! The state that all parts of a run share.

use super::names::Layout;
use super::names::RUN;
use super::prefix::Prefix;
use super::record::Record;
use crate::base::error::Result;
use datafusion::object_store::path::Path;
use futures::TryStreamExt;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

/// The known outcome of a run's commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunOutcome {
    /// The run has not tried to commit, or the commit failed. No manifest names its files.
    Open,
    /// The commit succeeded: the manifest or the log names the files of the run.
    Committed,
    /// It is unknown whether the commit succeeded.
    Unknown,
}

/// The state that all parts of a run share.
#[derive(Debug)]
pub(super) struct SharedRun {
    pub(super) prefix: Prefix,
    /// The prefix below which the files of the run are stored before the commit. It differs from
    /// `prefix` only for a local folder.
    pub(super) at: Prefix,
    /// The locked folder of the run; `None` in an object store.
    pub(super) record: Option<Record>,
    pub(super) run: String,
    pub(super) layout: Layout,
    /// The paths of all objects that the run has put, or may have put.
    pub(super) written: Mutex<BTreeSet<Path>>,
    pub(super) outcome: Mutex<RunOutcome>,
    /// Whether workers may also write into the folder of the run.
    pub(super) is_lent: AtomicBool,
}

impl SharedRun {
    /// Returns the paths of all objects in the folder of the run.
    pub(super) async fn landed(&self) -> Result<Vec<Path>> {
        let folder = self.prefix.inside(&format!("{RUN}{}", self.run));
        let listed = self.prefix.store().list(Some(&folder)).map_ok(|meta| meta.location);
        let listed: Result<Vec<Path>, _> = listed.try_collect().await;
        listed.map_err(|e| self.prefix.failed("cannot list", &e))
    }
}
