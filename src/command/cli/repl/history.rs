//! The history file of the prompt.

use rustyline::history::{FileHistory, History};
use rustyline::{Editor, Helper};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The environment variable with the path of the history file. If its value is empty, no history is
/// kept.
const VARIABLE: &str = "ANONSQL_HISTORY";

/// Returns the path of the history file; `None` if no history is kept.
pub fn file() -> Option<PathBuf> {
    place(|name| std::env::var_os(name))
}

/// Returns the path of the history file; `None` if no history is kept. `variable` returns the value
/// of an environment variable.
fn place(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(file) = variable(VARIABLE) {
        return (!file.is_empty()).then(|| file.into());
    }
    let folder = |name: &str| variable(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let data = if cfg!(windows) {
        folder("APPDATA")?
    } else if cfg!(target_os = "macos") {
        folder("HOME")?.join("Library/Application Support")
    } else {
        // The XDG base directory specification requires that relative paths are ignored.
        folder("XDG_DATA_HOME")
            .filter(|p| p.is_absolute())
            .or_else(|| Some(folder("HOME")?.join(".local/share")))?
    };
    Some(data.join("anonsql").join("history"))
}

/// Appends the history since the last call to the file. Does nothing if the history is empty. If
/// writing fails, the error is ignored.
pub fn keep<H: Helper>(editor: &mut Editor<H, FileHistory>, file: &Path) {
    if editor.history().is_empty() {
        return;
    }
    if let Some(folder) = file.parent() {
        let _ = std::fs::create_dir_all(folder);
    }
    let _ = editor.append_history(file);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Option<PathBuf> {
        place(|name| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| v.into()))
    }

    #[test]
    fn the_variable_comes_first() {
        assert_eq!(with(&[(VARIABLE, ""), ("HOME", "/h")]), None);
        assert_eq!(with(&[(VARIABLE, "/x"), ("HOME", "/h")]), Some("/x".into()));
        assert_eq!(with(&[]), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_data_folder_of_the_user_is_used() {
        assert_eq!(with(&[("HOME", "/h")]), Some("/h/.local/share/anonsql/history".into()));
        let relative = with(&[("HOME", "/h"), ("XDG_DATA_HOME", "d")]);
        assert_eq!(relative, Some("/h/.local/share/anonsql/history".into()));
        assert_eq!(with(&[("XDG_DATA_HOME", "/d")]), Some("/d/anonsql/history".into()));
    }
}
