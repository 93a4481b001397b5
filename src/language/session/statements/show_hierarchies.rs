//! `SHOW HIERARCHIES`: lists the hierarchies of the session with the statements that create them.
//! Saved as a script, these statements restore the hierarchies in another session.

use super::entry::{Entry, Run, Statement};
use crate::base::error::Result;
use crate::base::quoting::ident;
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use arrow::array::{ArrayRef, StringArray, UInt8Array};
use arrow::record_batch::RecordBatch;
use futures::future::BoxFuture;
use std::fmt;
use std::sync::Arc;

pub(super) const ENTRY: Entry = Entry {
    name: "SHOW HIERARCHIES",
    starts: &["SHOW HIERARCHIES"],
    summary: "lists the hierarchies of the session",
    syntax: "SHOW HIERARCHIES",
    example: "SHOW HIERARCHIES",
    answers: true,
    read: |_, _| Ok(Statement::new(ShowHierarchies)),
};

/// `SHOW HIERARCHIES`
#[derive(Debug, Clone, PartialEq)]
struct ShowHierarchies;

impl fmt::Display for ShowHierarchies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SHOW HIERARCHIES")
    }
}

impl Run for ShowHierarchies {
    fn kind(&self) -> &'static str {
        "show hierarchies"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let (hierarchies, seen) = (context.hierarchies.read(), context.seen());
            let names: StringArray = hierarchies.keys().map(Some).collect();
            let kinds: StringArray = hierarchies.values().map(|h| Some(h.kind())).collect();
            let heights: UInt8Array = hierarchies.values().map(|h| Some(h.height())).collect();
            let statements: StringArray = hierarchies
                .values()
                .map(|h| format!("CREATE HIERARCHY {} {}", ident(h.name()), h.definition()))
                .map(|statement| Some(format!("{};", seen.in_statement(statement).trim_end())))
                .collect();
            Answer::of(RecordBatch::try_from_iter([
                ("name", Arc::new(names) as ArrayRef),
                ("kind", Arc::new(kinds)),
                ("top_level", Arc::new(heights)),
                ("statement", Arc::new(statements)),
            ])?)
        })
    }
}
