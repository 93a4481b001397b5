//! `\rows`: sets the maximum number of rows that are printed of a table.

use super::entry::{CommandArgument, Entry, Flow, Shell, bare};
use crate::base::error::{Error, Result};

pub(super) const ENTRY: Entry = Entry {
    name: "\\rows",
    words: &[],
    usage: "[n|all]",
    summary: "show at most n rows of a table",
    argument: CommandArgument::Words(&["all"]),
    run,
};

fn run(shell: &mut Shell, argument: &str) -> Result<Flow> {
    let max_rows = &mut shell.runner.printing_mut().max_rows;
    match bare(argument) {
        "" => {}
        "all" | "0" => *max_rows = None,
        number => match number.parse() {
            Ok(rows) => *max_rows = Some(rows),
            Err(_) => return Err(Error::usage(format!("\\rows takes a number or all, not {number:?}"))),
        },
    }
    let said = match max_rows {
        Some(rows) => format!("At most {rows} rows of a table are shown."),
        None => "All rows of a table are shown.".into(),
    };
    shell.runner.note(&said);
    Ok(Flow::Go)
}
