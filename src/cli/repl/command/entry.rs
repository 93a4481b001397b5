//! The definition of a backslash command, and the state that commands use.

use crate::cli::repl::draft::IncompleteStatement;
use crate::cli::repl::names::Names;
use crate::cli::runner::Runner;
use crate::error::{Error, Result};

/// The state that backslash commands use.
pub struct Shell<'a> {
    /// The runner that executes statements.
    pub runner: &'a mut Runner,
    /// The names of the session.
    pub names: Names,
    /// Whether the duration of each statement is shown.
    pub timing: bool,
    /// The typed lines of the current statement.
    pub draft: IncompleteStatement,
    /// The text of the last statements that ran.
    pub last: String,
    /// All commands.
    pub commands: &'static [Entry],
}

/// The effect of a command on the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flow {
    /// The session continues.
    Go,
    /// The session ends.
    Quit,
    /// The session continues, and treats this text as typed.
    Type(String),
}

/// The kind of a command's argument, for completion.
#[derive(Debug, Clone, Copy)]
pub enum CommandArgument {
    /// The command has no argument.
    None,
    /// A table or a hierarchy.
    Name,
    /// The path of a file.
    File,
    /// A command of the operating system's shell. Its words may be files.
    Shell,
    /// A help topic.
    Topic,
    /// One of these words.
    Words(&'static [&'static str]),
}

/// A backslash command.
pub struct Entry {
    /// The name of the command, with the backslash.
    pub name: &'static str,
    /// Words that also run the command when they are typed alone.
    pub(super) words: &'static [&'static str],
    /// The syntax of the arguments, for help.
    pub(super) usage: &'static str,
    /// A summary of the command in one line.
    pub(super) summary: &'static str,
    /// The kind of the command's argument.
    pub argument: CommandArgument,
    pub(super) run: fn(&mut Shell, &str) -> Result<Flow>,
}

impl Entry {
    /// Runs the command.
    pub fn run(&self, shell: &mut Shell, argument: &str) -> Result<Flow> {
        (self.run)(shell, argument)
    }
}

/// Returns the argument without surrounding whitespace and without a final `;`, which users add out
/// of habit.
pub(super) fn bare(argument: &str) -> &str {
    argument.trim().trim_end_matches(';').trim_end()
}

/// Returns the path in an argument, without surrounding quotes.
pub(super) fn path(argument: &str) -> &str {
    let path = bare(argument);
    let inner = path.strip_prefix('\'').and_then(|p| p.strip_suffix('\''));
    inner.unwrap_or(path)
}

/// Returns the new state of a switch: `on`, `off`, or the opposite of `now` if the argument is
/// empty. Fails with `ErrorKind::Usage` for any other argument.
pub(super) fn switch(what: &str, argument: &str, now: bool) -> Result<bool> {
    match bare(argument) {
        "" => Ok(!now),
        "on" => Ok(true),
        "off" => Ok(false),
        other => Err(Error::unknown(what, other, ["on", "off"])),
    }
}

/// Returns the error for a command that configures a terminal, if results are not shown on a
/// terminal.
pub(super) fn no_terminal() -> Error {
    Error::usage("results are not shown on a terminal; \\format sets how they are written")
}
