//! `\dm`: lists privacy models, metrics, searches and kinds of hierarchies.

use super::entry::{CommandArgument, Entry, Flow};
use super::help;

pub(super) const ENTRY: Entry = Entry {
    name: "\\dm",
    words: &[],
    usage: "",
    summary: "list privacy models, metrics, searches and kinds of hierarchies",
    argument: CommandArgument::None,
    run: |shell, _| {
        let registry = shell.runner.context().registry();
        shell.runner.say(help::named(&registry).trim_end())?;
        Ok(Flow::Go)
    },
};
