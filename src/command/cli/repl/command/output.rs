//! `\o`: writes results to a file.

use super::entry::{CommandArgument, Entry, Flow, Shell, path};
use crate::base::error::{Error, Result};
use crate::command::cli::output::{Destination, Held};
use std::fs::File;
use std::sync::Arc;

pub(super) const ENTRY: Entry = Entry {
    name: "\\o",
    words: &[],
    usage: "[FILE]",
    summary: "send results to a file, which is replaced; without a file, show them again",
    argument: CommandArgument::File,
    run,
};

fn run(shell: &mut Shell, argument: &str) -> Result<Flow> {
    let path = path(argument);
    let printing = shell.runner.printing_mut();
    printing.to = match path {
        "" if printing.screen.is_some() => Destination::Held(Held::default()),
        "" => Destination::Standard,
        path if path.starts_with('|') => {
            return Err(Error::usage(
                "\\o takes a file; a command reads results from a file: \\o rows.csv, then \\! COMMAND < rows.csv",
            ));
        }
        path => Destination::File(Arc::new(File::create(path).map_err(|e| Error::io(path, e))?)),
    };
    let said = match path {
        "" => "Results are shown here.".into(),
        path => format!("Results go to {path}; \\o shows them here again."),
    };
    shell.runner.note(&said);
    Ok(Flow::Go)
}
