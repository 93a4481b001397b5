//! `\rows`: sets how many rows of a table are shown.

use super::entry::{Argument, Entry, Flow, Shell, bare};
use crate::error::{Error, Result};

pub(super) const ENTRY: Entry = Entry {
    name: "\\rows",
    word: None,
    usage: "[n|all]",
    summary: "show at most n rows of a table",
    argument: Argument::Words(&["all"]),
    run,
};

fn run(shell: &mut Shell, argument: &str) -> Result<Flow> {
    match bare(argument) {
        "" => {}
        "all" | "0" => *shell.runner.max_rows() = None,
        number => match number.parse() {
            Ok(rows) => *shell.runner.max_rows() = Some(rows),
            Err(_) => return Err(Error::usage(format!("\\rows takes a number or all, not {number:?}"))),
        },
    }
    let rows = shell
        .runner
        .max_rows()
        .map_or("All rows of a table are shown.".into(), |n| {
            format!("At most {n} rows of a table are shown.")
        });
    shell.runner.note(&rows);
    Ok(Flow::Go)
}
