//! `SHOW VARIABLES`: lists the variables of the session.

use super::entry::{Entry, Run, Statement};
use crate::base::error::Result;
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use crate::language::sql::variable::Variable;
use arrow::array::{ArrayRef, StringArray};
use arrow::record_batch::RecordBatch;
use futures::future::BoxFuture;
use std::fmt;
use std::sync::Arc;

/// The text that replaces a value from the environment. It is not a literal, so that it cannot be
/// confused with other values, which are shown as literals.
const HIDDEN: &str = "(hidden: from the environment)";

pub(super) const ENTRY: Entry = Entry {
    name: "SHOW VARIABLES",
    starts: &["SHOW VARIABLES"],
    summary: "lists the variables of the session",
    syntax: "SHOW VARIABLES",
    example: "SHOW VARIABLES",
    answers: true,
    read: |_, _| Ok(Statement::new(ShowVariables)),
};

/// `SHOW VARIABLES`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ShowVariables;

impl fmt::Display for ShowVariables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SHOW VARIABLES")
    }
}

impl Run for ShowVariables {
    fn kind(&self) -> &'static str {
        "show variables"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let variables = context.variables.read();
            let value = |v: &Variable| match v.hidden {
                true => HIDDEN.to_string(),
                false => v.value.to_string(),
            };
            let names: StringArray = variables.iter().map(|(name, _)| Some(name)).collect();
            let kinds: StringArray = variables.iter().map(|(_, v)| Some(v.value.kind())).collect();
            let values: StringArray = variables.iter().map(|(_, v)| Some(value(v))).collect();
            Answer::of(RecordBatch::try_from_iter([
                ("name", Arc::new(names) as ArrayRef),
                ("kind", Arc::new(kinds)),
                ("value", Arc::new(values)),
            ])?)
        })
    }
}
