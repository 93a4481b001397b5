//! The section on the topics that the report does not cover.

use super::entry::Entry;
use crate::base::error::Result;
use crate::release::report::Report;
use crate::release::report::block::{Block, Line};

pub(super) const ENTRY: Entry = Entry {
    id: "not-covered",
    heading: "What this report does not cover",
    answer: None,
    blocks,
};

fn blocks(report: &Report) -> Result<Vec<Block>> {
    let gaps = report.not_covered.iter().map(|gap| {
        let detail = match gap.columns.is_empty() {
            true => Line::default(),
            false => Line::default().names(gap.columns.iter().map(String::as_str)).text(": "),
        };
        (Line::from(gap.topic.as_str()), detail.text(&gap.detail))
    });
    Ok(vec![Block::Terms(gaps.collect())])
}
