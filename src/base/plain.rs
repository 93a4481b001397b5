//! Makes text safe to display. A name or a value may contain characters that move the cursor of a
//! terminal, change its colours, or reverse the text beside them.

use std::sync::Arc;

/// Returns true for a character that is not displayed, but affects the text beside it: control
/// characters including ESC, characters that change the writing direction, and characters without
/// width. Returns false for the joiners that scripts and emoji need.
pub fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Escapes every character in a text for which [`acts`] returns true, such as `\n` and `\u{1b}`.
/// The result is a single line.
pub fn line(text: &str) -> String {
    spelled(text, |_| false)
}

/// Escapes a text like [`line()`], but keeps its line ends and tabs.
pub fn lines(text: &str) -> String {
    spelled(text, |c| matches!(c, '\n' | '\t'))
}

/// Escapes every character in a JSON text for which [`acts`] returns true, except line ends and
/// tabs. The result represents the same JSON values. Of these characters, JSON itself requires an
/// escape only for those below U+0020.
pub fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match acts(c) && !matches!(c, '\n' | '\t' | '\r') {
            true => {
                let mut units = [0; 2];
                out.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
            }
            false => out.push(c),
        }
    }
    out
}

fn spelled(text: &str, stays: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match acts(c) && !stays(c) {
            true => out.extend(c.escape_default()),
            false => out.push(c),
        }
    }
    out
}

/// Values that must not appear in any text, each with its replacement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Secrets(Arc<Vec<(String, String)>>);

impl Secrets {
    /// Creates the secrets from values and their replacements.
    pub fn new(mut values: Vec<(String, String)>) -> Self {
        values.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
        Self(Arc::new(values))
    }

    /// Returns the values, longest first.
    pub fn iter(&self) -> impl Iterator<Item = &(String, String)> {
        self.0.iter()
    }

    /// Returns true if there are no values.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a text in which the values are replaced. This includes values in quotes, and values
    /// that are escaped for SQL, JSON or HTML.
    pub fn hidden_in(&self, text: &str) -> String {
        let mut text = text.to_string();
        for (value, instead) in self.iter() {
            let debugged = format!("{value:?}");
            let html = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            let spellings = [
                value,
                debugged.trim_matches('"'),
                &value.escape_debug().to_string(),
                &value.replace('\'', "''"),
                &value.replace('"', "\"\""),
                &html.replace('"', "&quot;"),
                &html,
            ];
            for spelled in spellings {
                text = text.replace(spelled, instead);
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_spelled_out() {
        let text = "a\u{1b}[31m\u{7f}\u{9b}2J\u{202e}\u{2066}\u{200b}\u{feff}\r\n\té\u{200d}";
        assert_eq!(
            line(text),
            "a\\u{1b}[31m\\u{7f}\\u{9b}2J\\u{202e}\\u{2066}\\u{200b}\\u{feff}\\r\\n\\té\u{200d}"
        );
        assert_eq!(lines("a\n\tb\r\u{1b}"), "a\n\tb\\r\\u{1b}");
    }

    #[test]
    fn json_reads_as_the_same_values() {
        let value = serde_json::json!({"a\u{7f}\u{e0001}": "\u{1b}\u{9b}\u{202e}é\n"});
        let written = json(&value.to_string());
        assert!(!written.contains(acts), "{written}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap(), value);
    }
}
