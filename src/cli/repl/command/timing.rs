//! `\timing`: switches the display of the time of each statement.

use super::entry::{Argument, Entry, Flow, Shell, bare};
use crate::error::{Error, Result};

pub(super) const ENTRY: Entry = Entry {
    name: "\\timing",
    word: None,
    usage: "[on|off]",
    summary: "show how long each statement takes",
    argument: Argument::Words(&["on", "off"]),
    run,
};

fn run(shell: &mut Shell, argument: &str) -> Result<Flow> {
    shell.timing = match bare(argument) {
        "" => !shell.timing,
        "on" => true,
        "off" => false,
        other => return Err(Error::unknown("setting of \\timing", other, ["on", "off"])),
    };
    shell.runner.note(if shell.timing {
        "Timing is on."
    } else {
        "Timing is off."
    });
    Ok(Flow::Go)
}
