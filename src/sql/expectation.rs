//! Expectations for completion: what may come next in an unfinished statement, found from what its
//! parser looked for where the text ends.

use parking_lot::Mutex;

/// What may come next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expectation {
    /// These keywords.
    Keywords(String),
    /// A name, described as in the error for a wrong name: "a column".
    Name(String),
    /// A string, such as a path.
    Text,
    /// This symbol.
    Symbol(String),
}

/// The record of what a parser looks for at the end of its tokens.
#[derive(Debug, Default)]
pub(super) struct Expectations(Option<Mutex<Vec<Expectation>>>);

impl Expectations {
    pub(super) fn recording() -> Self {
        Self(Some(Mutex::default()))
    }

    /// Returns the recorded expectations.
    pub(super) fn into_all(self) -> Vec<Expectation> {
        self.0.map(Mutex::into_inner).unwrap_or_default()
    }

    /// Records an expectation, if expectations are recorded.
    pub(super) fn record(&self, expectation: impl FnOnce() -> Expectation) {
        if let Some(all) = &self.0 {
            let (expectation, mut all) = (expectation(), all.lock());
            if !all.contains(&expectation) {
                all.push(expectation);
            }
        }
    }
}
