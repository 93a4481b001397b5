//! The words of the language, for the parser and for completion: the keywords, and the kinds of
//! hierarchies.

use crate::method::hierarchy::Kind;
use std::collections::BTreeSet;

/// The words of the language.
#[derive(Debug, Default)]
pub(crate) struct Words {
    /// The first keywords of each statement, with one string for each form of the statement.
    pub(crate) starts: Vec<&'static str>,
    /// The first keywords of each clause.
    pub(crate) clauses: Vec<&'static str>,
    /// Every keyword, in upper case.
    pub(crate) keywords: BTreeSet<&'static str>,
    /// The kinds of hierarchies that CREATE HIERARCHY accepts.
    pub(crate) kinds: Vec<Kind>,
}

impl Words {
    /// Collects the words of the language. `starts` and `clauses` are the first keywords of its
    /// statements and clauses. The keywords are the words in capitals in `starts`, in the texts
    /// `syntax` and in the syntax of `kinds`.
    pub(crate) fn new(
        starts: impl Iterator<Item = &'static str>,
        clauses: impl Iterator<Item = &'static str>,
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
            clauses: clauses.collect(),
            keywords,
            kinds: kinds.to_vec(),
        }
    }

    /// Returns true if a clause starts with `word`, which must be in upper case.
    pub(super) fn starts_clause(&self, word: &str) -> bool {
        self.clauses.iter().any(|start| start.split(' ').next() == Some(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_the_words_in_capitals() {
        let words = Words::new(
            ["COPY OF *"].into_iter(),
            ["TO"].into_iter(),
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
