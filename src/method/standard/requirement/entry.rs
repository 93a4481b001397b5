//! The questions that VERIFY and the stages of a release ask of a requirement.

use crate::base::error::Result;
use crate::method::standard::looked::Looked;
use crate::method::standard::recorded::{RecordedRelease, ReleaseCheck};
use crate::method::suggest::Facts;
use arrow::array::ArrayRef;
use std::fmt::Debug;

/// A requirement that a standard has for a request. No method has a default implementation, so
/// every new requirement must answer all questions.
pub trait Requirement: Debug + Sync {
    /// Returns true if only the values of a source show whether a request violates the
    /// requirement.
    fn reads_values(&self) -> bool;

    /// Returns the distinct values of a quasi-identifier, followed by values that the column does
    /// not have, but whose labels are examined as well. Returns `None` if the labels of the
    /// column's own values suffice.
    fn siblings(&self, facts: &Facts, values: &ArrayRef) -> Result<Option<ArrayRef>>;

    /// Returns a sentence for each column that violates the requirement. The sentence names the
    /// paragraph, and says what to write instead.
    fn forbidden(&self, columns: &[Looked]) -> Result<Vec<String>>;

    /// Returns the requirement as a sentence if no model promises to satisfy it. The sentence names
    /// the paragraph, and says what to write. Returns `None` if a model does, or if the requirement
    /// is not about models.
    fn missing(&self, promised: &[Promised]) -> Option<String>;

    /// Compares a release with the requirement. `standard` is the name of the standard that has the
    /// requirement.
    fn compared(&self, standard: &str, release: &RecordedRelease) -> Result<ReleaseCheck>;
}

/// The promise of a privacy model about all quasi-identifiers together.
#[derive(Debug, Clone, Copy)]
pub struct Promised {
    /// The minimum class size that the model promises, in rows, or in entities if the request
    /// counts entities.
    pub class_size: u64,
}
