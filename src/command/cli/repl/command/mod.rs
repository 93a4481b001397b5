//! The backslash commands. Each command is implemented in its own file, and has one line in
//! [`COMMANDS`].

mod catalogs;
mod describe;
mod edit;
mod entry;
mod expanded;
mod format;
mod help;
mod include;
mod models;
mod output;
mod plot;
mod print_set;
mod quit;
mod reset;
mod rows;
mod set;
mod shell;
mod tables;
mod timing;
mod unset;

pub use entry::{CommandArgument, Entry, Flow, Shell};

use crate::base::error::{Error, Result};
use crate::language::session::Registry;

/// All commands.
pub const COMMANDS: &[Entry] = &[
    help::ENTRY,
    describe::ENTRY,
    tables::ENTRY,
    catalogs::ENTRY,
    models::ENTRY,
    include::ENTRY,
    edit::ENTRY,
    reset::ENTRY,
    set::ENTRY,
    unset::ENTRY,
    output::ENTRY,
    expanded::ENTRY,
    format::ENTRY,
    rows::ENTRY,
    print_set::ENTRY,
    timing::ENTRY,
    plot::ENTRY,
    shell::ENTRY,
    quit::ENTRY,
];

/// Returns the name, the arguments and the summary of each command.
#[cfg(feature = "internal-api")]
pub fn described() -> Vec<(&'static str, &'static str, &'static str)> {
    COMMANDS.iter().map(|c| (c.name, c.usage, c.summary)).collect()
}

/// Splits a text into the name and the argument of a command; returns `None` if the text is not a
/// command.
pub fn read(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    if text.starts_with('\\') {
        let (name, argument) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        return Some((name, argument.trim_start()));
    }
    let word = text.trim_end_matches(|c: char| c == ';' || c.is_whitespace());
    let same = |e: &&Entry| e.words.iter().any(|w| w.eq_ignore_ascii_case(word));
    COMMANDS.iter().find(same).map(|e| (e.name, ""))
}

/// Returns the command called `name`. Fails with `ErrorKind::Usage` if there is no such command;
/// the error suggests similar names.
pub fn find(name: &str) -> Result<&'static Entry> {
    let name = name.trim_end_matches(';');
    let found = COMMANDS.iter().find(|e| e.name == name);
    // Quoted in a message, the name would show its backslash twice.
    let plain = |name| str::trim_start_matches(name, '\\');
    found.ok_or_else(|| match name {
        // psql uses these names for its help command.
        "\\h" | "\\help" => Error::usage("there is no command \"h\"; \\? helps, and \\? ANONYMIZE on a statement"),
        _ => Error::unknown("command", plain(name), COMMANDS.iter().map(|e| plain(e.name))),
    })
}

/// Returns all help topics.
pub fn topics(registry: &Registry) -> Vec<&'static str> {
    help::topics(registry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_statements() {
        assert_eq!(read(" \\d  people"), Some(("\\d", "people")));
        assert_eq!(read("EXIT;"), Some(("\\q", "")));
        assert_eq!(read("quit"), Some(("\\q", "")));
        assert_eq!(read("help"), Some(("\\?", "")));
        assert_eq!(read("SELECT '\\d'"), None);
        assert_eq!(read(""), None);
    }

    #[test]
    fn names_are_unique_and_the_nearest_is_told() {
        for (i, entry) in COMMANDS.iter().enumerate() {
            assert_eq!(find(entry.name).unwrap().summary, entry.summary);
            assert!(COMMANDS[..i].iter().all(|e| e.name != entry.name), "{}", entry.name);
        }
        let error = find("\\h").err().unwrap();
        assert!(error.to_string().contains("\\? helps"), "{error}");
        let error = find("\\timin").err().unwrap();
        assert!(error.to_string().contains("\"timing\""), "{error}");
    }

    #[test]
    fn the_book_lists_every_command() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/src/repl.md");
        let listed = help::listed(COMMANDS).replace("Commands:\n", "");
        let lines: Vec<&str> = listed
            .trim_end()
            .lines()
            .map(|l| l.trim_end().trim_start_matches("  "))
            .collect();
        let wanted = format!("```text\n{}\n```", lines.join("\n"));
        let text = std::fs::read_to_string(page).unwrap();
        assert!(text.contains(&wanted), "docs/src/repl.md has to contain\n{wanted}");
    }
}
