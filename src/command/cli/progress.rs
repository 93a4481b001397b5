//! Describes the progress of a phase in words: how much is done, how much there is in total, and
//! the remaining time.

use crate::base::store::{Moved, Traffic};
use crate::method::search::Progress;
use crate::release::observe::Phase;
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use parking_lot::Mutex;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The counters of a phase, from which its progress bar is drawn.
#[derive(Clone, Default)]
pub struct PhaseCounters {
    /// The number of rows so far.
    pub rows: Arc<AtomicU64>,
    /// The expected total number of rows in the phase; 0 if it is unknown.
    pub expected: Arc<AtomicU64>,
    /// The progress of the search; `None` for any other phase.
    pub search: Arc<Mutex<Option<Progress>>>,
    /// The time at which the progress bar first showed a row, and the number of rows at that time.
    /// The remaining time is estimated from this time on, so that earlier work, such as sorting,
    /// does not count.
    first: Arc<Mutex<Option<(Instant, u64)>>>,
    /// The counters of the traffic with object stores.
    traffic: Arc<Traffic>,
    /// The values of these counters at the start of the phase.
    before: Moved,
}

impl PhaseCounters {
    /// Creates the counters of a phase that begins now.
    pub fn over(traffic: &Arc<Traffic>) -> Self {
        Self {
            traffic: Arc::clone(traffic),
            before: traffic.moved(),
            ..Self::default()
        }
    }

    /// Returns the traffic with object stores since the start of the phase.
    pub fn moved(&self) -> Moved {
        self.traffic.moved().since(self.before)
    }

    /// Describes the progress of the phase.
    fn describe(&self) -> String {
        if let Some(progress) = &*self.search.lock() {
            return searched(progress);
        }
        let (known, moved) = (self.counted(), moved(&self.moved()));
        let separator = if known.is_empty() || moved.is_empty() { "" } else { ", " };
        format!("{known}{separator}{moved}")
    }

    /// Describes the number of rows so far, and the remaining time.
    fn counted(&self) -> String {
        let (rows, expected) = (self.rows.load(Ordering::Relaxed), self.expected.load(Ordering::Relaxed));
        let (since, before) = match rows {
            0 => (Duration::ZERO, 0),
            _ => {
                let (first, before) = *self.first.lock().get_or_insert_with(|| (Instant::now(), rows));
                (first.elapsed(), before)
            }
        };
        counted(rows, expected, since, before)
    }
}

/// Describes a search: the number of assessed nodes, the best value so far, and a proven bound on
/// the best possible value.
pub fn searched(progress: &Progress) -> String {
    let Progress {
        nodes, of, best, bound, ..
    } = progress;
    let mut text = match of {
        Some(of) => format!("{} of {} nodes", HumanCount(*nodes), grouped(*of)),
        None => return String::new(),
    };
    // Writing to a string does not fail.
    let _ = match best {
        Some(best) => write!(text, ", best {best:.4}"),
        None => write!(text, ", no best yet"),
    };
    if let Some(bound) = bound {
        let _ = write!(text, ", proven bound {bound:.4}");
    }
    text
}

/// Formats a number in groups of three digits separated by commas, or in scientific notation if it
/// is very long.
fn grouped(number: u128) -> String {
    match u64::try_from(number) {
        Ok(number) if number < 1_000_000_000_000 => HumanCount(number).to_string(),
        _ => format!("{:.1e}", number as f64),
    }
}

/// Describes the number of rows and, if it can be estimated, the remaining time. `since` is the
/// time since the bar first showed rows, and `before` is the number of rows at that time.
/// `expected` may be an estimate, so a running phase never shows 100%.
fn counted(rows: u64, expected: u64, since: Duration, before: u64) -> String {
    if expected == 0 {
        return match rows {
            0 => String::new(),
            rows => format!("{} rows", HumanCount(rows)),
        };
    }
    let percent = (u128::from(rows) * 100 / u128::from(expected)).min(99);
    let mut text = format!("{percent}%, {} of {} rows", HumanCount(rows), HumanCount(expected));
    if rows > before && rows < expected && since >= Duration::from_secs(1) {
        let left = since.as_secs_f64() * (expected - rows) as f64 / (rows - before) as f64;
        text += &format!(", {} left", rounded(left));
    }
    text
}

/// Formats a time, rounded to the precision of an estimate.
fn rounded(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{:.0} s", s.max(1.0)),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// Describes the traffic with object stores: the number of bytes, and the number of failed
/// requests.
fn moved(moved: &Moved) -> String {
    let mut parts = vec![];
    for (bytes, how) in [(moved.received, "received"), (moved.sent, "sent")] {
        // Small amounts of traffic, such as for listings and leases, do not indicate progress.
        if bytes >= 1 << 20 {
            parts.push(format!("{} {how}", HumanBytes(bytes)));
        }
    }
    if moved.failed > 0 {
        parts.push(format!("{} failed requests", HumanCount(moved.failed)));
    }
    parts.join(", ")
}

/// Creates the progress bar of a phase.
pub fn bar(phase: Phase, facts: PhaseCounters) -> ProgressBar {
    let label = match phase {
        Phase::Prepare => "Preparing",
        Phase::Scan => "Reading",
        Phase::Search => "Searching",
        Phase::Write => "Writing",
        Phase::Verify => "Verifying",
        Phase::Measure => "Measuring",
        Phase::Report => "Reporting",
        Phase::Publish => "Publishing",
    };
    let style = ProgressStyle::with_template("{spinner} {msg:<10} {elapsed:>4}  {facts}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
        .with_key("facts", move |_: &ProgressState, out: &mut dyn Write| {
            // If drawing the bar fails, the error is ignored.
            let _ = out.write_str(&facts.describe());
        });
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style);
    bar.set_message(label);
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::release::observe::{Observer, Silent};

    /// Returns the progress of a search over 648 nodes, as passed to an observer.
    pub fn progress(nodes: u64, best: Option<f64>, bound: Option<f64>, limited: bool) -> Progress {
        Progress {
            nodes,
            of: Some(648),
            best,
            bound,
            limited,
        }
    }

    #[test]
    fn a_bar_says_what_is_known() {
        let facts = PhaseCounters::default();
        assert_eq!(facts.describe(), "");
        facts.rows.store(12_345, Ordering::Relaxed);
        assert_eq!(facts.describe(), "12,345 rows");
        facts.expected.store(50_000, Ordering::Relaxed);
        assert_eq!(facts.describe(), "24%, 12,345 of 50,000 rows");
        for (best, bound, said) in [
            (None, None, "7 of 648 nodes, no best yet"),
            (Some(0.25), None, "7 of 648 nodes, best 0.2500"),
            (
                Some(0.25),
                Some(0.125),
                "7 of 648 nodes, best 0.2500, proven bound 0.1250",
            ),
        ] {
            *facts.search.lock() = Some(progress(7, best, bound, false));
            assert_eq!(facts.describe(), said);
        }
        let beyond = Progress {
            of: Some(u128::MAX),
            ..progress(7, None, None, false)
        };
        assert_eq!(searched(&beyond), "7 of 3.4e38 nodes, no best yet");
    }

    #[test]
    fn what_is_moved_is_told() {
        let told = |received, sent, failed| moved(&Moved { received, sent, failed });
        assert_eq!(told(1000, 20, 0), "");
        assert_eq!(told(3 << 20, 0, 0), "3.00 MiB received");
        assert_eq!(
            told(3 << 20, 2 << 20, 4),
            "3.00 MiB received, 2.00 MiB sent, 4 failed requests"
        );
    }

    #[test]
    fn the_time_left_follows_from_the_rows_so_far() {
        let ten = Duration::from_secs(10);
        assert_eq!(counted(100, 400, ten, 0), "25%, 100 of 400 rows, 30 s left");
        assert_eq!(counted(100, 4_000, ten, 0), "2%, 100 of 4,000 rows, 6 min left");
        assert_eq!(counted(200, 400, ten, 100), "50%, 200 of 400 rows, 20 s left");
        assert_eq!(counted(100, 400, ten, 100), "25%, 100 of 400 rows");
        assert_eq!(counted(1, 4_000, ten, 0), "0%, 1 of 4,000 rows, 11.1 h left");
        assert_eq!(
            counted(100, 400, Duration::ZERO, 0),
            "25%, 100 of 400 rows",
            "nothing is known yet"
        );
        assert_eq!(
            counted(500, 400, ten, 0),
            "99%, 500 of 400 rows",
            "the estimate was too small"
        );
    }

    #[test]
    fn every_phase_has_a_bar() {
        for phase in [
            Phase::Prepare,
            Phase::Scan,
            Phase::Search,
            Phase::Write,
            Phase::Verify,
            Phase::Measure,
            Phase::Report,
            Phase::Publish,
        ] {
            Silent.end(phase);
            let drawn = bar(phase, PhaseCounters::default());
            assert!(drawn.message().len() <= 10, "{}", drawn.message());
            drawn.finish_and_clear();
        }
    }
}
