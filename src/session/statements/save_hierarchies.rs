//! `SAVE HIERARCHIES TO`: writes a script that makes the hierarchies of the session again.

use super::entry::{Entry, Run, Statement};
use crate::error::{Error, Result};
use crate::location::{expanded, is_url};
use crate::pool::blocking;
use crate::quoting::ident;
use crate::sealed::{Form, check_replaced, sealed};
use crate::session::answer::Answer;
use crate::session::context::AnonContext;
use crate::sql::clause::{FileClause, file};
use crate::staging::StagedReport;
use futures::future::BoxFuture;
use std::fmt;
use std::path::{Path, PathBuf};

pub(super) const ENTRY: Entry = Entry {
    name: "SAVE HIERARCHIES",
    starts: &["SAVE HIERARCHIES"],
    summary: "writes a script that makes the hierarchies of the session again",
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
            let path = expanded(&self.file.path)?;
            if is_url(&path) {
                return Err(Error::usage(format!(
                    "SAVE HIERARCHIES TO {path:?}: a script is a local file; write it here and copy it"
                )));
            }
            let (path, overwrite) = (PathBuf::from(path.as_ref()), self.file.overwrite);
            let folder = path.parent().filter(|f| *f != Path::new("") && !f.is_dir());
            if let Some(folder) = folder {
                return Err(Error::usage(format!(
                    "SAVE HIERARCHIES TO: there is no folder {}; create it first",
                    folder.display()
                )));
            }
            let place = path.clone();
            blocking("looking for the script", move || check_replaced(&place, overwrite)).await?;
            let seen = context.seen();
            let statements = hierarchies.iter().map(|h| {
                seen.in_statement(format!(
                    "CREATE OR REPLACE HIERARCHY {} {};\n",
                    ident(h.name()),
                    h.definition()
                ))
            });
            let script: String = statements.collect();
            if context.settings().dry_run {
                return Answer::done(format!("dry run: nothing was written to {}", self.file.path));
            }
            blocking("writing the script", move || {
                StagedReport::write(&path, sealed(script, Form::Sql), overwrite)?.publish()
            })
            .await?;
            let saved = match hierarchies.len() {
                1 => "1 hierarchy".to_string(),
                n => format!("{n} hierarchies"),
            };
            Answer::done(format!("{saved} saved to {}", self.file.path))
        })
    }
}
