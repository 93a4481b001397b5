//! The definition of a command, and the state that commands act on.

use crate::cli::repl::draft::Draft;
use crate::cli::repl::names::Names;
use crate::cli::runner::Runner;
use crate::error::{Error, Result};

/// The state that backslash commands act on.
pub struct Shell<'a> {
    /// The runner of statements.
    pub runner: &'a mut Runner,
    /// The names of the session.
    pub names: Names,
    /// Whether the time of each statement is shown.
    pub timing: bool,
    /// The statement that is being typed.
    pub draft: Draft,
    /// The last statements that ran.
    pub last: String,
    /// Every command.
    pub commands: &'static [Entry],
}

/// Whether the session continues after a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flow {
    /// The session continues.
    Go,
    /// The session ends.
    Quit,
    /// The session continues with this text as if the user had typed it.
    Type(String),
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
    /// A command of the shell, whose words may be files.
    Shell,
    /// A topic of help.
    Topic,
    /// One of these words.
    Words(&'static [&'static str]),
}

/// A backslash command.
pub struct Entry {
    /// The name of the command, with the backslash.
    pub name: &'static str,
    /// Words that also run the command if they are typed alone.
    pub(super) words: &'static [&'static str],
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

/// Returns the path that an argument names, without quotes around it.
pub(super) fn path(argument: &str) -> &str {
    let path = bare(argument);
    let inner = path.strip_prefix('\'').and_then(|p| p.strip_suffix('\''));
    inner.unwrap_or(path)
}

/// Reads `on` or `off`; without an argument, the switch is toggled. Fails with a usage error for
/// anything else.
pub(super) fn switch(what: &str, argument: &str, now: bool) -> Result<bool> {
    match bare(argument) {
        "" => Ok(!now),
        "on" => Ok(true),
        "off" => Ok(false),
        other => Err(Error::unknown(what, other, ["on", "off"])),
    }
}

/// Returns the error of a command that changes how a terminal shows results, if there is no
/// terminal.
pub(super) fn no_terminal() -> Error {
    Error::usage("results are not shown on a terminal; \\format sets how they are written")
}
