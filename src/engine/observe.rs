//! The observer interface: the progress that a run reports to its caller.

use crate::search::Progress;
use crate::warning::Warning;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// The phases of a run that take long.
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
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// Reading the source for the base frequency set.
    Scan,
    /// Searching the lattice.
    Search,
    /// Rewriting the source.
    Write,
    /// Recounting what was written, or a table that a statement names.
    Verify,
    /// Measuring the risk of the people in a table, or examining the columns that a release keeps.
    Measure,
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

    /// Called after a batch of nodes was assessed.
    fn searched(&self, progress: Progress) {
        let _ = progress;
    }

    /// Called for each warning about a release that the statement does not accept, before anything is written. A strict
    /// statement fails with its warnings instead.
    fn warned(&self, warning: &Warning) {
        let _ = warning;
    }

    /// Called if another search would lose far less, with the advice in one sentence.
    fn advised(&self, advice: &str) {
        let _ = advice;
    }

    /// Called when a phase has ended.
    fn end(&self, phase: Phase) {
        let _ = phase;
    }

    /// Returns the flag that ends a search with the best node so far when it is set.
    fn interrupt(&self) -> Arc<AtomicBool> {
        Arc::default()
    }
}

/// An observer that ignores all progress.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Observer for Silent {}
