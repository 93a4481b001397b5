//! The definition of a section in a report on the facts `T`.

use crate::base::error::Result;
use crate::release::report::Report;
use crate::release::report::block::{Block, Section, ShortAnswer, Tone};

/// A section in every report on the facts `T`.
pub(in crate::release::report) struct Entry<T = Report> {
    /// The anchor of the section in links, which consists of letters and hyphens.
    pub(super) id: &'static str,
    pub(super) heading: &'static str,
    /// The function that returns the short answer. It returns `None` if these facts do not answer
    /// the question in the heading. The function itself is `None` if the heading is not a question.
    pub(super) answer: Option<fn(&T) -> Option<ShortAnswer>>,
    /// The function that returns the content below the heading and the answer.
    pub(super) blocks: fn(&T) -> Result<Vec<Block>>,
}

/// Returns the short answer to a question about released records if no record was released.
pub(super) fn nothing_released() -> ShortAnswer {
    ShortAnswer {
        tone: Tone::Good,
        verdict: "No",
        text: "No record was released with its quasi-identifiers.".into(),
    }
}

/// Returns the sections for these facts, without sections that have no content.
pub(in crate::release::report) fn all<T>(sections: &[Entry<T>], facts: &T) -> Result<Vec<Section>> {
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
