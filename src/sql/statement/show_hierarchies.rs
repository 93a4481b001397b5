//! `SHOW HIERARCHIES`: the hierarchies of the session.

use super::{Entry, Statement};

pub(super) const ENTRY: Entry = Entry {
    name: "SHOW HIERARCHIES",
    starts: &["SHOW HIERARCHIES"],
    summary: "lists the hierarchies of the session",
    syntax: "SHOW HIERARCHIES",
    example: "SHOW HIERARCHIES",
    parse: |_, _| Ok(Statement::ShowHierarchies),
};
