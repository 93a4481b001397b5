//! The outcome of a promise about single rows. An operator enforces such a promise.

use std::collections::BTreeMap;

/// The statistics of an operator that enforces a promise about single rows. They are available
/// after all rows were returned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowOutcome {
    /// The number of rows at each level of the generalized attribute; empty if no attribute is
    /// generalized.
    pub levels: Vec<u64>,
    /// The number of rows for which the promise cannot be kept by any generalization. These rows
    /// were suppressed.
    pub unmet: u64,
    /// The total number of suppressed rows: the rows of `unmet`, and the rows of classes that were
    /// too small without the rows of `unmet`.
    pub suppressed: u64,
    /// The number of suppressed classes.
    pub classes: u64,
    /// The number of suppressed rows in each class that has such rows, by the order key of the
    /// class.
    pub lost: BTreeMap<Vec<u64>, u64>,
    /// The number of returned rows for which the promise does not hold, according to a recount.
    pub above: u64,
}
