//! `\!`: runs a command of the operating system's shell.

use super::entry::{CommandArgument, Entry, Flow, Shell};
use crate::base::error::{Error, Result};
use std::process::Command;

pub(super) const ENTRY: Entry = Entry {
    name: "\\!",
    words: &[],
    usage: "[COMMAND]",
    summary: "run a command of the shell, or a shell",
    argument: CommandArgument::Shell,
    run,
};

fn run(shell: &mut Shell, argument: &str) -> Result<Flow> {
    let mut command = match argument.trim() {
        "" => Command::new(std::env::var_os("SHELL").unwrap_or_else(|| "sh".into())),
        line => {
            let mut command = Command::new("sh");
            command.args(["-c", line]);
            command
        }
    };
    let status = command.status().map_err(|e| Error::io("cannot start a shell", e))?;
    if !status.success() {
        shell.runner.note(&format!("The command ended with {status}."));
    }
    Ok(Flow::Go)
}
