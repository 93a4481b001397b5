//! What a partitioning algorithm may ask about the table.

use crate::hierarchy::Lookup;
use std::sync::Arc;

/// One quasi-identifier.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its values and their labels.
    pub lookup: Arc<Lookup>,
    /// The lowest level that LEVELS allows; combinations are distinct at this level.
    pub bottom: u8,
    /// The highest level that LEVELS allows.
    pub top: u8,
    /// What a loss in this column counts, beside 1 for others.
    pub weight: f64,
}

/// The distinct combinations of quasi-identifier values, numbered in the order of their keys, and the judge of groups of
/// them.
#[allow(clippy::len_without_is_empty, reason = "nobody asks whether there is none")]
pub trait Table {
    /// The quasi-identifiers.
    fn columns(&self) -> &[Column];

    /// The number of combinations.
    fn len(&self) -> usize;

    /// The ground code of a combination in a column.
    fn code(&self, column: usize, combination: u32) -> u32;

    /// Rows of a combination; at least 1.
    fn rows(&self, combination: u32) -> u64;

    /// Whether a group of these combinations may be released: every model in force holds for it.
    fn holds(&self, combinations: &[u32]) -> bool;

    /// No group with fewer rows holds.
    fn least_rows(&self) -> u64;

    /// Whether every group with [`Table::least_rows`] rows holds, so that its rows are all there is to ask.
    fn rows_suffice(&self) -> bool;

    /// Rows that may be suppressed, beyond those that are in no combination.
    fn suppressible(&self) -> u64;

    /// The number of distinct class labels; `None` unless the algorithm reads them and CLASS names a column.
    fn class_labels(&self) -> Option<usize>;

    /// Calls `f` with each class label of a combination and its rows.
    fn for_each_class_label(&self, combination: u32, f: &mut dyn FnMut(u32, u64));
}
