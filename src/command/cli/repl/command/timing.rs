//! `\timing`: turns on or off whether the duration of each statement is shown.

use super::entry::{CommandArgument, Entry, Flow, Shell, switch};
use crate::base::error::Result;

pub(super) const ENTRY: Entry = Entry {
    name: "\\timing",
    words: &[],
    usage: "[on|off]",
    summary: "show how long each statement takes",
    argument: CommandArgument::Words(&["on", "off"]),
    run,
};

fn run(shell: &mut Shell, argument: &str) -> Result<Flow> {
    shell.timing = switch("setting of \\timing", argument, shell.timing)?;
    shell.runner.note(if shell.timing {
        "Timing is on."
    } else {
        "Timing is off."
    });
    Ok(Flow::Go)
}
