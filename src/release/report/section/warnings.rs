//! The section on the warnings about the roles of the request. A release without warnings has no
//! such section.

use super::entry::Entry;
use crate::base::error::Result;
use crate::method::warning::{columns, open};
use crate::release::report::Report;
use crate::release::report::block::{Block, Line, ShortAnswer, TableBlock, Tone};
use crate::release::report::number::counted;

pub(super) const ENTRY: Entry = Entry {
    id: "warnings",
    heading: "Is there something to check before the release is handed on?",
    answer: Some(answer),
    blocks,
};

fn answer(report: &Report) -> Option<ShortAnswer> {
    let warnings = &report.warnings;
    let n = open(warnings).count() as u64;
    Some(match (warnings.is_empty(), n) {
        (true, _) => return None,
        (false, 0) => ShortAnswer {
            tone: Tone::Partial,
            verdict: "Accepted",
            text: Line::from("The statement accepts the warnings about ")
                .names(columns(warnings))
                .text("."),
        },
        (false, n) => ShortAnswer {
            tone: Tone::Open,
            verdict: "Yes",
            text: Line::from(format!("{} about ", counted(n, "warning", "warnings")))
                .names(columns(open(warnings)))
                .text(". No requirement that the release met covers this."),
        },
    })
}

fn blocks(report: &Report) -> Result<Vec<Block>> {
    if report.warnings.is_empty() {
        return Ok(vec![]);
    }
    let mut table = TableBlock::new(
        "Warnings about the roles of the columns",
        &["Columns", "Warning", "State"],
    );
    for warning in &report.warnings {
        let state = if warning.accepted {
            "accepted by the statement"
        } else {
            "open"
        };
        table.row(vec![
            Line::default().names(warning.columns.iter().map(String::as_str)),
            warning.text.as_str().into(),
            state.into(),
        ]);
    }
    Ok(vec![Block::Table(table)])
}
