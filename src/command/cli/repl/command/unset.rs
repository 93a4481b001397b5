//! `\unset`: removes a variable, like UNSET VARIABLE.

use super::entry::{CommandArgument, Entry, Flow, bare};
use crate::base::error::Error;

pub(super) const ENTRY: Entry = Entry {
    name: "\\unset",
    words: &[],
    usage: "NAME",
    summary: "forget a variable",
    argument: CommandArgument::None,
    run: |shell, argument| match bare(argument) {
        "" => Err(Error::usage("\\unset needs the name of a variable; \\set lists them")),
        name => {
            shell.runner.run_text(&format!("UNSET VARIABLE {name}"))?;
            Ok(Flow::Go)
        }
    },
};
