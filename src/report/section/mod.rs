//! The sections of the pages; each is one file with one line in [`SECTIONS`], or in [`UTILITY`].
//!
//! The three questions of Opinion 05/2014 are sections with an answer that follows from the measurements. An answer is
//! "no" only for what was counted, which is the named quasi-identifiers. Anything that was not examined is open.

mod choice;
mod entry;
mod inference;
mod kept;
mod linkability;
mod loss;
mod not_covered;
mod release;
mod requirements;
mod singling_out;
mod terms;
mod utility;
mod warnings;

use super::block::{Block, Section, Tile};
use super::facts::Report;
use crate::error::Result;
use crate::utility::Utility;
use entry::Entry;

/// Every section of the report on a release, in the order of the page.
pub(super) const SECTIONS: &[Entry] = &[
    warnings::ENTRY,
    release::ENTRY,
    requirements::ENTRY,
    singling_out::ENTRY,
    linkability::ENTRY,
    inference::ENTRY,
    loss::ENTRY,
    kept::ENTRY,
    choice::ENTRY,
    not_covered::ENTRY,
    terms::ENTRY,
];

/// Every section of the report on the utility of a release, in the order of the page.
pub(super) const UTILITY: &[Entry<Utility>] = &[
    utility::distributions::ENTRY,
    utility::class::ENTRY,
    utility::correlations::ENTRY,
    utility::definitions::ENTRY,
];

/// Returns the sections that have something to say of these facts.
pub(super) fn all<T>(sections: &[Entry<T>], facts: &T) -> Result<Vec<Section>> {
    let section = |entry: &Entry<T>| {
        let answer = entry.answer.and_then(|answer| answer(facts)).map(Block::Answer);
        let blocks = (entry.blocks)(facts)?;
        Ok(Section {
            id: entry.id,
            heading: entry.heading,
            blocks: answer.into_iter().chain(blocks).collect(),
        })
    };
    let mut sections: Vec<Section> = sections.iter().map(section).collect::<Result<_>>()?;
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
