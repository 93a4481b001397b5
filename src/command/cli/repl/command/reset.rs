//! `\r`: discards the lines of an incomplete statement.

use super::entry::{CommandArgument, Entry, Flow};

pub(super) const ENTRY: Entry = Entry {
    name: "\\r",
    words: &[],
    usage: "",
    summary: "discard the lines that are typed so far (also Ctrl-C)",
    argument: CommandArgument::None,
    run: |shell, _| {
        shell.draft.take();
        shell.runner.note("The typed lines are discarded.");
        Ok(Flow::Go)
    },
};
