//! The definition of a section of a report on `T`.

use crate::error::Result;
use crate::report::Report;
use crate::report::block::{Block, Section, ShortAnswer, Tone};

/// A section of every report on a `T`.
pub(in crate::report) struct Entry<T = Report> {
    /// The name of the section in links: letters and hyphens.
    pub(super) id: &'static str,
    pub(super) heading: &'static str,
    /// Returns the short answer, if the heading is a question that this report answers.
    pub(super) answer: Option<fn(&T) -> Option<ShortAnswer>>,
    /// Returns the content below the heading and the answer.
    pub(super) blocks: fn(&T) -> Result<Vec<Block>>,
}

/// Returns the answer to a question about released records for a release without any.
pub(super) fn nothing_released() -> ShortAnswer {
    ShortAnswer {
        tone: Tone::Good,
        verdict: "No",
        text: "No record was released with its quasi-identifiers.".into(),
    }
}

/// Returns the sections that are not empty for these facts.
pub(in crate::report) fn all<T>(sections: &[Entry<T>], facts: &T) -> Result<Vec<Section>> {
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
