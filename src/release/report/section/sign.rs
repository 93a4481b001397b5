//! The section with room for the signature of the person who approves the release.

use super::entry::Entry;
use crate::base::error::Result;
use crate::release::report::Report;
use crate::release::report::block::{Block, Line};

pub(super) const ENTRY: Entry = Entry {
    id: "sign",
    heading: "Approval of the release",
    answer: None,
    blocks,
};

/// A blank line for handwriting. It fits the width of a phone.
const BLANK: &str = "____________________________";

fn blocks(_: &Report) -> Result<Vec<Block>> {
    let text = "The signer has read the report and judges that the remaining risk is acceptable for this purpose and \
                these recipients. The page has no date of its own: the same statement on the same data gives the \
                same page.";
    let blank = |what: &str| (Line::from(what), Line::from(BLANK));
    let lines = ["Purpose and recipients", "Name and office", "Date", "Signature"];
    Ok(vec![
        Block::Paragraph(text.into()),
        Block::Terms(lines.into_iter().map(blank).collect()),
    ])
}
