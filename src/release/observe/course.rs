//! The course of one statement: its phases, which follow one another without gaps, and their times.

use super::observer::{Observer, Phase};
use super::release::Release;
use crate::data::drift::Drift;
use crate::data::folder::Manifest;
use crate::method::search::Progress;
use crate::method::warning::Warning;
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

/// The observer that passes the calls of a statement on to the observer of the caller. A phase
/// lasts until the next phase begins or the course is dropped, so that every moment of a run is in
/// a phase, and every phase ends.
pub struct Course {
    caller: Arc<dyn Observer>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    current: Option<(Phase, Instant, Arc<AtomicU64>)>,
    times: Vec<(Phase, Duration)>,
}

impl Course {
    /// Creates the course of a statement whose progress `caller` follows.
    pub fn new(caller: Arc<dyn Observer>) -> Self {
        Self {
            caller,
            state: Mutex::default(),
        }
    }

    /// Ends the current phase, and returns the time of each phase, in the order in which they first
    /// began.
    pub fn times(&self) -> Vec<(Phase, Duration)> {
        let mut state = self.state.lock();
        self.end_current(&mut state);
        state.times.clone()
    }

    fn end_current(&self, state: &mut State) {
        let Some((phase, began, _)) = state.current.take() else {
            return;
        };
        let time = began.elapsed();
        match state.times.iter_mut().find(|(known, _)| *known == phase) {
            Some((_, sum)) => *sum += time,
            None => state.times.push((phase, time)),
        }
        self.caller.end(phase);
    }
}

impl Observer for Course {
    /// Begins a phase and ends the current phase. If `phase` is already the current phase, the
    /// phase continues. Returns the row counter of the phase.
    fn begin(&self, phase: Phase) -> Arc<AtomicU64> {
        let mut state = self.state.lock();
        match &state.current {
            Some((current, _, rows)) if *current == phase => Arc::clone(rows),
            _ => {
                self.end_current(&mut state);
                let rows = self.caller.begin(phase);
                state.current = Some((phase, Instant::now(), Arc::clone(&rows)));
                rows
            }
        }
    }

    fn expects(&self, phase: Phase, rows: u64) {
        self.caller.expects(phase, rows);
    }

    fn searched(&self, progress: Progress) {
        self.caller.searched(progress);
    }

    fn warned(&self, warning: &Warning) {
        self.caller.warned(warning);
    }

    fn drifted(&self, drift: &Drift, stops: bool) {
        self.caller.drifted(drift, stops);
    }

    fn advised(&self, advice: &str) {
        self.caller.advised(advice);
    }

    fn worker_failed(&self, worker: &str, is_distrusted: bool) {
        self.caller.worker_failed(worker, is_distrusted);
    }

    fn releasing(&self, target: &Path, sources: &[String]) {
        self.caller.releasing(target, sources);
    }

    fn published(&self, release: &Release, manifest: &Manifest) {
        self.caller.published(release, manifest);
    }

    fn released(&self, release: &Release, target: Option<&Path>) {
        self.caller.released(release, target);
    }

    fn interrupt(&self) -> Arc<AtomicBool> {
        self.caller.interrupt()
    }
}

impl Drop for Course {
    fn drop(&mut self) {
        self.end_current(&mut self.state.lock());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[derive(Default)]
    struct Told(Mutex<Vec<String>>);

    impl Observer for Told {
        fn begin(&self, phase: Phase) -> Arc<AtomicU64> {
            self.0.lock().push(format!("{}(", phase.name()));
            Arc::default()
        }

        fn end(&self, phase: Phase) {
            self.0.lock().push(format!("{})", phase.name()));
        }
    }

    #[test]
    fn a_phase_lasts_until_the_next_and_the_last_ends_too() {
        let told = Arc::new(Told::default());
        let course = Course::new(Arc::clone(&told) as _);
        let first = course.begin(Phase::Scan);
        course.begin(Phase::Scan).fetch_add(3, Ordering::Relaxed);
        assert_eq!(first.load(Ordering::Relaxed), 3, "the same phase goes on");
        course.begin(Phase::Search);
        course.begin(Phase::Scan);
        let phases: Vec<Phase> = course.times().into_iter().map(|(phase, _)| phase).collect();
        assert_eq!(phases, [Phase::Scan, Phase::Search]);
        course.begin(Phase::Publish);
        drop(course);
        let whole = "scan(scan)search(search)scan(scan)publish(publish)";
        assert_eq!(told.0.lock().concat(), whole);
    }
}
