//! `\x`: shows results in expanded form, with one line for each value.

use super::entry::{CommandArgument, Entry, Flow, Shell, bare, no_terminal};
use crate::base::error::{Error, Result};
use crate::command::cli::output::Expanded;

pub(super) const ENTRY: Entry = Entry {
    name: "\\x",
    words: &[],
    usage: "[on|off|auto]",
    summary: "show one line for each value; auto: only if the result is too wide for a table and fits on the screen",
    argument: CommandArgument::Words(&["on", "off", "auto"]),
    run,
};

fn run(shell: &mut Shell, argument: &str) -> Result<Flow> {
    let Some(screen) = &mut shell.runner.printing_mut().screen else {
        return Err(no_terminal());
    };
    screen.expanded = match (bare(argument), screen.expanded) {
        ("on", _) => Expanded::On,
        ("off", _) => Expanded::Off,
        ("auto", _) => Expanded::Auto,
        ("", Expanded::On) => Expanded::Off,
        ("", _) => Expanded::On,
        (other, _) => return Err(Error::unknown("setting of \\x", other, ["on", "off", "auto"])),
    };
    let said = match screen.expanded {
        Expanded::On => "Every value has its own line.",
        Expanded::Off => "Results are tables.",
        Expanded::Auto => "Each value has its own line if a table would be too wide, and the lines fit on the screen.",
    };
    shell.runner.note(said);
    Ok(Flow::Go)
}
