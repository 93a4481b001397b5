//! `\dt`: lists tables and views.

use super::describe::TABLES;
use super::entry::{CommandArgument, Entry, Flow};

pub(super) const ENTRY: Entry = Entry {
    name: "\\dt",
    words: &[],
    usage: "",
    summary: "list tables and views",
    argument: CommandArgument::None,
    run: |shell, _| {
        shell.runner.run_text(&format!("{TABLES} ORDER BY name"))?;
        Ok(Flow::Go)
    },
};
