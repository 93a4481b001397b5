//! `CHECK HIERARCHY`: how far a hierarchy covers a column, before a run.

use super::{Entry, Statement};

pub(super) const ENTRY: Entry = Entry {
    name: "CHECK HIERARCHY",
    starts: &["CHECK HIERARCHY"],
    summary: "counts the values and rows of a column that a hierarchy maps, before a run",
    syntax: "CHECK HIERARCHY name FOR table.column",
    example: "CHECK HIERARCHY age FOR people.age",
    parse: |c, _| {
        let name = c.name("a hierarchy")?;
        c.need("FOR")?;
        let (table, column) = c.table_column()?;
        Ok(Statement::CheckHierarchy { name, table, column })
    },
};
