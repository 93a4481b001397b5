//! What the release of a job must satisfy.

use super::constraint::{Constraint, SuppressionLimit};
use crate::data::model::Sampling;
use crate::method::standard::Standard;

/// What a release must satisfy: models, standards, the suppression limit, and accepted warnings.
pub struct Guarantees {
    /// The privacy models with their attributes and columns.
    pub constraints: Vec<Constraint>,
    /// The standards that the release follows.
    pub standards: Vec<&'static Standard>,
    /// The maximum number of rows that may be suppressed.
    pub suppression: SuppressionLimit,
    /// Whether suppressed rows are kept, with `*` in every quasi-identifier and NULL in every
    /// sensitive column.
    pub starred: bool,
    /// The columns whose warnings are accepted.
    pub accepted: Vec<String>,
    /// Whether an open warning is an error.
    pub strict: bool,
}

impl Guarantees {
    /// Returns the constraint about single rows, which is enforced while the rows are written.
    pub fn of_rows(&self) -> Option<&Constraint> {
        self.constraints.iter().find(|c| c.is_of_rows())
    }

    /// Returns the column that contains the limits of the rows, which is not released.
    pub fn limit_column(&self) -> Option<&str> {
        self.constraints.iter().find_map(Constraint::limit)
    }

    /// Returns the sensitive attribute whose values are generalized for a constraint.
    pub fn generalized_attribute(&self) -> Option<&str> {
        self.constraints.iter().find_map(Constraint::generalized_attribute)
    }

    /// Returns how the rows are drawn, if the release is a sample.
    pub fn sampling(&self) -> Option<&Sampling> {
        self.constraints.iter().find_map(Constraint::sampling)
    }
}
