//! Formats and reports error messages for users.

use super::log::Log;
use super::output;
use crate::base::error::Error;
use crate::base::plain;
use std::io::Write;

/// Prefixes with which DataFusion names the component that failed. They do not help the author of
/// the SQL.
const PREFIXES: &[&str] = &[
    "Error during planning: ",
    "SQL error: ",
    "Schema error: ",
    "Execution error: ",
    "Arrow error: ",
    "Object Store error: ",
    "External error: ",
    "IO error: ",
    "Invalid or Unsupported Configuration: ",
    "This feature is not implemented: ",
    "Diagnostics: ",
];

/// Returns the message of `error` without the debug notation of other crates. Its first letter is
/// in lower case.
pub fn readable(error: &Error) -> String {
    let mut text = error.message();
    // In a chain of contexts, the last part is the cause, which the user can fix.
    if let Some((_, cause)) = text.rsplit_once("\ncaused by\n") {
        text = cause;
    }
    while let Some(rest) = PREFIXES.iter().find_map(|p| text.strip_prefix(p)) {
        text = rest;
    }
    let inner = ["ParserError(\"", "TokenizerError(\""]
        .iter()
        .find_map(|p| text.strip_prefix(p)?.strip_suffix("\")"));
    let text = match inner {
        Some(quoted) => quoted.replace("\\\"", "\"").replace("\\n", "\n").replace("\\'", "'"),
        None => text.to_string(),
    };
    lower_first(text.trim())
}

/// Returns the text with its first letter in lower case, unless it begins with an abbreviation, a
/// keyword or a name.
fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(first), Some(second))
            if first.is_uppercase() && !second.is_uppercase() && !text.starts_with("Parquet ") =>
        {
            first.to_lowercase().chain(text.chars().skip(1)).collect()
        }
        _ => text.to_string(),
    }
}

/// Writes an error to standard error, or to the log if it is enabled.
pub fn report(error: &Error, log: &Log) {
    if output::reader_gone() {
        return;
    }
    let message = readable(error);
    if log.enabled() {
        log.event(
            "error",
            [
                ("kind", format!("{:?}", error.kind()).into()),
                ("message", message.into()),
                ("exit_code", error.exit_code().into()),
            ],
        );
        return;
    }
    let label = console::style("error:").red().bold().for_stderr();
    // A failed write is ignored: if standard error is closed, nobody reads it.
    let _ = writeln!(std::io::stderr(), "{label} {}", plain::lines(&message));
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::prelude::SessionContext;

    #[test]
    fn debug_noise_is_taken_off() {
        for (raw, wanted) in [
            (
                "Error during planning: table 'a.b.c' not found",
                "table 'a.b.c' not found",
            ),
            (
                "SQL error: ParserError(\"Expected: \\\"x\\\", found: y\")",
                "expected: \"x\", found: y",
            ),
            ("type_coercion\ncaused by\nError during planning: No way", "no way"),
            ("SELECT needs a list", "SELECT needs a list"),
            ("Parquet error: EOF: x", "Parquet error: EOF: x"),
            ("the k of 0", "the k of 0"),
            ("", ""),
        ] {
            assert_eq!(readable(&Error::usage(raw)), wanted);
        }
    }

    #[tokio::test]
    async fn errors_of_datafusion_read_well() {
        let context = SessionContext::new();
        for sql in [
            "SELEC 1",
            "SELECT * FROM nowhere",
            "SELECT x",
            "SELECT 'a' + DATE '2020-01-01' + true",
        ] {
            let text = readable(&context.sql(sql).await.unwrap_err().into());
            assert!(text.starts_with(|c: char| !c.is_uppercase()), "{text}");
            for noise in ["Error(", "Error during", "caused by", "backtrace"] {
                assert!(!text.contains(noise), "{text}");
            }
        }
    }
}
