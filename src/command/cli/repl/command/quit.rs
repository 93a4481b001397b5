//! `\q`: ends the session.

use super::entry::{CommandArgument, Entry, Flow};

pub(super) const ENTRY: Entry = Entry {
    name: "\\q",
    words: &["exit", "quit"],
    usage: "",
    summary: "end the session (also exit, quit or Ctrl-D)",
    argument: CommandArgument::None,
    run: |_, _| Ok(Flow::Quit),
};
