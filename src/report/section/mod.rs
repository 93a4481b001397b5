//! The sections of the page; each is one file with one line in [`SECTIONS`].
//!
//! The three questions of Opinion 05/2014 are sections with an answer that follows from the measurements. An answer is
//! "no" only for what was counted, which is the named quasi-identifiers. Anything that was not examined is open.

mod choice;
mod entry;
mod inference;
mod linkability;
mod loss;
mod not_covered;
mod release;
mod requirements;
mod singling_out;
mod terms;
mod warnings;

use super::block::{Block, Section, Tile};
use super::facts::Report;
use crate::error::Result;
use entry::Entry;

/// Every section, in the order of the page.
const SECTIONS: &[Entry] = &[
    warnings::ENTRY,
    release::ENTRY,
    requirements::ENTRY,
    singling_out::ENTRY,
    linkability::ENTRY,
    inference::ENTRY,
    loss::ENTRY,
    choice::ENTRY,
    not_covered::ENTRY,
    terms::ENTRY,
];

/// Returns the sections of a report that have something to say of it.
pub(super) fn all(report: &Report) -> Result<Vec<Section>> {
    let section = |entry: &Entry| {
        let answer = entry.answer.and_then(|answer| answer(report)).map(Block::Answer);
        let blocks = (entry.blocks)(report)?;
        Ok(Section {
            id: entry.id,
            heading: entry.heading,
            blocks: answer.into_iter().chain(blocks).collect(),
        })
    };
    let mut sections: Vec<Section> = SECTIONS.iter().map(section).collect::<Result<_>>()?;
    sections.retain(|section| !section.blocks.is_empty());
    Ok(sections)
}

/// Returns the questions of a report with their short answers.
pub(super) fn tiles(report: &Report) -> Vec<Tile> {
    let tile = |entry: &Entry| {
        Some(Tile {
            section: entry.id,
            heading: entry.heading,
            answer: entry.answer?(report)?,
        })
    };
    SECTIONS.iter().filter_map(tile).collect()
}
