//! `SAVE POLICIES TO`: writes a script that recreates the policies of the session, and the
//! hierarchies that the policies use.

use super::entry::{Entry, Run, Statement};
use super::save_hierarchies::created;
use super::saved_script::save_script;
use crate::base::error::{Error, Result};
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use crate::language::sql::clause::{FileClause, file};
use futures::future::BoxFuture;
use std::collections::BTreeMap;
use std::fmt;

pub(super) const ENTRY: Entry = Entry {
    name: "SAVE POLICIES",
    starts: &["SAVE POLICIES"],
    summary: "writes a script that recreates the policies of the session and their hierarchies",
    syntax: "SAVE POLICIES TO 'policies.sql' [OVERWRITE]",
    example: "SAVE POLICIES TO 'policies.sql'",
    answers: false,
    read: |c, _| {
        c.need("TO")?;
        let file = file::read(c, "the script to write, in quotes")?;
        Ok(Statement::new(SavePolicies { file }))
    },
};

/// `SAVE POLICIES TO 'path' [OVERWRITE]`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SavePolicies {
    /// The script to write.
    pub(super) file: FileClause,
}

impl fmt::Display for SavePolicies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SAVE POLICIES TO {}", self.file)
    }
}

impl Run for SavePolicies {
    fn kind(&self) -> &'static str {
        "save policies"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let policies: Vec<_> = context.policies.read().values().cloned().collect();
            if policies.is_empty() {
                return Err(Error::usage("there is no policy to save; CREATE POLICY makes one"));
            }
            let mut hierarchies = BTreeMap::new();
            for hierarchy in policies.iter().flat_map(|policy| &policy.hierarchies) {
                context.is_unchanged(hierarchy)?;
                hierarchies.insert(hierarchy.name(), created(hierarchy));
            }
            let made = policies.iter().map(|policy| policy.statement(true));
            let saved = match policies.len() {
                1 => "1 policy".to_string(),
                n => format!("{n} policies"),
            };
            let statements = hierarchies.into_values().chain(made).collect();
            save_script(context, &self.file, ("SAVE POLICIES", &saved), statements).await
        })
    }
}
