//! `\q`: ends the session.

use super::entry::{Argument, Entry, Flow};

pub(super) const ENTRY: Entry = Entry {
    name: "\\q",
    word: Some("exit"),
    usage: "",
    summary: "end the session (also exit, or Ctrl-D)",
    argument: Argument::None,
    run: |_, _| Ok(Flow::Quit),
};
