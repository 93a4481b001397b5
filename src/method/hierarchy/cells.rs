//! The cells of a column. The ends of released ranges are moved outward to the ends of cells. The
//! cells are the groups of the column's hierarchy if these groups are intervals. Otherwise they
//! depend on the difference between the column's maximum and minimum ([`Grid`]).

use super::bounds::Bounds;
use super::codes::Coded;
use super::grid::Grid;
use super::ground::numbers;
use super::lookup::Lookup;
use crate::base::error::Result;
use arrow::array::{Array, ArrayRef, UInt32Array};
use arrow::compute::take;

impl Lookup {
    /// Returns the cells of the column; `None` if the column has no order or no cells can be
    /// computed.
    pub(super) fn grid(&self) -> Option<&Grid> {
        let grid = || match of_hierarchy(self) {
            // If the codes are years, they cannot be compared with days and instants.
            Ok(None) if self.codes.as_ref().is_some_and(|codes| codes.of != Coded::Numbers) => None,
            Ok(None) => Grid::of_values(self.values(), self.codes.as_ref(), |code| self.hidden(code))
                .ok()
                .flatten(),
            found => found.ok().flatten(),
        };
        self.grid.get_or_init(grid).as_ref().filter(|_| self.is_ordered())
    }
}

/// Returns the grid whose cells are the groups of a hierarchy at the lowest level that has a group
/// of more than one value. Returns `None` if no level has such a group, or if the labels up to that
/// level are not intervals in the order of the values.
fn of_hierarchy(lookup: &Lookup) -> Result<Option<Grid>> {
    for level in 1..lookup.top() {
        let Ok(bounds) = Bounds::of_level(lookup, level) else {
            return Ok(None);
        };
        let codes = &lookup.level(level).codes;
        let (low, high) = bounds.ends()?;
        let of_code = |ends: &ArrayRef| take(ends, &UInt32Array::from(codes.clone()), None);
        let (low, high) = (of_code(&low)?, of_code(&high)?);
        let (Some(lows), Some(highs)) = (numbers(&low)?, numbers(&high)?) else {
            return Ok(None);
        };
        let known = lookup.values().len() - lookup.values().null_count();
        // The values that a TOP CODE or BOTTOM CODE hides form one group, but this does not show
        // how the other values are grouped.
        let is_alone = |code: usize| lows[code].is_some() && lows[code] == highs[code];
        if (0..known).all(|code| is_alone(code) || lookup.hidden(code as u32).is_some()) {
            continue;
        }
        let apart = |code: usize| {
            let (before, after) = (highs[code - 1], lows[code]);
            codes[code - 1] == codes[code] || before.zip(after).is_some_and(|(before, after)| before <= after)
        };
        if !(1..known).all(apart) {
            return Ok(None);
        }
        let is_same = |a: usize, b: usize| codes[a] == codes[b];
        return Grid::between((low, lows), (high, highs), is_same).map(Some);
    }
    Ok(None)
}
