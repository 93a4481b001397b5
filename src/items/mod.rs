//! Sets of items: finds a cut of an item hierarchy such that knowing a few items of a person never
//! narrows the rows down to only a few.
//!
//! A row has a set of items (the purchases of a person, the diagnoses of a stay). Anyone who knows
//! up to m items of a person must find at least k rows that have all of these items: k^m-anonymity.
//! Every item is released as one label in all rows: itself or an ancestor in the item hierarchy
//! (global recoding of full subtrees: if an item becomes an ancestor, so does everything under that
//! ancestor). Such a choice is a [`Cut`]. In a set, labels that have become equal are one label. A
//! *removed* item is in no set of the release.
//!
//! [`choose`] looks for the cut with the least loss. It tries all cuts if there are few.
//! If there are many, or if items may be removed, it runs the apriori-based anonymization of the
//! paper (`mend`). The result of that algorithm is then made more specific wherever the promise
//! allows (`relax`).
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

/// The promise about a column of sets: every combination of up to `size` labels that occurs in a
/// row occurs in at least `k` rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemBound {
    /// The least number of rows that have a combination.
    pub k: u64,
    /// The largest number of items of a combination.
    pub size: usize,
}

/// The largest number of items of a combination: their labels are packed in one word of 128 bits.
pub const MOST_KNOWN: usize = 4;

/// Reserves this many bytes for the counts of combinations, in place of the bytes reserved before.
/// Fails above the memory limit.
pub type Reserve<'a> = &'a dyn Fn(usize) -> Result<()>;
