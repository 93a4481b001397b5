//! Runs scripts, which are files of SQL statements.

use super::runner::Runner;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::quoting::literal;
use std::path::Path;

/// Runs the statements of a script file.
pub fn run_file(runner: &Runner, path: &Path) -> Result<()> {
    let sql = std::fs::read(path).map_err(|e| Error::io(path.display(), e).advised(meant(path)))?;
    if !path
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("sql"))
        && !is_text(&sql)
    {
        return Err(Error::usage(format!("{}: not a script of SQL", path.display())).advised(meant(path)));
    }
    runner
        .run_text(&text(sql, path.display())?)
        .map_err(|e| match e.kind() {
            ErrorKind::Interrupted => e,
            _ => e.context(path.display()),
        })
}

/// Returns advice for a path that is not a script, assuming that the user meant a statement or a
/// data file.
fn meant(path: &Path) -> String {
    let text = path.to_string_lossy();
    match text.contains(char::is_whitespace) && !path.exists() {
        true => format!("write a statement after -c: anonsql -c {text:?}"),
        false if path.exists() => format!(
            "read data in a statement: anonsql -c \"SELECT * FROM {}\"",
            literal(&text)
        ),
        false => "anonsql runs scripts; write a statement after -c".into(),
    }
}

fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok() && !bytes.contains(&0)
}

/// Returns the text of a script. Fails with `ErrorKind::Usage` if `bytes` is not valid UTF-8.
pub fn text(bytes: Vec<u8>, from: impl std::fmt::Display) -> Result<String> {
    let text = String::from_utf8(bytes).map_err(|e| {
        Error::usage(format!(
            "{from}: not UTF-8 at byte {}",
            e.utf8_error().valid_up_to() + 1
        ))
    })?;
    // Some editors write a byte order mark, which is not a part of the SQL.
    Ok(text
        .strip_prefix('\u{feff}')
        .map_or_else(|| text.clone(), str::to_string))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_utf_8() {
        assert_eq!(text("\u{feff}SELECT 1".into(), "a.sql").unwrap(), "SELECT 1");
        let error = text(vec![b'a', 0xff], "a.sql").unwrap_err();
        assert_eq!(error.to_string(), "a.sql: not UTF-8 at byte 2");
    }
}
