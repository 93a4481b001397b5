//! The options of algorithms that label numbers, dates and timestamps by ranges.

use crate::catalogue::{Arguments, Kind, Param};
use crate::error::Result;

/// How numbers and dates are labelled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ranges {
    /// Whether they are labelled by their hierarchy, and not by ranges at all.
    pub(super) by_hierarchy: bool,
    /// Whether a range ends at values of its group, and not at round numbers.
    pub(super) exact: bool,
}

/// The word of [`NUMBERS`] for labels of a hierarchy.
pub(super) const HIERARCHY: &str = "hierarchy";

/// The option `numbers`.
pub(super) const NUMBERS: Param = Param {
    name: "numbers",
    summary: "whether numbers and dates are labelled by ranges, or by their hierarchy",
    kind: Kind::Word(&["range", HIERARCHY]),
    default: Some("range"),
};

/// The option `ranges`.
pub(super) const RANGES: Param = Param {
    name: "ranges",
    summary: "ranges end at round numbers, or exactly at values of the group",
    kind: Kind::Word(&["rounded", "exact"]),
    default: Some("rounded"),
};

impl Ranges {
    /// Reads [`NUMBERS`] and [`RANGES`].
    pub(super) fn read(args: &Arguments) -> Result<Self> {
        Ok(Self {
            by_hierarchy: args.word("numbers")? == HIERARCHY,
            exact: args.word("ranges")? == "exact",
        })
    }
}
