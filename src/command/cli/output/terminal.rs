//! Protects a terminal from control characters. Formats for programs contain values unchanged, so
//! their control characters would otherwise reach the terminal.

use super::format::OutputFormat;
use crate::base::plain;
use std::io::{Result, Write};

/// A writer that escapes all control characters.
pub struct Spelled<W> {
    out: W,
    spell: fn(&str) -> String,
    /// The first bytes of an incomplete UTF-8 character.
    rest: Vec<u8>,
}

impl<W: Write> Spelled<W> {
    /// Creates a writer that escapes text in the given format, and writes it to `out`.
    pub fn new(out: W, format: OutputFormat) -> Self {
        let spell = match format {
            OutputFormat::Json | OutputFormat::Ndjson => plain::json,
            OutputFormat::Table | OutputFormat::Csv | OutputFormat::Markdown => plain::lines,
        };
        Self {
            out,
            spell,
            rest: vec![],
        }
    }
}

impl<W: Write> Write for Spelled<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            Err(e) if e.error_len().is_none() => e.valid_up_to(),
            _ => self.rest.len(),
        };
        let text: Vec<u8> = self.rest.drain(..whole).collect();
        self.out
            .write_all((self.spell)(&String::from_utf8_lossy(&text)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(format: OutputFormat, text: &str) -> String {
        let mut terminal = Spelled::new(vec![], format);
        // The text is written byte by byte, so that characters of several bytes arrive in parts.
        text.bytes().for_each(|b| terminal.write_all(&[b]).unwrap());
        String::from_utf8(terminal.out).unwrap()
    }

    #[test]
    fn nothing_moves_the_cursor() {
        let text = "é,\"\u{1b}[2J\"\n\u{202e}\u{9b}\r,1\n";
        assert_eq!(
            sent(OutputFormat::Csv, text),
            "é,\"\\u{1b}[2J\"\n\\u{202e}\\u{9b}\\r,1\n"
        );
        assert_eq!(
            sent(OutputFormat::Ndjson, "{\"\u{9b}\":\"é\"}\n"),
            "{\"\\u009b\":\"é\"}\n"
        );
    }
}
