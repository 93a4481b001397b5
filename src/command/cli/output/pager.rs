//! Shows text that is longer than the screen in the user's pager.

use super::screen::Screen;
use super::standard::StandardOutput;
use crate::command::cli::typing;
use console::measure_text_width;
use std::io::{ErrorKind, Result, Write};
use std::process::{Command, Stdio};

/// The default pager.
const USUAL: &str = "less";
/// The options for `less` if the user has not set any: exit at once if the text fits, keep colours,
/// and leave the text on the screen.
const LESS: &str = "FRX";
/// The exit code of a shell if it does not find a command.
const NOT_FOUND: i32 = 127;

/// Prints a text on standard output. If `with_pager` is true and the text is longer than the
/// screen, it is shown in a pager.
pub fn show(text: &[u8], screen: Option<&Screen>, with_pager: bool) -> Result<()> {
    let pager = std::env::var("PAGER").unwrap_or_else(|_| if is_there(USUAL) { USUAL } else { "" }.into());
    let long = screen.is_some_and(|s| is_long(&String::from_utf8_lossy(text), s));
    // A pager would consume the keys that the user has already typed for the prompt.
    if with_pager && long && !pager.trim().is_empty() && !typing::is_waiting() && paged(&pager, text)? {
        return Ok(());
    }
    let mut out = StandardOutput::new();
    out.write_all(text).and_then(|()| out.flush())
}

/// Returns true if the text does not fit on the screen together with a line for the prompt.
fn is_long(text: &str, screen: &Screen) -> bool {
    let width = screen.columns.max(1);
    let height = |line| measure_text_width(line).div_ceil(width).max(1);
    let mut left = screen.lines.saturating_sub(1);
    text.lines().any(|line| {
        let fits = height(line) <= left;
        left = left.saturating_sub(height(line));
        !fits
    })
}

/// Returns true if a folder in `PATH` contains the command.
fn is_there(command: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(command).is_file())
}

/// Runs the pager until it exits. Returns false if the command does not exist.
fn paged(pager: &str, text: &[u8]) -> Result<bool> {
    let mut command = Command::new("sh");
    command.args(["-c", pager]).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", LESS);
    }
    let Ok(mut child) = command.spawn() else {
        return Ok(false);
    };
    if let Some(mut stdin) = child.stdin.take() {
        match stdin.write_all(text) {
            // The pipe is closed if the user has quit the pager, or if the command does not exist.
            Err(e) if e.kind() == ErrorKind::BrokenPipe => {}
            done => done?,
        }
    }
    Ok(child.wait()?.code() != Some(NOT_FOUND))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::cli::output::Expanded;

    #[test]
    fn a_screen_has_lines_for_text_and_prompt() {
        let screen = Screen {
            columns: 10,
            lines: 4,
            expanded: Expanded::Auto,
            null: "NULL".into(),
            colours: false,
            prompts: true,
        };
        assert!(!is_long("a\nb\nc\n", &screen));
        assert!(is_long("a\nb\nc\nd\n", &screen));
        assert!(is_long("a\n0123456789a\nb\n", &screen), "a long line takes two");
    }

    #[test]
    fn a_pager_gets_the_text_and_a_missing_one_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("seen");
        assert!(paged(&format!("cat > '{}'", file.display()), b"a\nb\n").unwrap());
        assert_eq!(std::fs::read_to_string(file).unwrap(), "a\nb\n");
        assert!(!paged("no-such-pager-anywhere", b"a\n").unwrap());
        assert!(
            paged("true", &vec![b'a'; 1 << 20]).unwrap(),
            "a pager that is left early is not an error"
        );
    }
}
