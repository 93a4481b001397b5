//! What is made from the declaration of the arguments: completions of shells, and the manual page.

use super::args::{Args, EXAMPLES, version};
use crate::error::{Error, Result};
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use std::io::Write;

/// Prints the completions of a shell.
pub fn completions(shell: Shell) -> Result<()> {
    let mut text = vec![];
    clap_complete::generate(shell, &mut shown(), "anonsql", &mut text);
    print(&text)
}

/// Prints the manual page.
pub fn manual() -> Result<()> {
    let mut text = vec![];
    let rendered = clap_mangen::Man::new(shown()).render(&mut text);
    rendered.map_err(|e| Error::io("the manual page", e))?;
    print(&text)
}

fn print(text: &[u8]) -> Result<()> {
    let mut out = std::io::stdout();
    let written = out.write_all(text).and_then(|()| out.flush());
    written.map_err(|e| Error::io("standard output", e))
}

/// Returns the command without its hidden jobs.
fn shown() -> Command {
    let all = Args::command();
    let jobs: Vec<Command> = all
        .get_subcommands()
        .filter(|job| !job.is_hide_set())
        .cloned()
        .collect();
    Command::new("anonsql")
        .version(version())
        .about(all.get_about().cloned().unwrap_or_default())
        .args(all.get_arguments().cloned())
        .after_help(EXAMPLES)
        .args_conflicts_with_subcommands(true)
        .subcommands(jobs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_jobs_stay_hidden() {
        let command = shown();
        let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        assert_eq!(names, ["completions", "man"]);
        assert!(command.get_arguments().any(|a| a.get_id() == "variable"));
        command.debug_assert();
    }
}
