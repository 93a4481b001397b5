//! The words of a language, which its statements hand to whoever reads or completes them.

use crate::hierarchy::Kind;
use std::collections::BTreeSet;

/// The words of a language.
pub(crate) struct Words {
    /// What a statement can start with, one text for each form.
    pub(crate) starts: Vec<&'static str>,
    /// Every keyword, in upper case.
    pub(crate) keywords: BTreeSet<&'static str>,
    /// The kinds that CREATE HIERARCHY may name.
    pub(crate) kinds: Vec<Kind>,
}

impl Words {
    /// Of statements that start so and these kinds of hierarchies, the keywords read off the texts of their syntax.
    pub(crate) fn new(
        starts: impl Iterator<Item = &'static str>,
        syntax: impl Iterator<Item = &'static str>,
        kinds: &[Kind],
    ) -> Self {
        let starts: Vec<&'static str> = starts.collect();
        let keywords = syntax
            .chain(starts.iter().copied())
            .chain(kinds.iter().map(|kind| kind.clause.syntax))
            .flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '\''))
            .filter(|w| w.len() > 1 && w.chars().all(|c| c.is_ascii_uppercase()))
            .collect();
        Self {
            starts,
            keywords,
            kinds: kinds.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_the_words_in_capitals() {
        let words = Words::new(
            ["COPY OF *"].into_iter(),
            ["COPY OF t [TO 'PATH'] | n ROWS"].into_iter(),
            &[],
        );
        assert_eq!(words.starts, ["COPY OF *"]);
        assert_eq!(
            words.keywords.into_iter().collect::<Vec<_>>(),
            ["COPY", "OF", "ROWS", "TO"]
        );
    }
}
