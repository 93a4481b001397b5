//! The sections of the pages; each is one file with one line in [`SECTIONS`], or in [`UTILITY`].
//!
//! The three questions of Opinion 05/2014 are sections with an answer that follows from the
//! measurements. An answer is "no" only for what was counted: the quasi-identifiers that the
//! statement names. Anything that was not examined is open.

mod choice;
mod entry;
mod inference;
mod kept;
mod levels;
mod linkability;
mod loss;
mod not_covered;
mod own_values;
mod record;
mod release;
mod requirements;
mod shares;
mod sign;
mod singling_out;
mod terms;
mod utility;
mod warnings;

use super::block::Tile;
use super::facts::Report;
use entry::Entry;
pub(super) use entry::all;
pub(super) use utility::list::UTILITY;

/// Every section of the report on a release, in the order of the page.
pub(super) const SECTIONS: &[Entry] = &[
    warnings::ENTRY,
    release::ENTRY,
    requirements::ENTRY,
    singling_out::ENTRY,
    linkability::ENTRY,
    inference::ENTRY,
    own_values::ENTRY,
    loss::ENTRY,
    shares::ENTRY,
    kept::ENTRY,
    choice::ENTRY,
    levels::ENTRY,
    not_covered::ENTRY,
    record::ENTRY,
    sign::ENTRY,
    terms::ENTRY,
];

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
