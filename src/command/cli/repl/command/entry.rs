//! The definition of backslash commands, and the state that they use.

use crate::base::error::{Error, Result};
use crate::command::cli::repl::draft::IncompleteStatement;
use crate::command::cli::repl::names::Names;
use crate::command::cli::runner::Runner;

/// The state that backslash commands use.
pub struct Shell<'a> {
    /// The runner that executes statements.
    pub runner: &'a mut Runner,
    /// The names of the objects in the session.
    pub names: Names,
    /// Whether the duration of each statement is shown.
    pub timing: bool,
    /// The typed lines of the current statement.
    pub draft: IncompleteStatement,
    /// The text of the statements that ran last.
    pub last: String,
    /// All commands.
    pub commands: &'static [Entry],
}

/// The effect of a command on the interactive session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flow {
    /// The session continues.
    Go,
    /// The session ends.
    Quit,
    /// The session continues, and handles this text as if the user had typed it.
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
    /// A command for the operating system's shell, whose words may be files.
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
    /// Alternative words for the command, which need no backslash.
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

/// Returns the argument without surrounding whitespace, and without a final `;`, which users type
/// out of habit.
pub(super) fn bare(argument: &str) -> &str {
    argument.trim().trim_end_matches(';').trim_end()
}

/// Returns the path that an argument contains, without surrounding quotes.
pub(super) fn path(argument: &str) -> &str {
    let path = bare(argument);
    let inner = path.strip_prefix('\'').and_then(|p| p.strip_suffix('\''));
    inner.unwrap_or(path)
}

/// Returns the new state of a switch called `what`: true for `on`, false for `off`, and the
/// opposite of `now` for an empty argument. Fails with `ErrorKind::Usage` for any other argument.
pub(super) fn switch(what: &str, argument: &str, now: bool) -> Result<bool> {
    match bare(argument) {
        "" => Ok(!now),
        "on" => Ok(true),
        "off" => Ok(false),
        other => Err(Error::unknown(what, other, ["on", "off"])),
    }
}

/// Returns the error for a command that configures the terminal while results are not shown on a
/// terminal.
pub(super) fn no_terminal() -> Error {
    Error::usage("results are not shown on a terminal; \\format sets how they are written")
}
