//! The backslash commands, each one file and one line here.

mod describe;
mod format;
mod help;
mod include;
mod plot;
mod quit;
mod rows;
mod timing;

use super::Shell;
use crate::error::{Error, Result};
use crate::session::Registry;

/// Whether the session goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// It goes on.
    Go,
    /// It ends.
    Quit,
}

/// What a command takes, for completion.
#[derive(Debug, Clone, Copy)]
pub enum Argument {
    /// Nothing.
    None,
    /// A table or a hierarchy.
    Name,
    /// A file.
    File,
    /// A word that help knows.
    Topic,
    /// One of these words.
    Words(&'static [&'static str]),
}

/// A command.
pub struct Entry {
    /// Its name, with the backslash.
    pub name: &'static str,
    /// A word that does the same where it stands alone.
    word: Option<&'static str>,
    /// What follows it, for help.
    usage: &'static str,
    /// One line for people.
    summary: &'static str,
    /// What it takes.
    pub argument: Argument,
    run: fn(&mut Shell, &str) -> Result<Flow>,
}

/// Every command.
pub const COMMANDS: &[Entry] = &[
    help::ENTRY,
    describe::ENTRY,
    include::ENTRY,
    plot::ENTRY,
    format::ENTRY,
    rows::ENTRY,
    timing::ENTRY,
    quit::ENTRY,
];

impl Entry {
    /// Carries the command out.
    pub fn run(&self, shell: &mut Shell, argument: &str) -> Result<Flow> {
        (self.run)(shell, argument)
    }
}

/// The command in what was typed and its argument; `None` if it is no command.
pub fn read(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    if text.starts_with('\\') {
        let (name, argument) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        return Some((name, argument.trim_start()));
    }
    let word = text.trim_end_matches(|c: char| c == ';' || c.is_whitespace());
    let same = |e: &&Entry| e.word.is_some_and(|w| w.eq_ignore_ascii_case(word));
    COMMANDS.iter().find(same).map(|e| (e.name, ""))
}

/// The command called `name`.
pub fn find(name: &str) -> Result<&'static Entry> {
    let name = name.trim_end_matches(';');
    let found = COMMANDS.iter().find(|e| e.name == name);
    // Quoted in a message, a backslash would be doubled.
    let plain = |name| str::trim_start_matches(name, '\\');
    found.ok_or_else(|| Error::unknown("command", plain(name), COMMANDS.iter().map(|e| plain(e.name))))
}

/// What help can be asked about.
pub fn topics(registry: &Registry) -> Vec<&'static str> {
    help::topics(registry)
}

/// An argument without blanks and a `;` out of habit.
fn bare(argument: &str) -> &str {
    argument.trim().trim_end_matches(';').trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_statements() {
        assert_eq!(read(" \\d  people"), Some(("\\d", "people")));
        assert_eq!(read("EXIT;"), Some(("\\q", "")));
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
        let error = find("\\timin").err().unwrap();
        assert!(error.to_string().contains("\"timing\""), "{error}");
    }
}
