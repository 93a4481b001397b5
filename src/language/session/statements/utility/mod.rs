//! `UTILITY OF`: measures how much information of the source a release still contains
//! ([`crate::method::utility`]).

mod measure;
mod spec;

use super::entry::{Entry, Run, Statement};
use crate::base::error::Result;
use crate::base::pool::blocking;
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use crate::method::utility::Utility;
use crate::release::job::ReportFile;
use crate::release::staging::StagedReport;
use arrow::array::{ArrayRef, Float64Array, StringArray};
use arrow::record_batch::RecordBatch;
use futures::future::BoxFuture;
pub(super) use spec::UtilitySpec;
use std::sync::Arc;

pub(super) const ENTRY: Entry = Entry {
    name: "UTILITY OF",
    starts: &["UTILITY OF"],
    summary: "measures how much a release still shows of its source: distributions, correlations, classifiers",
    syntax: "UTILITY OF { table | 'path' [OPTIONS (...)] | ( query ) } AGAINST source [QUASI IDENTIFIERS (c [USING hierarchy], ...)]
  [CLASS (c)] [TESTING ON source] [REPORT TO 'utility.html' [OVERWRITE]]",
    example: "UTILITY OF 'released' AGAINST people CLASS (salary)",
    answers: true,
    read: |c, _| spec::read(c).map(Statement::new),
};

impl Run for UtilitySpec {
    fn kind(&self) -> &'static str {
        "utility"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let state = context.session.state();
            let file = self
                .report
                .as_ref()
                .map(|file| ReportFile::new(&file.path, &state).map(|made| made.replacing(file.overwrite)))
                .transpose()?;
            if let Some(file) = &file {
                file.reach().await?;
            }
            let utility = context.utility(self, file.as_ref()).await?;
            let answer = answer(&utility)?;
            if let Some(file) = file.filter(|_| !context.settings().dry_run) {
                let write = move || {
                    let text = utility.render(file.format())?;
                    StagedReport::of_text(&file, text, None)?.publish()
                };
                blocking("writing the report", write).await?;
            }
            Ok(answer)
        })
    }
}

/// Returns the result with one row for each figure.
fn answer(utility: &Utility) -> Result<Answer> {
    let figures = || utility.figures.iter();
    let column: StringArray = figures().map(|f| f.column.as_deref()).collect();
    let measure: StringArray = figures().map(|f| Some(f.measure.to_string())).collect();
    let value: Float64Array = figures().map(|f| f.value).collect();
    let of_source: Float64Array = figures().map(|f| f.of_source).collect();
    let note: StringArray = figures().map(|f| f.note.as_deref()).collect();
    Answer::of(RecordBatch::try_from_iter_with_nullable([
        ("column", Arc::new(column) as ArrayRef, true),
        ("measure", Arc::new(measure), false),
        ("value", Arc::new(value), true),
        ("of_source", Arc::new(of_source), true),
        ("note", Arc::new(note), true),
    ])?)
}
