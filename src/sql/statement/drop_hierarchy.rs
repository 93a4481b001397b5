//! `DROP HIERARCHY`: forgets a hierarchy.

use super::{Entry, Statement};

pub(super) const ENTRY: Entry = Entry {
    name: "DROP HIERARCHY",
    starts: &["DROP HIERARCHY"],
    summary: "forgets a hierarchy",
    syntax: "DROP HIERARCHY [IF EXISTS] name",
    example: "DROP HIERARCHY IF EXISTS age",
    parse: |c, _| {
        let if_exists = c.take("IF EXISTS");
        Ok(Statement::DropHierarchy {
            name: c.name("a hierarchy")?,
            if_exists,
        })
    },
};
