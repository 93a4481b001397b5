//! `DROP HIERARCHY`: removes a hierarchy from the session.

use super::entry::{Entry, Run, Statement};
use crate::base::error::Result;
use crate::base::quoting::ident;
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use futures::future::BoxFuture;
use std::fmt;

pub(super) const ENTRY: Entry = Entry {
    name: "DROP HIERARCHY",
    starts: &["DROP HIERARCHY"],
    summary: "removes a hierarchy from the session",
    syntax: "DROP HIERARCHY [IF EXISTS] name",
    example: "DROP HIERARCHY IF EXISTS age",
    answers: false,
    read: |c, _| {
        let if_exists = c.take("IF EXISTS");
        let name = c.name("a hierarchy")?;
        Ok(Statement::new(DropHierarchy { name, if_exists }))
    },
};

/// `DROP HIERARCHY [IF EXISTS] name`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DropHierarchy {
    /// The name of the hierarchy.
    pub(super) name: String,
    /// Whether IF EXISTS is given. If it is, the statement succeeds even if the hierarchy does not
    /// exist.
    pub(super) if_exists: bool,
}

impl fmt::Display for DropHierarchy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let if_exists = if self.if_exists { "IF EXISTS " } else { "" };
        write!(f, "DROP HIERARCHY {if_exists}{}", ident(&self.name))
    }
}

impl Run for DropHierarchy {
    fn kind(&self) -> &'static str {
        "drop hierarchy"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let name = &self.name;
            if context.hierarchies.write().remove(name).is_some() {
                return Answer::done(format!("hierarchy {name} dropped"));
            }
            if self.if_exists {
                return Answer::done(format!("there is no hierarchy {name}"));
            }
            context.hierarchy(name).and_then(|_| Answer::done(""))
        })
    }
}
