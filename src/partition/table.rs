//! The questions that a partitioning algorithm may ask about the table.

use crate::hierarchy::Lookup;
use std::sync::Arc;

/// The kind of labels for the values of a column with an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// The labels of the hierarchy.
    Hierarchy,
    /// Ranges. If the groups of the hierarchy are intervals, ranges end where these end.
    Ranges,
    /// Ranges that are not released: one value of each class takes their place.
    Values,
}

/// One quasi-identifier.
#[derive(Debug, Clone)]
pub struct Column {
    /// The hierarchy bound to the values of the column.
    pub lookup: Arc<Lookup>,
    /// The lowest level that LEVELS allows; combinations are distinct at this level.
    pub bottom: u8,
    /// The highest level that LEVELS allows.
    pub top: u8,
    /// The weight of a loss in this column; 1 if no weight was given.
    pub weight: f64,
    /// The kind of labels for the values, if they have an order.
    pub numbers: Numbers,
}

impl Column {
    /// Returns true if the values may be labelled by ranges.
    pub fn has_ranges(&self) -> bool {
        self.numbers != Numbers::Hierarchy && self.lookup.is_ordered()
    }

    /// Returns, by ground code, the place of the value in an order where values under one label are
    /// side by side.
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

/// Columns whose groups must each have a minimum number of rows: `k_anonymity(k) ON (a, b)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grouping {
    /// The positions of the columns, ascending.
    pub columns: Vec<usize>,
    /// The least number of rows of each group.
    pub least: u64,
}

/// The distinct combinations of quasi-identifier values, numbered in the order of their keys, with
/// a judge of groups of combinations.
#[allow(clippy::len_without_is_empty, reason = "nobody asks whether there is none")]
pub trait Table {
    /// Returns the quasi-identifiers.
    fn columns(&self) -> &[Column];

    /// Returns the number of combinations.
    fn len(&self) -> usize;

    /// If this table is a stratum, returns the number of combinations of the whole table. By
    /// default, returns the number of combinations of this table. With this number, the strata of a
    /// large table together take no more time than the whole table would.
    fn whole(&self) -> usize {
        self.len()
    }

    /// Returns the ground code of a combination in a column.
    fn code(&self, column: usize, combination: u32) -> u32;

    /// Returns the number of rows of a combination, which is at least 1.
    fn rows(&self, combination: u32) -> u64;

    /// Returns true if a group of these combinations may be released: every model in force holds
    /// for it.
    fn holds(&self, combinations: &[u32]) -> bool;

    /// Returns a number of rows below which no group satisfies the models.
    fn least_rows(&self) -> u64;

    /// Returns true if every group with [`Table::least_rows`] rows satisfies the models, so that
    /// only the number of rows matters.
    fn rows_suffice(&self) -> bool;

    /// Returns the groupings over some of the columns whose groups must be large enough.
    /// [`Table::holds`] does not judge these groups, because each has rows of many classes.
    fn groupings(&self) -> &[Grouping] {
        &[]
    }

    /// Returns true if rows have limits of their own, which are enforced after the table is divided
    /// (personal privacy).
    fn rows_have_limits(&self) -> bool {
        false
    }

    /// Returns the number of rows that may be suppressed, beyond those that are in no combination.
    fn suppressible(&self) -> u64;

    /// Returns the number of distinct class labels; `None` unless the algorithm reads them and
    /// CLASS names a column.
    fn class_labels(&self) -> Option<usize>;

    /// Calls `f` with each class label of a combination and its rows.
    fn for_each_class_label(&self, combination: u32, f: &mut dyn FnMut(u32, u64));
}
