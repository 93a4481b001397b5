//! `DROP POLICY`: removes a policy from the session.

use super::entry::{Entry, Run, Statement};
use crate::base::error::Result;
use crate::base::quoting::ident;
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use futures::future::BoxFuture;
use std::fmt;

pub(super) const ENTRY: Entry = Entry {
    name: "DROP POLICY",
    starts: &["DROP POLICY"],
    summary: "removes a policy from the session",
    syntax: "DROP POLICY [IF EXISTS] name",
    example: "DROP POLICY IF EXISTS patients_v1",
    answers: false,
    read: |c, _| {
        let if_exists = c.take("IF EXISTS");
        let name = c.name("a policy")?;
        Ok(Statement::new(DropPolicy { name, if_exists }))
    },
};

/// `DROP POLICY [IF EXISTS] name`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DropPolicy {
    /// The name of the policy.
    pub(super) name: String,
    /// Whether IF EXISTS is given. If it is, the statement succeeds even if the policy does not
    /// exist.
    pub(super) if_exists: bool,
}

impl fmt::Display for DropPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let if_exists = if self.if_exists { "IF EXISTS " } else { "" };
        write!(f, "DROP POLICY {if_exists}{}", ident(&self.name))
    }
}

impl Run for DropPolicy {
    fn kind(&self) -> &'static str {
        "drop policy"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let name = &self.name;
            if context.policies.write().remove(name).is_some() {
                return Answer::done(format!("policy {name} dropped"));
            }
            if self.if_exists {
                return Answer::done(format!("there is no policy {name}"));
            }
            context.policy(name).and_then(|_| Answer::done(""))
        })
    }
}
