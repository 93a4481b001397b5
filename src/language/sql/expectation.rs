//! Expectations for completion: the possible continuations of an unfinished statement. They are the
//! tokens that the statement's parser looks for at the end of the text.

use parking_lot::Mutex;

/// A possible continuation of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expectation {
    /// These keywords.
    Keywords(String),
    /// A name. The text describes the name as in the error for a wrong name: "a column".
    Name(String),
    /// A string, such as a path.
    Text,
    /// This symbol.
    Symbol(String),
}

/// The expectations that a parser records at the end of its tokens; `None` if they are not
/// recorded.
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

    /// Records an expectation. Does nothing unless `self` was created by `recording`.
    pub(super) fn record(&self, expectation: impl FnOnce() -> Expectation) {
        if let Some(all) = &self.0 {
            let (expectation, mut all) = (expectation(), all.lock());
            if !all.contains(&expectation) {
                all.push(expectation);
            }
        }
    }
}
