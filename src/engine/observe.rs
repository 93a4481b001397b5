//! What a run tells whoever shows its progress.

use crate::search::Progress;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// The parts of a run that take long.
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
    /// Recounting what was written, or what a statement names.
    Verify,
    /// Counting what a table shows of those in it.
    Measure,
}

/// Follows a run.
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
    /// A phase begins; its rows are added to the answered counter.
    fn begin(&self, phase: Phase) -> Arc<AtomicU64> {
        let _ = phase;
        Arc::default()
    }

    /// A batch of nodes was assessed.
    fn searched(&self, progress: Progress) {
        let _ = progress;
    }

    /// A phase has ended.
    fn end(&self, phase: Phase) {
        let _ = phase;
    }

    /// Raised to end a search with the best node so far.
    fn interrupt(&self) -> Arc<AtomicBool> {
        Arc::default()
    }
}

/// Watches nothing.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Observer for Silent {}
