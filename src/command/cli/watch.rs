//! Observes the runs of a session: shows progress bars on a terminal, logs events, and holds the
//! flag that ends a search.

use super::lineage::Lineage;
use super::log::Log;
use super::progress::{PhaseCounters, bar, searched};
use crate::base::plain;
use crate::base::store::Traffic;
use crate::data::drift::{Drift, ReplaySummary};
use crate::data::folder::Manifest;
use crate::method::lattice::said;
use crate::method::search::Progress;
use crate::method::warning::Warning;
use crate::release::observe::{Observer, Phase, Release};
use console::StyledObject;
use indicatif::ProgressBar;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The observer of the command. It shows progress bars, logs phases, and holds the flag that ends a
/// search.
pub struct Watch {
    bars: bool,
    quiet: bool,
    log: Log,
    traffic: Arc<Traffic>,
    lineage: Lineage,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    interrupt: Arc<AtomicBool>,
    active: Option<Active>,
    /// The durations of the finished phases in seconds, by the name of the phase.
    phases: Map<String, Value>,
    /// The figures of the release; empty if the statement released nothing.
    released: Vec<(&'static str, Value)>,
    /// Whether the advice on limiting a long search was already given.
    told: bool,
}

/// The phase that is currently running.
struct Active {
    phase: Phase,
    started: Instant,
    facts: PhaseCounters,
    bar: Option<ProgressBar>,
}

impl Watch {
    /// Creates an observer that logs to `log`. `traffic` contains the counters of the traffic with
    /// object stores, which progress bars show. The observer shows progress bars if `bars` is true,
    /// and prints no warnings if `quiet` is true.
    pub fn new(bars: bool, quiet: bool, log: Log, traffic: Arc<Traffic>) -> Self {
        Self {
            bars,
            quiet,
            log,
            traffic,
            lineage: Lineage::default(),
            state: Mutex::default(),
        }
    }

    /// Sets the lineage that emits events for releases.
    pub fn with_lineage(self, lineage: Lineage) -> Self {
        Self { lineage, ..self }
    }

    /// Returns the lineage that emits events for releases.
    pub fn lineage(&self) -> &Lineage {
        &self.lineage
    }

    /// Resets the state, including the flag that ends a search, at the start of a statement.
    pub fn start(&self) {
        *self.state.lock() = State::default();
    }

    /// Removes the progress bar at the end of a statement.
    pub fn finish(&self) {
        if let Some(bar) = self.state.lock().active.take().and_then(|a| a.bar) {
            bar.finish_and_clear();
        }
    }

    /// Removes the durations of the phases in seconds and the figures of the release from the
    /// state, and returns them as fields for a log event.
    pub fn summary(&self) -> (Map<String, Value>, Vec<(&'static str, Value)>) {
        let mut state = self.state.lock();
        (std::mem::take(&mut state.phases), std::mem::take(&mut state.released))
    }

    /// Sets the flag that ends a search. Returns true if a search is running, which will then
    /// return its best node.
    pub fn interrupt_search(&self) -> bool {
        let state = self.state.lock();
        state.interrupt.store(true, Ordering::Relaxed);
        matches!(&state.active, Some(active) if active.phase == Phase::Search)
    }

    /// Prints a note with a label, unless the command is quiet or writes a log.
    fn say(&self, label: StyledObject<&str>, text: &str) {
        if !self.quiet && !self.log.enabled() {
            self.print(&format!("{} {}", label.for_stderr(), plain::line(text)));
        }
    }

    /// Waits until a search without a limit has run for `patience`. Returns a message that contains
    /// its progress and explains how to limit it. For each statement, this future completes at most
    /// once.
    pub async fn long_search(&self, patience: Duration) -> String {
        loop {
            if let Some(text) = self.unlimited(patience) {
                return text;
            }
            tokio::time::sleep(patience / 20).await;
        }
    }

    fn unlimited(&self, patience: Duration) -> Option<String> {
        let mut state = self.state.lock();
        let active = state.active.as_ref().filter(|a| a.started.elapsed() >= patience)?;
        let progress = (*active.facts.search.lock()).filter(|p| !p.limited)?;
        let text = advice(patience, &progress);
        if std::mem::replace(&mut state.told, true) {
            return None;
        }
        self.log.event(
            "long_search",
            [
                ("nodes", progress.nodes.into()),
                ("lattice", progress.of.map(said).into()),
                ("best", number(progress.best)),
                ("bound", number(progress.bound)),
                ("message", text.clone().into()),
            ],
        );
        Some(text)
    }

    /// Prints lines on standard error, above the progress bar if there is one.
    pub fn note(&self, text: &str) {
        self.print(&plain::lines(text));
    }

    fn print(&self, line: &str) {
        let bar = self.state.lock().active.as_ref().and_then(|a| a.bar.clone());
        let print = || {
            // A failed write is ignored: if standard error is closed, nobody reads it.
            let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{line}\n"));
        };
        match bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }
}

/// Returns the message about a search that has run for `time`. It contains the progress of the
/// search, and explains how to limit it.
fn advice(time: Duration, progress: &Progress) -> String {
    let seconds = time.as_secs();
    match progress.of {
        Some(_) => format!(
            "searching for {seconds} s without a limit: {}\n  WITH (time_limit = '60s') ends a search with the best \
             found, and Ctrl-C ends this one so now;\n  SEARCH USING mondrian divides the table in seconds and proves \
             nothing",
            searched(progress)
        ),
        None => format!(
            "dividing the table for {seconds} s without a limit\n  WITH (time_limit = '60s') ends this with the groups \
             so far, and Ctrl-C does so now"
        ),
    }
}

fn number(value: Option<f64>) -> Value {
    value.map_or(Value::Null, Value::from)
}

/// Returns the kinds of drift in a release, without consecutive duplicates.
fn drift_kinds(replay: &ReplaySummary) -> Vec<&'static str> {
    let mut kinds: Vec<&str> = replay.drift.iter().map(|drift| drift.kind.name()).collect();
    kinds.dedup();
    kinds
}

impl Observer for Watch {
    fn begin(&self, phase: Phase) -> Arc<AtomicU64> {
        self.log
            .event("phase", [("phase", phase.name().into()), ("state", "begin".into())]);
        let facts = PhaseCounters::over(&self.traffic);
        let active = Active {
            phase,
            started: Instant::now(),
            bar: self.bars.then(|| bar(phase, facts.clone())),
            facts,
        };
        let rows = Arc::clone(&active.facts.rows);
        let before = self.state.lock().active.replace(active);
        if let Some(bar) = before.and_then(|a| a.bar) {
            bar.finish_and_clear();
        }
        rows
    }

    fn expects(&self, phase: Phase, rows: u64) {
        if let Some(active) = self.state.lock().active.as_ref().filter(|a| a.phase == phase) {
            active.facts.expected.store(rows, Ordering::Relaxed);
        }
    }

    fn searched(&self, progress: Progress) {
        if let Some(active) = &self.state.lock().active {
            *active.facts.search.lock() = Some(progress);
        }
    }

    fn warned(&self, warning: &Warning) {
        self.log.event(
            "warning",
            [
                ("kind", warning.kind.name().into()),
                ("columns", warning.columns.clone().into()),
                ("message", warning.text.as_str().into()),
            ],
        );
        self.say(console::style("warning:").yellow().bold(), &warning.text);
    }

    fn drifted(&self, drift: &Drift, stops: bool) {
        self.log.event(
            "drift",
            [
                ("kind", drift.kind.name().into()),
                ("columns", drift.columns.clone().into()),
                ("values", drift.values.into()),
                ("classes", drift.classes.into()),
                ("rows", drift.rows.into()),
                ("allowed", drift.allowed.into()),
                ("stops", stops.into()),
                ("message", drift.text.as_str().into()),
            ],
        );
        // Drift that stops the statement is reported by its error.
        if !stops {
            self.say(console::style("drift:").yellow().bold(), &drift.text);
        }
    }

    fn advised(&self, advice: &str) {
        self.log.event("advice", [("message", advice.into())]);
        self.say(console::style("note:").bold(), advice);
    }

    fn worker_failed(&self, worker: &str, is_distrusted: bool) {
        let (state, text) = match is_distrusted {
            true => (
                "distrusted",
                format!(
                    "{worker} reported a result that does not belong to its task; it gets no more tasks, and other \
                     workers do its part"
                ),
            ),
            false => ("lost", format!("{worker} was lost, and other workers do its part")),
        };
        let fields = [
            ("worker", worker.into()),
            ("state", state.into()),
            ("message", text.clone().into()),
        ];
        self.log.event("worker", fields);
        self.say(console::style("note:").bold(), &text);
    }

    fn releasing(&self, target: &Path, sources: &[String]) {
        self.lineage.start(target, sources);
    }

    fn published(&self, release: &Release, manifest: &Manifest) {
        self.lineage.complete(release, manifest);
    }

    fn released(&self, release: &Release, target: Option<&Path>) {
        self.state.lock().released = vec![
            ("target", target.map(|t| t.display().to_string()).into()),
            ("k", release.reached_k.into()),
            ("rows_in", release.rows_in.into()),
            ("rows", release.rows_out.into()),
            ("suppressed", release.rows_suppressed.into()),
            ("classes", release.classes.into()),
            ("drift", release.replay.as_ref().map(drift_kinds).into()),
        ];
    }

    fn end(&self, phase: Phase) {
        let mut state = self.state.lock();
        let Some(active) = state.active.take_if(|a| a.phase == phase) else {
            return;
        };
        let seconds = active.started.elapsed().as_secs_f64();
        let before = state.phases.get(phase.name()).and_then(Value::as_f64).unwrap_or(0.0);
        state.phases.insert(phase.name().into(), (before + seconds).into());
        drop(state);
        if let Some(bar) = active.bar {
            bar.finish_and_clear();
        }
        let rows = active.facts.rows.load(Ordering::Relaxed);
        let search = active.facts.search.lock().take();
        let moved = active.facts.moved();
        let some = |number: u64| (number > 0).then_some(number).into();
        self.log.event(
            "phase",
            [
                ("phase", phase.name().into()),
                ("state", "end".into()),
                ("seconds", seconds.into()),
                ("rows", some(rows)),
                ("bytes_received", some(moved.received)),
                ("bytes_sent", some(moved.sent)),
                ("failed_requests", some(moved.failed)),
                ("nodes", search.map(|s| s.nodes).into()),
                ("best", number(search.and_then(|s| s.best))),
                ("bound", number(search.and_then(|s| s.bound))),
            ],
        );
    }

    fn interrupt(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.state.lock().interrupt)
    }
}

#[cfg(test)]
mod tests {
    use super::super::progress::tests::progress;
    use super::*;

    #[test]
    fn only_a_running_search_is_answered_after_an_interrupt() {
        let watch = Watch::new(false, true, Log::new(false), Arc::default());
        watch.start();
        let before = watch.interrupt();
        watch.begin(Phase::Scan);
        assert!(!watch.interrupt_search());
        watch.end(Phase::Scan);
        watch.begin(Phase::Search);
        assert!(watch.interrupt_search() && before.load(Ordering::Relaxed));
        watch.end(Phase::Search);
        assert!(!watch.interrupt_search());
        watch.start();
        assert!(
            !watch.interrupt().load(Ordering::Relaxed),
            "a new statement is not interrupted"
        );
    }

    #[test]
    fn a_long_search_without_a_limit_is_told_of_once() {
        let watch = Watch::new(false, true, Log::new(false), Arc::default());
        watch.start();
        watch.begin(Phase::Scan);
        assert_eq!(watch.unlimited(Duration::ZERO), None, "nothing is searched");
        watch.begin(Phase::Search);
        watch.searched(progress(7, Some(0.25), Some(0.125), true));
        assert_eq!(watch.unlimited(Duration::ZERO), None, "it ends by itself");
        watch.searched(progress(7, Some(0.25), Some(0.125), false));
        assert_eq!(watch.unlimited(Duration::from_secs(3600)), None, "it is not long");
        let said = watch.unlimited(Duration::ZERO).unwrap();
        for part in [
            "7 of 648 nodes, best 0.2500, proven bound 0.1250",
            "time_limit = '60s'",
            "Ctrl-C",
            "mondrian",
        ] {
            assert!(said.contains(part), "{said}");
        }
        assert_eq!(watch.unlimited(Duration::ZERO), None, "once is enough");
        watch.start();
        watch.begin(Phase::Search);
        watch.searched(Progress {
            of: None,
            ..progress(0, None, None, false)
        });
        let said = watch.unlimited(Duration::ZERO).unwrap();
        assert!(said.starts_with("dividing") && !said.contains("nodes"), "{said}");
    }

    #[test]
    fn phases_add_up_and_only_what_ended_counts() {
        let watch = Watch::new(false, true, Log::new(false), Arc::default());
        watch.start();
        for phase in [Phase::Scan, Phase::Search, Phase::Scan] {
            watch.begin(phase);
            watch.end(phase);
        }
        watch.begin(Phase::Write);
        let (phases, released) = watch.summary();
        assert_eq!(phases.keys().collect::<Vec<_>>(), ["scan", "search"]);
        assert!(released.is_empty() && watch.summary().0.is_empty());
    }
}
