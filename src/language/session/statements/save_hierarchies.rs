//! `SAVE HIERARCHIES TO`: writes a script that recreates the hierarchies of the session.

use super::entry::{Entry, Run, Statement};
use super::saved_script::save_script;
use crate::base::error::{Error, Result};
use crate::base::quoting::ident;
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use crate::language::sql::clause::{FileClause, file};
use crate::method::hierarchy::Hierarchy;
use futures::future::BoxFuture;
use std::fmt;

pub(super) const ENTRY: Entry = Entry {
    name: "SAVE HIERARCHIES",
    starts: &["SAVE HIERARCHIES"],
    summary: "writes a script that recreates the hierarchies of the session",
    syntax: "SAVE HIERARCHIES TO 'hierarchies.sql' [OVERWRITE]",
    example: "SAVE HIERARCHIES TO 'hierarchies.sql'",
    answers: false,
    read: |c, _| {
        c.need("TO")?;
        let file = file::read(c, "the script to write, in quotes")?;
        Ok(Statement::new(SaveHierarchies { file }))
    },
};

/// `SAVE HIERARCHIES TO 'path' [OVERWRITE]`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SaveHierarchies {
    /// The script to write.
    pub(super) file: FileClause,
}

impl fmt::Display for SaveHierarchies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SAVE HIERARCHIES TO {}", self.file)
    }
}

impl Run for SaveHierarchies {
    fn kind(&self) -> &'static str {
        "save hierarchies"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let hierarchies: Vec<_> = context.hierarchies.read().values().cloned().collect();
            if hierarchies.is_empty() {
                return Err(Error::usage(
                    "there is no hierarchy to save; CREATE HIERARCHY makes one",
                ));
            }
            let saved = match hierarchies.len() {
                1 => "1 hierarchy".to_string(),
                n => format!("{n} hierarchies"),
            };
            let statements = hierarchies.iter().map(|hierarchy| created(hierarchy));
            save_script(context, &self.file, ("SAVE HIERARCHIES", &saved), statements.collect()).await
        })
    }
}

/// Returns the statement that recreates a hierarchy.
pub(super) fn created(hierarchy: &Hierarchy) -> String {
    let (name, definition) = (ident(hierarchy.name()), hierarchy.definition());
    format!("CREATE OR REPLACE HIERARCHY {name} {definition}")
}
