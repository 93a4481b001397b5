//! `CHECK HIERARCHY`: before a run, counts the values and rows of a column that a hierarchy covers,
//! or lists the values that it does not cover.

use super::entry::{Entry, Run, Statement};
use crate::base::error::Result;
use crate::base::quoting::ident;
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use crate::language::sql::clause::column;
use crate::language::sql::name::TableName;
use arrow::array::{Array, ArrayRef, StringArray, UInt64Array};
use arrow::record_batch::RecordBatch;
use arrow::util::display::array_value_to_string;
use futures::future::BoxFuture;
use std::fmt;
use std::sync::Arc;

pub(super) const ENTRY: Entry = Entry {
    name: "CHECK HIERARCHY",
    starts: &["CHECK HIERARCHY"],
    summary: "counts the values and rows of a column that a hierarchy maps, before a run",
    syntax: "CHECK HIERARCHY name FOR table.column [LIST UNMAPPED]",
    example: "CHECK HIERARCHY age FOR people.age",
    answers: true,
    read: |c, _| {
        let name = c.name("a hierarchy")?;
        c.need("FOR")?;
        let (table, column) = column::read(c)?;
        let lists = c.take("LIST UNMAPPED");
        Ok(Statement::new(CheckHierarchy {
            name,
            table,
            column,
            lists,
        }))
    },
};

/// `CHECK HIERARCHY name FOR table.column [LIST UNMAPPED]`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CheckHierarchy {
    /// The name of the hierarchy.
    pub(super) name: String,
    /// The table that is checked.
    pub(super) table: TableName,
    /// The column whose values are checked.
    pub(super) column: String,
    /// Whether LIST UNMAPPED is given. The result then lists the values without a label, which only
    /// the owner of the table should see.
    pub(super) lists: bool,
}

impl fmt::Display for CheckHierarchy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name, table, column, ..
        } = self;
        write!(f, "CHECK HIERARCHY {} FOR {table}.{}", ident(name), ident(column))?;
        match self.lists {
            true => f.write_str(" LIST UNMAPPED"),
            false => Ok(()),
        }
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
            if self.lists {
                return Answer::of(listed(&values, &counts, &hierarchy.unmapped(&values)?)?);
            }
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

/// Returns the unmapped values with the number of rows for each value, most frequent first.
fn listed(values: &ArrayRef, counts: &[u64], is_unmapped: &[bool]) -> Result<RecordBatch> {
    let mut rows: Vec<(u64, String)> = vec![];
    for (i, rows_of) in counts.iter().enumerate() {
        if is_unmapped[i] && values.is_valid(i) {
            rows.push((*rows_of, array_value_to_string(values, i)?));
        }
    }
    rows.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let (counts, texts): (Vec<u64>, Vec<String>) = rows.into_iter().unzip();
    Ok(RecordBatch::try_from_iter([
        ("value", Arc::new(StringArray::from(texts)) as ArrayRef),
        ("rows", Arc::new(UInt64Array::from(counts))),
    ])?)
}
