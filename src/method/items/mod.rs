//! Sets of items: finds a cut of an item hierarchy such that a few known items of a person always
//! match at least k rows.
//!
//! A row has a set of items (the purchases of a person, the diagnoses of a hospital stay). Anyone
//! who knows up to m items of a person must find at least k rows that have all of these items:
//! k^m-anonymity. Every item is released with the same label in all rows, which is either the item
//! itself or an ancestor in the item hierarchy. If an item is replaced by an ancestor, so is
//! everything under that ancestor (global recoding of full subtrees). A choice of labels for all
//! items is a [`Cut`]. Equal labels in a set become a single label. A *removed* item occurs in no
//! set of the release.
//!
//! [`choose`] searches for the cut with the minimum loss. It tries all cuts that remove no items if
//! there are few of these cuts. If there are many, or if items may be removed, it runs the
//! apriori-based anonymization of the paper (`mend`). The result of that algorithm is then made
//! more specific wherever the privacy bounds allow (`relax`).
//!
//! Reference: Terrovitis, Mamoulis and Kalnis, Privacy-preserving anonymization of set-valued data,
//! PVLDB 2008, doi:10.14778/1453856.1453874; Local and global recoding methods for anonymizing
//! set-valued data, VLDB Journal 2011, doi:10.1007/s00778-010-0192-8.

mod choose;
mod mend;
mod optimum;
mod relax;
mod request;
mod sets;
#[cfg(test)]
mod tests;
mod tree;

pub use choose::{ChosenCut, choose};
pub use request::Request;
pub use sets::ItemSets;
pub use tree::{Cut, ItemTree};

use crate::base::error::Result;

/// A privacy bound for a column of sets: every combination of up to `size` labels that occurs in a
/// row must occur in at least `k` rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemBound {
    /// The minimum number of rows required for each combination that occurs.
    pub k: u64,
    /// The maximum number of labels in a combination.
    pub size: usize,
}

/// The maximum number of labels in a combination. The labels of a combination are packed in one
/// 128-bit word.
pub const MOST_KNOWN: usize = 4;

/// A function that reserves the given number of bytes for the counts of combinations, in place of
/// the previously reserved bytes. Fails if the memory limit would be exceeded.
pub type Reserve<'a> = &'a dyn Fn(usize) -> Result<()>;
