//! The requirements of a cut.

use super::ItemBound;
use super::sets::ItemSets;
use super::tree::ItemTree;

/// The requirements of a cut, and the rows that they are about.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The item hierarchy.
    pub tree: &'a ItemTree,
    /// The sets of the rows that are released.
    pub sets: &'a ItemSets,
    /// The promises, all of which must hold.
    pub bounds: &'a [ItemBound],
    /// The most rows that may lose items.
    pub removable: u64,
}
