//! `\i`: runs a script.

use super::entry::{Argument, Entry, Flow, Shell, bare};
use crate::cli::script::run_file;
use crate::error::{Error, Result};

pub(super) const ENTRY: Entry = Entry {
    name: "\\i",
    word: None,
    usage: "FILE",
    summary: "run the statements of a file",
    argument: Argument::File,
    run,
};

fn run(shell: &mut Shell, argument: &str) -> Result<Flow> {
    let path = bare(argument);
    let path = path
        .strip_prefix('\'')
        .and_then(|p| p.strip_suffix('\''))
        .unwrap_or(path);
    if path.is_empty() {
        return Err(Error::usage("\\i needs a file"));
    }
    run_file(shell.runner, path.as_ref())?;
    Ok(Flow::Go)
}
