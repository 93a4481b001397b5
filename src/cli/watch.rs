//! Follows the runs of a session: progress bars on a terminal, events in the log, and the flag that ends a search.

use super::log::Log;
use crate::engine::{Observer, Phase};
use crate::plain;
use crate::search::Progress;
use crate::warning::Warning;
use console::StyledObject;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use parking_lot::Mutex;
use serde_json::Value;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The observer of the command: it shows progress bars, logs phases and has the flag that ends a search.
pub struct Watch {
    bars: bool,
    quiet: bool,
    log: Log,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    interrupt: Arc<AtomicBool>,
    active: Option<Active>,
}

/// The phase that is running.
struct Active {
    phase: Phase,
    started: Instant,
    facts: Facts,
    bar: Option<ProgressBar>,
}

/// The counters of a phase, shared with its progress bar.
#[derive(Clone, Default)]
struct Facts {
    rows: Arc<AtomicU64>,
    search: Arc<Mutex<Option<Progress>>>,
}

impl Watch {
    /// Creates an observer that shows progress bars if `bars`, prints no warnings if `quiet`, and writes to `log`.
    pub fn new(bars: bool, quiet: bool, log: Log) -> Self {
        Self {
            bars,
            quiet,
            log,
            state: Mutex::default(),
        }
    }

    /// Resets the state at the beginning of a statement: nothing is interrupted.
    pub fn start(&self) {
        *self.state.lock() = State::default();
    }

    /// Removes the progress bar at the end of a statement, whatever its outcome.
    pub fn finish(&self) {
        if let Some(bar) = self.state.lock().active.take().and_then(|a| a.bar) {
            bar.finish_and_clear();
        }
    }

    /// Sets the flag that ends a search. Returns true if a search is running, which will then return its best node.
    pub fn interrupt_search(&self) -> bool {
        let state = self.state.lock();
        state.interrupt.store(true, Ordering::Relaxed);
        matches!(&state.active, Some(active) if active.phase == Phase::Search)
    }

    /// Prints a labelled note, unless the user wants quiet or a log.
    fn say(&self, label: StyledObject<&str>, text: &str) {
        if !self.quiet && !self.log.enabled() {
            self.print(&format!("{} {}", label.for_stderr(), plain::line(text)));
        }
    }

    /// Prints a line on standard error above any progress bar.
    pub fn note(&self, text: &str) {
        self.print(&plain::lines(text));
    }

    fn print(&self, line: &str) {
        let bar = self.state.lock().active.as_ref().and_then(|a| a.bar.clone());
        let print = || {
            // A failed write is ignored: nobody reads a closed standard error.
            let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{line}\n"));
        };
        match bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }
}

impl Observer for Watch {
    fn begin(&self, phase: Phase) -> Arc<AtomicU64> {
        self.log
            .event("phase", [("phase", name(phase).into()), ("state", "begin".into())]);
        let facts = Facts::default();
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

    fn advised(&self, advice: &str) {
        self.log.event("advice", [("message", advice.into())]);
        self.say(console::style("note:").bold(), advice);
    }

    fn end(&self, phase: Phase) {
        let mut state = self.state.lock();
        let Some(active) = state.active.take_if(|a| a.phase == phase) else {
            return;
        };
        drop(state);
        if let Some(bar) = active.bar {
            bar.finish_and_clear();
        }
        let rows = active.facts.rows.load(Ordering::Relaxed);
        let search = active.facts.search.lock().take();
        self.log.event(
            "phase",
            [
                ("phase", name(phase).into()),
                ("state", "end".into()),
                ("seconds", active.started.elapsed().as_secs_f64().into()),
                ("rows", (rows > 0).then_some(rows).into()),
                ("nodes", search.as_ref().map(|s| s.nodes).into()),
                ("best", search.and_then(|s| s.best).map_or(Value::Null, Value::from)),
            ],
        );
    }

    fn interrupt(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.state.lock().interrupt)
    }
}

fn name(phase: Phase) -> &'static str {
    match phase {
        Phase::Scan => "scan",
        Phase::Search => "search",
        Phase::Write => "write",
        Phase::Verify => "verify",
        Phase::Measure => "measure",
    }
}

fn bar(phase: Phase, facts: Facts) -> ProgressBar {
    let label = match phase {
        Phase::Scan => "Reading",
        Phase::Search => "Searching",
        Phase::Write => "Writing",
        Phase::Verify => "Verifying",
        Phase::Measure => "Measuring",
    };
    let style = ProgressStyle::with_template("{spinner} {msg:<9} {elapsed:>4}  {facts}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
        .with_key("facts", move |_: &ProgressState, out: &mut dyn Write| {
            // A failure to draw the bar is ignored.
            let _ = out.write_str(&describe(&facts));
        });
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style);
    bar.set_message(label);
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// Describes the progress of a phase: rows read or written, or nodes assessed and the best value so far.
fn describe(facts: &Facts) -> String {
    let rows = facts.rows.load(Ordering::Relaxed);
    match &*facts.search.lock() {
        Some(Progress { nodes, best }) => {
            let best = best.map_or("no node yet".to_string(), |b| format!("best {b:.4}"));
            format!("{} nodes, {best}", HumanCount(*nodes))
        }
        None if rows > 0 => format!("{} rows", HumanCount(rows)),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_running_search_is_answered_after_an_interrupt() {
        let watch = Watch::new(false, true, Log::new(false));
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
    fn a_bar_says_what_is_known() {
        let facts = Facts::default();
        assert_eq!(describe(&facts), "");
        facts.rows.store(12_345, Ordering::Relaxed);
        assert_eq!(describe(&facts), "12,345 rows");
        *facts.search.lock() = Some(Progress { nodes: 7, best: None });
        assert_eq!(describe(&facts), "7 nodes, no node yet");
        *facts.search.lock() = Some(Progress {
            nodes: 7,
            best: Some(0.25),
        });
        assert_eq!(describe(&facts), "7 nodes, best 0.2500");
    }
}
