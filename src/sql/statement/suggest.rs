//! `SUGGEST ROLES FOR`: a role per column with its reason.

use super::{Entry, Statement};
use crate::sql::clause;

pub(super) const ENTRY: Entry = Entry {
    name: "SUGGEST ROLES",
    starts: &["SUGGEST ROLES FOR"],
    summary: "proposes a role for every column, with its reason",
    syntax: "SUGGEST ROLES FOR { table | 'path' | ( query ) }",
    example: "SUGGEST ROLES FOR people",
    parse: |c, _| clause::source(c).map(Statement::SuggestRoles),
};
