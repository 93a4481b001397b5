//! `SHOW POLICIES`: lists the policies of the session with their digests and the statements that
//! create them.

use super::entry::{Entry, Run, Statement};
use crate::base::error::Result;
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use arrow::array::{ArrayRef, StringArray};
use arrow::record_batch::RecordBatch;
use futures::future::BoxFuture;
use std::fmt;
use std::sync::Arc;

pub(super) const ENTRY: Entry = Entry {
    name: "SHOW POLICIES",
    starts: &["SHOW POLICIES"],
    summary: "lists the policies of the session",
    syntax: "SHOW POLICIES",
    example: "SHOW POLICIES",
    answers: true,
    read: |_, _| Ok(Statement::new(ShowPolicies)),
};

/// `SHOW POLICIES`
#[derive(Debug, Clone, PartialEq)]
struct ShowPolicies;

impl fmt::Display for ShowPolicies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SHOW POLICIES")
    }
}

impl Run for ShowPolicies {
    fn kind(&self) -> &'static str {
        "show policies"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let policies = context.policies.read();
            let names: StringArray = policies.keys().map(Some).collect();
            let digests = policies.values().map(|p| Some(p.summary().sha256));
            let digests: StringArray = digests.collect();
            let statements = policies.values().map(|p| Some(format!("{};", p.statement(false))));
            let statements: StringArray = statements.collect();
            Answer::of(RecordBatch::try_from_iter([
                ("name", Arc::new(names) as ArrayRef),
                ("sha256", Arc::new(digests)),
                ("statement", Arc::new(statements)),
            ])?)
        })
    }
}
