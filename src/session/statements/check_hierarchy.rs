//! `CHECK HIERARCHY`: counts the values and rows of a column that a hierarchy covers, before a run.

use super::entry::{Entry, Run, Statement};
use crate::error::Result;
use crate::quoting::ident;
use crate::session::answer::Answer;
use crate::session::context::AnonContext;
use crate::sql::name::TableName;
use arrow::array::{ArrayRef, StringArray, UInt64Array};
use arrow::record_batch::RecordBatch;
use futures::future::BoxFuture;
use std::fmt;
use std::sync::Arc;

pub(super) const ENTRY: Entry = Entry {
    name: "CHECK HIERARCHY",
    starts: &["CHECK HIERARCHY"],
    summary: "counts the values and rows of a column that a hierarchy maps, before a run",
    syntax: "CHECK HIERARCHY name FOR table.column",
    example: "CHECK HIERARCHY age FOR people.age",
    read: |c, _| {
        let name = c.name("a hierarchy")?;
        c.need("FOR")?;
        let (table, column) = c.table_column()?;
        Ok(Statement::new(CheckHierarchy { name, table, column }))
    },
};

/// `CHECK HIERARCHY name FOR table.column`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CheckHierarchy {
    /// The name of the hierarchy.
    pub(super) name: String,
    /// The table that is checked.
    pub(super) table: TableName,
    /// The column of the table.
    pub(super) column: String,
}

impl fmt::Display for CheckHierarchy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, table, column } = self;
        write!(f, "CHECK HIERARCHY {} FOR {table}.{}", ident(name), ident(column))
    }
}

impl Run for CheckHierarchy {
    fn kind(&self) -> &'static str {
        "check hierarchy"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let hierarchy = context.hierarchy(&self.name)?;
            let (values, counts) = context.value_counts(&self.table, &self.column).await?;
            let coverage = hierarchy.coverage(&values, &counts)?;
            let text = |text: &str| Arc::new(StringArray::from(vec![text])) as ArrayRef;
            let count = |n: u64| Arc::new(UInt64Array::from(vec![n])) as ArrayRef;
            Answer::of(RecordBatch::try_from_iter([
                ("hierarchy", text(&self.name)),
                ("column", text(&self.column)),
                ("values_mapped", count(coverage.values_mapped)),
                ("rows_mapped", count(coverage.rows_mapped)),
                ("values_unmapped", count(coverage.values_unmapped)),
                ("rows_unmapped", count(coverage.rows_unmapped)),
                ("rows_null", count(coverage.rows_null)),
            ])?)
        })
    }
}
