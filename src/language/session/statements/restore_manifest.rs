//! `RESTORE MANIFEST OF`: recreates the lost manifest of a release in a Delta table from the log of
//! the table.

use super::entry::{Entry, Run, Statement};
use crate::base::error::{Error, Result};
use crate::base::location::{expanded, is_of_web};
use crate::data::formats::{At, Place, written};
use crate::data::lake::Prefix;
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use crate::language::sql::clause::{PathClause, SourceClause, source};
use arrow::array::{ArrayRef, StringArray, UInt64Array};
use arrow::record_batch::RecordBatch;
use futures::future::BoxFuture;
use std::fmt;
use std::sync::Arc;

pub(super) const ENTRY: Entry = Entry {
    name: "RESTORE MANIFEST OF",
    starts: &["RESTORE MANIFEST OF"],
    summary: "recreates the lost manifest of a release in a Delta table from the log",
    syntax: "RESTORE MANIFEST OF { 'path' | <written> [VERSION AS OF n | TIMESTAMP AS OF 'time'] }",
    example: "RESTORE MANIFEST OF delta.'lake/released' VERSION AS OF 3",
    answers: false,
    read: |c, _| {
        let before = c.clone();
        match source::read(c)? {
            SourceClause::Path(table) if table.options.is_empty() && !table.is_read_only() => {
                Ok(Statement::new(RestoreManifest { table }))
            }
            _ => {
                let tables: Vec<String> = written().map(|format| format.shown()).collect();
                Err(before.expected(&format!("{} of a release", tables.join(" or ")), []))
            }
        }
    },
};

/// `RESTORE MANIFEST OF delta.'path'`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RestoreManifest {
    /// The table whose manifest is lost.
    pub(super) table: PathClause,
}

impl fmt::Display for RestoreManifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RESTORE MANIFEST OF {}", SourceClause::Path(self.table.clone()))
    }
}

impl Run for RestoreManifest {
    fn kind(&self) -> &'static str {
        "restore manifest"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let path = expanded(&self.table.path)?;
            if is_of_web(&path) {
                return Err(Error::usage(format!(
                    "{:?} is on a web server, which can only be read; name a folder or a store",
                    self.table.path
                )));
            }
            let named = self.table.lake.as_ref().map(|(format, _)| *format);
            let mut formats = named
                .map_or_else(|| written().collect(), |format| vec![format])
                .into_iter();
            formats.try_for_each(|format| format.committing("RESTORE MANIFEST OF").map(drop))?;
            if context.settings().dry_run {
                return Answer::done("dry run: no manifest was written");
            }
            let at = self.table.lake.as_ref().map_or(At::Newest, |(_, at)| at.clone());
            let place = Place::of(&context.session.state(), &path).await?;
            let restored = Prefix::at(place).restore_manifest(&at).await?;
            let outcome = if restored.was_lost { "restored" } else { "present" };
            let text = |text: String| Arc::new(StringArray::from(vec![text])) as ArrayRef;
            Answer::of(RecordBatch::try_from_iter_with_nullable([
                ("manifest", text(restored.manifest), false),
                ("outcome", text(outcome.into()), false),
                ("version", Arc::new(UInt64Array::from(vec![restored.version])), false),
                ("run", text(restored.run), false),
            ])?)
        })
    }
}
