//! The options of Mondrian in a statement.

use crate::method::partition::ranges::Ranges;

/// The choice of the column to divide next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Split {
    Widest,
    MostDistinct,
    /// The column whose parts lose least. Every column is tried.
    Loss,
    First,
}

/// The Mondrian algorithm with its options.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mondrian {
    pub(super) relaxed: bool,
    pub(super) split: Split,
    pub(super) ranges: Ranges,
}
