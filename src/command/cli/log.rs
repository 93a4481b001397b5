//! A log of events for other programs, with one JSON object per line on standard error. The log
//! contains no data values.

use crate::base::plain;
use chrono::{SecondsFormat, Utc};
use serde_json::{Map, Value};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A log of events. A disabled log discards events.
#[derive(Debug, Clone)]
pub struct Log(Option<Arc<Runs>>);

/// Generates the run ids of a process. An id consists of a random number for the process and the
/// number of the statement.
#[derive(Debug)]
struct Runs {
    process: u64,
    statement: AtomicU64,
}

impl Log {
    /// Creates a log, which writes events only if `enabled` is true.
    pub fn new(enabled: bool) -> Self {
        let runs = || Runs {
            process: rand::random(),
            statement: AtomicU64::new(0),
        };
        Self(enabled.then(|| Arc::new(runs())))
    }

    /// Returns true if events are written.
    pub fn enabled(&self) -> bool {
        self.0.is_some()
    }

    /// Begins the run of a statement. All events until the next run contain its id.
    pub fn begin_run(&self) {
        if let Some(runs) = &self.0 {
            runs.statement.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Writes an event with the given fields. Fields that are null are omitted.
    pub fn event(&self, name: &str, fields: impl IntoIterator<Item = (&'static str, Value)>) {
        if let Some(runs) = &self.0 {
            // A failed write is ignored: if standard error is closed, nobody reads it.
            let _ = writeln!(std::io::stderr(), "{}", line(&runs.id(), name, fields));
        }
    }
}

impl Runs {
    fn id(&self) -> String {
        format!("{:016x}-{}", self.process, self.statement.load(Ordering::Relaxed))
    }
}

fn line(run: &str, name: &str, fields: impl IntoIterator<Item = (&'static str, Value)>) -> String {
    let mut object = Map::new();
    let now = Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true);
    object.insert("time".into(), now.into());
    object.insert("run".into(), run.into());
    object.insert("event".into(), name.into());
    // Fields that do not apply to an event are omitted.
    object.extend(
        fields
            .into_iter()
            .filter(|(_, v)| !v.is_null())
            .map(|(k, v)| (k.to_string(), v)),
    );
    plain::json(&Value::Object(object).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_of_json() {
        let text = line(
            "1f-2",
            "phase",
            [("rows", 5.into()), ("note", "a\nb".into()), ("nodes", Value::Null)],
        );
        assert!(!text.contains('\n'));
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (&read["run"], &read["event"], &read["rows"], &read["note"]),
            (&"1f-2".into(), &"phase".into(), &5.into(), &"a\nb".into())
        );
        assert!(read.get("nodes").is_none() && read["time"].is_string());
    }

    #[test]
    fn each_statement_is_a_run_of_its_process() {
        let log = Log::new(true);
        let Some(runs) = log.clone().0 else {
            panic!("a log that writes")
        };
        let before = runs.id();
        log.begin_run();
        let after = runs.id();
        assert_eq!(before.split_once('-').unwrap().0, after.split_once('-').unwrap().0);
        assert!(before.ends_with("-0") && after.ends_with("-1"), "{before} {after}");
    }
}
