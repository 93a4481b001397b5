//! A column of a request as a standard looks at it.

use crate::suggest::Facts;
use arrow::array::ArrayRef;

/// A column of a request.
#[derive(Debug)]
pub struct Looked {
    /// What is known of the column: its name and type alone before anything is read.
    pub facts: Facts,
    /// How the column is released.
    pub treated: Treated,
}

/// How a column is released.
#[derive(Debug)]
pub enum Treated {
    /// As it is.
    Unchanged,
    /// As a mask: what a masked value is called, with its article.
    Masked(&'static str),
    /// As labels.
    Generalized(Labelled),
    /// As labels that nothing is known of: of sets, or before anything is read.
    Unseen,
}

/// The labels of a quasi-identifier at the lowest level that the request allows.
#[derive(Debug)]
pub struct Labelled {
    /// The level.
    pub level: u8,
    /// Distinct values.
    pub values: ArrayRef,
    /// The number of the label of each value; values with one number have one label.
    pub labels: Vec<u32>,
    /// Whether the released value is computed from labels or values, such as their mean: neither a
    /// label nor its bounds.
    pub computed: bool,
}
