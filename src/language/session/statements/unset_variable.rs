//! `UNSET VARIABLE`: removes a variable from the session.

use super::entry::{Entry, Run, Statement};
use crate::base::error::Result;
use crate::base::quoting::ident;
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use futures::future::BoxFuture;
use std::fmt;

pub(super) const ENTRY: Entry = Entry {
    name: "UNSET VARIABLE",
    starts: &["UNSET VARIABLE", "RESET VARIABLE"],
    summary: "removes a variable from the session",
    syntax: "UNSET VARIABLE name",
    example: "UNSET VARIABLE target",
    answers: false,
    read: |c, _| {
        let name = c.name("the name of a variable, without $")?;
        Ok(Statement::new(UnsetVariable { name }))
    },
};

/// `UNSET VARIABLE name`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct UnsetVariable {
    /// The name of the variable.
    pub(super) name: String,
}

impl fmt::Display for UnsetVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UNSET VARIABLE {}", ident(&self.name))
    }
}

impl Run for UnsetVariable {
    fn kind(&self) -> &'static str {
        "unset variable"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            context.variables.write().remove(&self.name)?;
            Answer::done(format!("variable {} unset", self.name))
        })
    }
}
