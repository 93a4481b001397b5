//! `\e`: opens the typed lines, or the last statement, in the user's editor.

use super::entry::{CommandArgument, Entry, Flow, Shell};
use crate::base::error::{Error, Result};
use crate::command::cli::script::text;
use std::io::Write;
use std::process::Command;

pub(super) const ENTRY: Entry = Entry {
    name: "\\e",
    words: &[],
    usage: "",
    summary: "edit the typed lines, or the last statement, with $EDITOR, and run them",
    argument: CommandArgument::None,
    run,
};

/// The default editor.
const USUAL: &str = "vi";

fn run(shell: &mut Shell, _: &str) -> Result<Flow> {
    let typed = match shell.draft.text() {
        "" => shell.last.clone(),
        lines => lines.to_string(),
    };
    let named = ["VISUAL", "EDITOR"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|e| !e.trim().is_empty()));
    let edited = edited(&named.unwrap_or_else(|| USUAL.into()), &typed)?;
    if edited.trim() == typed.trim() && shell.draft.text().is_empty() {
        shell.runner.note("Nothing was changed, so nothing was run.");
        return Ok(Flow::Go);
    }
    shell.draft.take();
    shell.runner.note(edited.trim_end());
    Ok(Flow::Type(edited))
}

/// Opens the text `typed` in the editor, and returns the edited text. Fails with `ErrorKind::Usage`
/// if the editor fails.
fn edited(editor: &str, typed: &str) -> Result<String> {
    let unusable = |e| Error::io("the file for the editor", e);
    // Only the user can read the file. It is deleted afterwards.
    let mut file = tempfile::Builder::new().suffix(".sql").tempfile().map_err(unusable)?;
    file.write_all(typed.as_bytes()).map_err(unusable)?;
    let path = file.into_temp_path();
    let done = Command::new("sh")
        .args(["-c", &format!("{editor} \"$1\""), "sh"])
        .arg(&path)
        .status()
        .map_err(|e| Error::io(format!("the editor {editor}"), e))?;
    if !done.success() {
        return Err(Error::usage(format!(
            "the editor {editor:?} failed; set EDITOR to another one"
        )));
    }
    let bytes = std::fs::read(&path).map_err(unusable)?;
    text(bytes, "the edited text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_editor_leaves_is_returned() {
        let editor = "sed -i s/1/2/";
        assert_eq!(edited(editor, "SELECT 1;\n").unwrap(), "SELECT 2;\n");
        let error = edited("false", "SELECT 1").unwrap_err().to_string();
        assert!(error.contains("set EDITOR"), "{error}");
    }
}
