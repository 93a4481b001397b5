//! The table as a partitioning algorithm sees it: combinations, columns and checks of groups.

use crate::method::hierarchy::Lookup;
use std::sync::Arc;

/// The kind of labels for the values of a column with an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// The labels of the hierarchy.
    Hierarchy,
    /// Ranges. If the groups of the hierarchy are intervals, ranges end at the ends of these
    /// intervals.
    Ranges,
    /// Ranges that are not released: each class is released with one value instead.
    Values,
}

/// One quasi-identifier.
#[derive(Debug, Clone)]
pub struct Column {
    /// The hierarchy bound to the values of the column.
    pub lookup: Arc<Lookup>,
    /// The lowest level that LEVELS allows. Combinations are distinct at this level.
    pub bottom: u8,
    /// The highest level that LEVELS allows.
    pub top: u8,
    /// The weight of a loss in this column; 1 if the statement has no WEIGHT.
    pub weight: f64,
    /// The kind of labels for the values, if they have an order.
    pub numbers: Numbers,
}

impl Column {
    /// Returns true if the values may be labelled by ranges.
    pub fn has_ranges(&self) -> bool {
        self.numbers != Numbers::Hierarchy && self.lookup.is_ordered()
    }

    /// Returns, for each ground code, the position of its value in an order in which values with
    /// the same label are adjacent.
    pub fn places(&self) -> Vec<u32> {
        let levels = self.lookup.levels();
        let mut codes: Vec<u32> = (0..self.lookup.values().len() as u32).collect();
        codes.sort_by_key(|code| -> Vec<u32> {
            let labels = levels.iter().rev().map(|level| level.representatives[*code as usize]);
            labels.collect()
        });
        let mut places = vec![0; codes.len()];
        for (place, code) in codes.iter().enumerate() {
            places[*code as usize] = place as u32;
        }
        places
    }
}

/// Columns whose groups must each have at least `least` rows, as in `k_anonymity(k) ON (a, b)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grouping {
    /// The indices of the columns, ascending.
    pub columns: Vec<usize>,
    /// The minimum number of rows required in each group.
    pub least: u64,
}

/// The distinct combinations of quasi-identifier values, numbered in the order of their keys. The
/// table also checks groups of combinations against the models.
#[allow(clippy::len_without_is_empty, reason = "nobody asks whether there is none")]
pub trait Table {
    /// Returns the quasi-identifiers.
    fn columns(&self) -> &[Column];

    /// Returns the number of combinations.
    fn len(&self) -> usize;

    /// Returns the number of combinations of the whole table if this table is a stratum. By
    /// default, returns the number of combinations of this table. The number limits the time: the
    /// strata of a large table together take no longer than the whole table.
    fn whole(&self) -> usize {
        self.len()
    }

    /// Returns the ground code of a combination in a column.
    fn code(&self, column: usize, combination: u32) -> u32;

    /// Returns the number of rows of a combination, which is at least 1.
    fn rows(&self, combination: u32) -> u64;

    /// Returns true if a group of these combinations may be released: it satisfies every model in
    /// force.
    fn holds(&self, combinations: &[u32]) -> bool;

    /// Returns a lower bound on the number of rows in a group that satisfies the models.
    fn least_rows(&self) -> u64;

    /// Returns true if every group with at least [`Table::least_rows`] rows satisfies the models.
    fn rows_suffice(&self) -> bool;

    /// Returns the groupings over some of the columns whose groups must be large enough.
    /// [`Table::holds`] does not check these groups, because each has rows of many classes.
    fn groupings(&self) -> &[Grouping] {
        &[]
    }

    /// Returns true if rows have limits of their own (personal privacy). These limits are enforced
    /// after the table is divided.
    fn rows_have_limits(&self) -> bool {
        false
    }

    /// Returns the number of rows that may be suppressed, in addition to the rows outside all
    /// combinations.
    fn suppressible(&self) -> u64;

    /// Returns the number of distinct class labels; `None` if the algorithm does not read them, or
    /// if the statement has no CLASS column.
    fn class_labels(&self) -> Option<usize>;

    /// Calls `f` with each class label of a combination and its number of rows.
    fn for_each_class_label(&self, combination: u32, f: &mut dyn FnMut(u32, u64));
}
