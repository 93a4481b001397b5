//! What the parts of a run share.

use super::names::Layout;
use super::prefix::Prefix;
use datafusion::object_store::path::Path;
use parking_lot::Mutex;
use std::collections::BTreeSet;
#[cfg(feature = "cluster")]
use std::sync::atomic::AtomicBool;

/// What is known of the commit of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It has not been tried, or it failed: no manifest names the files of the run.
    Open,
    /// The manifest of the prefix names the files of the run.
    Committed,
    /// The store did not say whether it took the manifest.
    Unknown,
}

/// What the parts of a run share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) prefix: Prefix,
    pub(super) run: String,
    pub(super) layout: Layout,
    /// Every object that was put or may have been.
    pub(super) written: Mutex<BTreeSet<Path>>,
    pub(super) outcome: Mutex<Outcome>,
    /// Whether others write into the folder of the run, too.
    #[cfg(feature = "cluster")]
    pub(super) is_lent: AtomicBool,
}
