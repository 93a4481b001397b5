//! The sections of the pages. Each section is one file and one line in [`SECTIONS`] or in
//! [`UTILITY`].
//!
//! For each of the three risks in Opinion 05/2014, one section has a question as its heading, and
//! the measurements decide the answer. The answer "no" applies only to what was counted: the
//! quasi-identifiers in the statement. A question about anything that was not examined stays open.

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

/// Every section of the report on a release, in the order in which they appear on the page.
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
