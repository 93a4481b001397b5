//! The section on the utility of the release. It contains every section of the report that
//! UTILITY OF writes.

use super::entry::{Entry, all};
use super::utility::list::UTILITY;
use crate::base::error::Result;
use crate::release::report::Report;
use crate::release::report::block::{Block, Line};

pub(super) const ENTRY: Entry = Entry {
    id: "kept",
    heading: "How well the release describes the source",
    answer: None,
    blocks,
};

fn blocks(report: &Report) -> Result<Vec<Block>> {
    let Some(utility) = &report.utility else {
        let text = "This was not measured, because it holds the distinct rows of the release and of the source in memory: \
                    there are too many records for a report, or the memory limit is too low. UTILITY OF measures a release \
                    of any number of records.";
        return Ok(vec![Block::Paragraph(text.into())]);
    };
    let mut blocks = vec![];
    for section in all(UTILITY, utility)? {
        blocks.push(Block::Paragraph(Line::default().strong(section.heading)));
        blocks.extend(section.blocks);
    }
    Ok(blocks)
}
