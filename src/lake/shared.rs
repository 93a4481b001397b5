//! The state that the parts of a run share.

use super::names::Layout;
use super::names::RUN;
use super::prefix::Prefix;
use super::record::Record;
use crate::error::Result;
use datafusion::object_store::path::Path;
use futures::TryStreamExt;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

/// The outcome of the commit of a run, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The commit has not been tried, or it failed: no manifest names the files of the run.
    Open,
    /// The manifest of the prefix names the files of the run.
    Committed,
    /// The store did not say whether it accepted the manifest.
    Unknown,
}

/// The state that the parts of a run share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) prefix: Prefix,
    /// The prefix of the files of the run until they are committed: the prefix itself, except for a
    /// local folder.
    pub(super) at: Prefix,
    /// The record of a run for a local folder.
    pub(super) record: Option<Record>,
    pub(super) run: String,
    pub(super) layout: Layout,
    /// All objects that were put, or may have been put.
    pub(super) written: Mutex<BTreeSet<Path>>,
    pub(super) outcome: Mutex<Outcome>,
    /// Whether workers also write into the folder of the run.
    pub(super) is_lent: AtomicBool,
}

impl Shared {
    /// Returns all objects in the folder of the run.
    pub(super) async fn landed(&self) -> Result<Vec<Path>> {
        let folder = self.prefix.inside(&format!("{RUN}{}", self.run));
        let listed = self.prefix.store().list(Some(&folder)).map_ok(|meta| meta.location);
        let listed: Result<Vec<Path>, _> = listed.try_collect().await;
        listed.map_err(|e| self.prefix.failed("cannot list", &e))
    }
}
