//! Events for machines: one JSON object a line on standard error, never a data value.

use crate::plain;
use chrono::{SecondsFormat, Utc};
use serde_json::{Map, Value};
use std::io::Write;

/// Writes events, or drops them.
#[derive(Debug, Clone, Copy)]
pub struct Log {
    enabled: bool,
}

impl Log {
    /// A log that writes if `enabled`.
    pub fn new(enabled: bool) -> Self {
        Self { enabled }
    }

    /// Whether events are written.
    pub fn enabled(self) -> bool {
        self.enabled
    }

    /// Writes one event with its fields.
    pub fn event<const N: usize>(self, name: &str, fields: [(&str, Value); N]) {
        if self.enabled {
            // Whoever closed standard error does not want to know.
            let _ = writeln!(std::io::stderr(), "{}", line(name, fields));
        }
    }
}

fn line<const N: usize>(name: &str, fields: [(&str, Value); N]) -> String {
    let mut object = Map::new();
    let now = Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true);
    object.insert("time".into(), now.into());
    object.insert("event".into(), name.into());
    // What does not apply to an event is left out.
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
