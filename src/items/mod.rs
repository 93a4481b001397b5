//! Sets of items: the cut of an item hierarchy after which no few items point to few rows.
//!
//! A row has a set of items (what somebody bought, the diagnoses of a stay). Whoever knows up to m
//! items of a person must find at least k rows that have them all: k^m-anonymity. Every item is
//! released as one label in all rows: itself or an ancestor in the item hierarchy (global recoding
//! of full subtrees: if an item becomes an ancestor, so does all that is under it). Such a choice
//! is a [`Cut`]. In a set, labels that have become equal are one. An item that may be *removed* is
//! in no set of the release.
//!
//! [`choose`] looks for the cut that loses least: by all cuts if they are few, and else by the
//! apriori-based anonymization of the paper (`mend`), whose result is then made more specific
//! wherever the promise allows (`relax`).
//!
//! Terrovitis, Mamoulis and Kalnis, Privacy-preserving anonymization of set-valued data, PVLDB
//! 2008, doi:10.14778/1453856.1453874; Local and global recoding methods for anonymizing set-valued
//! data, VLDB Journal 2011, doi:10.1007/s00778-010-0192-8.

mod choose;
mod mend;
mod optimum;
mod relax;
mod request;
mod sets;
#[cfg(test)]
mod tests;
mod tree;

pub use choose::{Chosen, choose};
pub use request::Request;
pub use sets::ItemSets;
pub use tree::{Cut, ItemTree};

use crate::error::Result;

/// The promise about a column of sets: every combination of up to `size` labels that a row has is
/// had by `k` rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemBound {
    /// The least rows of a combination.
    pub k: u64,
    /// The most items of a combination.
    pub size: usize,
}

/// The most items of a combination: their labels are packed in one word of 128 bits.
pub const MOST_KNOWN: usize = 4;

/// Reserves this many bytes for the counts of combinations, in place of those reserved before.
/// Fails above the memory limit.
pub type Reserve<'a> = &'a dyn Fn(usize) -> Result<()>;
