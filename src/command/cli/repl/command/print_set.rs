//! `\pset`: sets how tables appear on the terminal.

use super::entry::{CommandArgument, Entry, Flow, Shell, no_terminal, switch};
use crate::base::error::{Error, Result};

pub(super) const ENTRY: Entry = Entry {
    name: "\\pset",
    words: &[],
    usage: "[null TEXT | pager on|off]",
    summary: "set the text for NULL, or whether a pager shows long results",
    argument: CommandArgument::Words(SETTINGS),
    run,
};

const SETTINGS: &[&str] = &["null", "pager"];

fn run(shell: &mut Shell, argument: &str) -> Result<Flow> {
    let printing = shell.runner.printing_mut();
    let Some(screen) = &mut printing.screen else {
        return Err(no_terminal());
    };
    let (name, value) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    match name.trim_end_matches(';') {
        "" => {}
        "null" => screen.null = text(value),
        "pager" => printing.pager = switch("setting of \\pset pager", value, printing.pager)?,
        other => return Err(Error::unknown("setting of \\pset", other, SETTINGS.iter().copied())),
    }
    let said = format!(
        "NULL is shown as '{}'. {}",
        screen.null,
        match printing.pager {
            true => "A pager shows long results.",
            false => "No pager is used.",
        }
    );
    shell.runner.note(&said);
    Ok(Flow::Go)
}

/// Returns the argument without surrounding quotes, but with any spaces within them.
fn text(argument: &str) -> String {
    let text = argument.trim();
    let inner = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\''));
    inner.map_or(text.to_string(), |t| t.replace("''", "'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_spaces() {
        assert_eq!(text(" ∅ "), "∅");
        assert_eq!(text("' '"), " ");
        assert_eq!(text("''"), "");
        assert_eq!(text("'it''s'"), "it's");
    }
}
