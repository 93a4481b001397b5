//! What the file of a section says.

use crate::error::Result;
use crate::report::Report;
use crate::report::block::{Answer, Block, Tone};

/// A section of every report.
pub(super) struct Entry {
    /// A name for links, of letters and hyphens.
    pub(super) id: &'static str,
    pub(super) heading: &'static str,
    /// The short answer, where the heading is a question.
    pub(super) answer: Option<fn(&Report) -> Answer>,
    /// What stands under the heading and the answer.
    pub(super) blocks: fn(&Report) -> Result<Vec<Block>>,
}

/// The answer to a question about released records where there are none.
pub(super) fn nothing_released() -> Answer {
    Answer {
        tone: Tone::Good,
        verdict: "No",
        text: "No record was released with its quasi-identifiers.".into(),
    }
}
