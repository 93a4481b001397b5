//! `\i`: runs a script.

use super::entry::{CommandArgument, Entry, Flow, Shell, path};
use crate::base::error::{Error, Result};
use crate::command::cli::script::run_file;

pub(super) const ENTRY: Entry = Entry {
    name: "\\i",
    words: &[],
    usage: "FILE",
    summary: "run the statements of a file",
    argument: CommandArgument::File,
    run,
};

fn run(shell: &mut Shell, argument: &str) -> Result<Flow> {
    let path = path(argument);
    if path.is_empty() {
        return Err(Error::usage("\\i needs a file: \\i release.sql"));
    }
    run_file(shell.runner, path.as_ref())?;
    Ok(Flow::Go)
}
