//! The options of algorithms that label numbers, dates and timestamps by ranges.

use super::table::Column;
use crate::base::catalogue::{Arguments, Kind, Param};
use crate::base::error::Result;

/// The form of labels for numbers, dates and timestamps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ranges {
    /// Whether numbers and dates are labelled by their hierarchy and never by ranges.
    pub(super) by_hierarchy: bool,
    /// Whether numbers and dates are labelled by ranges even if a hierarchy has labels for them.
    pub(super) asked: bool,
    /// Whether a range ends at values of its group instead of at round numbers.
    pub(super) exact: bool,
}

/// The value of [`NUMBERS`] for labels of a hierarchy.
pub(super) const HIERARCHY: &str = "hierarchy";

/// The value of [`NUMBERS`] for ranges.
const RANGE: &str = "range";

/// The option `numbers`.
pub(super) const NUMBERS: Param = Param {
    name: "numbers",
    summary: "the labels of numbers and dates: ranges, or labels of the hierarchy; by default the hierarchy decides",
    kind: Kind::Word(&[RANGE, HIERARCHY]),
    default: Some(""),
};

/// The value of [`RANGES`] for ranges that end at values of the group.
const EXACT: &str = "exact";

/// The option `ranges`.
pub(super) const RANGES: Param = Param {
    name: "ranges",
    summary: "ranges end at round numbers or exactly at values of the group; rounded by default",
    kind: Kind::Word(&["rounded", EXACT]),
    default: Some(""),
};

impl Ranges {
    /// Reads [`NUMBERS`] and [`RANGES`].
    pub(super) fn read(args: &Arguments) -> Result<Self> {
        let word = |name| args.given(name, |args, name| args.word(name).map(str::to_string));
        let (numbers, ranges) = (word(NUMBERS.name)?, word(RANGES.name)?);
        let by_hierarchy = numbers.as_deref() == Some(HIERARCHY);
        Ok(Self {
            by_hierarchy,
            asked: !by_hierarchy && (numbers.is_some() || ranges.is_some()),
            exact: ranges.as_deref() == Some(EXACT),
        })
    }

    /// Returns true if a column is labelled by ranges.
    pub(super) fn are_of(self, column: &Column) -> bool {
        !self.by_hierarchy && column.has_ranges()
    }
}
