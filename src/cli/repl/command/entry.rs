//! The definition of a command, and the state that commands act on.

use crate::cli::repl::names::Names;
use crate::cli::runner::Runner;
use crate::error::Result;

/// The state that backslash commands act on.
pub struct Shell<'a> {
    /// The runner of statements.
    pub runner: &'a mut Runner,
    /// The names of the session.
    pub names: Names,
    /// Whether the time of each statement is shown.
    pub timing: bool,
    /// Every command.
    pub commands: &'static [Entry],
}

/// Whether the session continues after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// The session continues.
    Go,
    /// The session ends.
    Quit,
}

/// The kind of a command's argument, for completion.
#[derive(Debug, Clone, Copy)]
pub enum Argument {
    /// The command has no argument.
    None,
    /// A table or a hierarchy.
    Name,
    /// A file.
    File,
    /// A topic of help.
    Topic,
    /// One of these words.
    Words(&'static [&'static str]),
}

/// A backslash command.
pub struct Entry {
    /// The name of the command, with the backslash.
    pub name: &'static str,
    /// A word that, typed alone, runs the command too.
    pub(super) word: Option<&'static str>,
    /// The syntax of the arguments, for help.
    pub(super) usage: &'static str,
    /// A summary of the command in one line.
    pub(super) summary: &'static str,
    /// The kind of its argument.
    pub argument: Argument,
    pub(super) run: fn(&mut Shell, &str) -> Result<Flow>,
}

impl Entry {
    /// Runs the command.
    pub fn run(&self, shell: &mut Shell, argument: &str) -> Result<Flow> {
        (self.run)(shell, argument)
    }
}

/// Returns the argument without whitespace and without `;`, which users add out of habit.
pub(super) fn bare(argument: &str) -> &str {
    argument.trim().trim_end_matches(';').trim_end()
}
