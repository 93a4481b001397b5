//! The observer interface: the progress that a run reports to its caller.

use super::release::Release;
use crate::data::drift::Drift;
use crate::data::folder::Manifest;
use crate::method::search::Progress;
use crate::method::warning::Warning;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// The phases of a run. Every moment of a run belongs to one phase; a phase can occur twice.
///
/// ```
/// use anonsql::{Observer, Phase};
/// struct Printing;
/// impl Observer for Printing {
///     fn end(&self, phase: Phase) {
///         if phase == Phase::Scan {
///             println!("the source is read");
///         }
///     }
/// }
/// Printing.end(Phase::Scan);
/// assert_eq!(Phase::Scan.name(), "scan");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// Looking up the names of the statement and checking the request.
    Prepare,
    /// Reading the source for the base frequency set.
    Scan,
    /// Searching the lattice, or dividing the table.
    Search,
    /// Rewriting the source.
    Write,
    /// Recounting the written rows, or a table that a statement names.
    Verify,
    /// Measuring the risk of the people in a table, or examining the columns that a release keeps.
    Measure,
    /// Measuring a release for its report, and writing the report.
    Report,
    /// Writing the manifest with the checksums of all files, and moving the release to its target.
    Publish,
}

impl Phase {
    /// Returns the name of the phase in logs and in EXPLAIN ANALYZE.
    pub fn name(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Scan => "scan",
            Self::Search => "search",
            Self::Write => "write",
            Self::Verify => "verify",
            Self::Measure => "measure",
            Self::Report => "report",
            Self::Publish => "publish",
        }
    }
}

/// Receives the progress of a run.
///
/// ```
/// use anonsql::{AnonContext, Observer, Progress};
/// use std::sync::Arc;
/// struct Printing;
/// impl Observer for Printing {
///     fn searched(&self, progress: Progress) {
///         println!("{} nodes", progress.nodes);
///     }
/// }
/// let anon = AnonContext::new(Default::default()).with_observer(Arc::new(Printing));
/// ```
pub trait Observer: Send + Sync {
    /// Called when a phase begins. The run adds the rows of the phase to the returned counter.
    fn begin(&self, phase: Phase) -> Arc<AtomicU64> {
        let _ = phase;
        Arc::default()
    }

    /// Called after [`Self::begin`] if the number of rows that the counter of the phase will reach
    /// is known.
    fn expects(&self, phase: Phase, rows: u64) {
        let _ = (phase, rows);
    }

    /// Called when a search begins, and after every batch of nodes that was assessed.
    fn searched(&self, progress: Progress) {
        let _ = progress;
    }

    /// Called for each warning that the statement does not accept, before any row is written. A
    /// strict statement fails with its warnings instead.
    fn warned(&self, warning: &Warning) {
        let _ = warning;
    }

    /// Called for each drift from the release of USING MANIFEST, as soon as the drift is found. If
    /// `stops` is true, the statement then fails because of the drift.
    fn drifted(&self, drift: &Drift, stops: bool) {
        let _ = (drift, stops);
    }

    /// Called with one sentence of advice: if another search would lose far less, if a replaced
    /// release adds to a budget of differential privacy, or if the statement does something that
    /// its author may not expect.
    fn advised(&self, advice: &str) {
        let _ = advice;
    }

    /// Called when a statement continues without a worker of a cluster. If `is_distrusted` is true,
    /// a report of the worker was refused. Otherwise the worker was lost.
    fn worker_failed(&self, worker: &str, is_distrusted: bool) {
        let _ = (worker, is_distrusted);
    }

    /// Called before the source is read, with the target of the release and with the known paths
    /// and URLs of the files that the run reads.
    fn releasing(&self, target: &Path, sources: &[String]) {
        let _ = (target, sources);
    }

    /// Called once a release is in its target, with the manifest beside it.
    fn published(&self, release: &Release, manifest: &Manifest) {
        let _ = (release, manifest);
    }

    /// Called with the figures of a release once the release is in `target`, or once its rows are
    /// returned if there is no target. A dry run calls this method with the figures that it
    /// predicts.
    fn released(&self, release: &Release, target: Option<&Path>) {
        let _ = (release, target);
    }

    /// Called when a phase has ended, after success and after failure.
    fn end(&self, phase: Phase) {
        let _ = phase;
    }

    /// Returns a flag. When the flag is set, the search ends with the best node found so far.
    fn interrupt(&self) -> Arc<AtomicBool> {
        Arc::default()
    }
}

/// An observer that ignores all progress.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Observer for Silent {}
