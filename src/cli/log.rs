//! Events for machines: one JSON object per line on standard error, without data values.

use crate::plain;
use chrono::{SecondsFormat, Utc};
use serde_json::{Map, Value};
use std::io::Write;

/// A log of events that is written or discarded.
#[derive(Debug, Clone, Copy)]
pub struct Log {
    enabled: bool,
}

impl Log {
    /// Creates a log that writes if `enabled`.
    pub fn new(enabled: bool) -> Self {
        Self { enabled }
    }

    /// Returns true if events are written.
    pub fn enabled(self) -> bool {
        self.enabled
    }

    /// Writes one event with its fields.
    pub fn event<const N: usize>(self, name: &str, fields: [(&str, Value); N]) {
        if self.enabled {
            // A failed write is ignored: nobody reads a closed standard error.
            let _ = writeln!(std::io::stderr(), "{}", line(name, fields));
        }
    }
}

fn line<const N: usize>(name: &str, fields: [(&str, Value); N]) -> String {
    let mut object = Map::new();
    let now = Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true);
    object.insert("time".into(), now.into());
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
            "phase",
            [("rows", 5.into()), ("note", "a\nb".into()), ("nodes", Value::Null)],
        );
        assert!(!text.contains('\n'));
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (&read["event"], &read["rows"], &read["note"]),
            (&"phase".into(), &5.into(), &"a\nb".into())
        );
        assert!(read.get("nodes").is_none() && read["time"].is_string());
    }
}
