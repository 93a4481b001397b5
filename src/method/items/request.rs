//! The requirements for a cut.

use super::ItemBound;
use super::sets::ItemSets;
use super::tree::ItemTree;

/// The requirements that a cut must satisfy, and the rows to which they apply.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The item hierarchy.
    pub tree: &'a ItemTree,
    /// The sets of those rows that are released.
    pub sets: &'a ItemSets,
    /// The privacy bounds, all of which must hold.
    pub bounds: &'a [ItemBound],
    /// The maximum number of rows that may lose items.
    pub removable: u64,
}
