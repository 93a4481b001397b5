//! The section on requirements, with the privacy models evaluated again on the release.

use super::entry::Entry;
use crate::base::error::Result;
use crate::release::report::block::{Block, Line, TableBlock};
use crate::release::report::number::number;
use crate::release::report::{PromiseSummary, Report, RequiredComparison};

pub(super) const ENTRY: Entry = Entry {
    id: "requirements",
    heading: "What was required, and what holds",
    answer: None,
    blocks,
};

fn blocks(report: &Report) -> Result<Vec<Block>> {
    let mut table = TableBlock::new(
        "Privacy models",
        &["Model", "What it says", "#Required", "#Reached", "Holds"],
    );
    for promise in &report.promises {
        table.row(vec![
            Line::default().name(&promise.model),
            promise.meaning.as_str().into(),
            required(promise).into(),
            promise.reached.map_or_else(|| "no class".into(), number).into(),
            if promise.holds {
                Line::from("yes")
            } else {
                Line::default().strong("no")
            },
        ]);
    }
    Ok(vec![
        Block::Paragraph(
            "Each formal privacy measurement model was recounted on the released data, by a separate query that \
             shares no code with the search for the levels. The reached value is that of the worst class."
                .into(),
        ),
        Block::Table(table),
    ])
}

fn required(promise: &PromiseSummary) -> String {
    let how = match promise.comparison {
        RequiredComparison::AtLeast => "at least",
        RequiredComparison::AtMost => "at most",
        RequiredComparison::Below => "below",
    };
    format!("{how} {}", number(promise.required))
}
