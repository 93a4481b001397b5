//! What the file of a command says, and what a command acts on.

use crate::cli::repl::names::Names;
use crate::cli::runner::Runner;
use crate::error::Result;

/// What the backslash commands act on.
pub struct Shell<'a> {
    /// What runs statements.
    pub runner: &'a mut Runner,
    /// What there is in the session.
    pub names: Names,
    /// Whether the time of each statement is shown.
    pub timing: bool,
    /// Every command.
    pub commands: &'static [Entry],
}

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
    pub(super) word: Option<&'static str>,
    /// What follows it, for help.
    pub(super) usage: &'static str,
    /// One line for people.
    pub(super) summary: &'static str,
    /// What it takes.
    pub argument: Argument,
    pub(super) run: fn(&mut Shell, &str) -> Result<Flow>,
}

impl Entry {
    /// Carries the command out.
    pub fn run(&self, shell: &mut Shell, argument: &str) -> Result<Flow> {
        (self.run)(shell, argument)
    }
}

/// An argument without blanks and a `;` out of habit.
pub(super) fn bare(argument: &str) -> &str {
    argument.trim().trim_end_matches(';').trim_end()
}
