//! Shared parts of grouping from files: the slices of a node's classes, the available resources,
//! and the order of keys.

use crate::base::spill::SpillSpace;
use crate::method::key::hash;

/// The number of slices into which the classes of a node are divided.
pub(super) const SLICES: usize = 64;

/// The resources for grouping a node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Means<'a> {
    pub(crate) spill_space: &'a SpillSpace,
    pub(crate) threads: usize,
    /// The number of bytes per class that must still be available once all classes are grouped.
    pub(crate) class_bytes: usize,
}

/// Returns the index of the slice that contains a key.
pub(super) fn slice_of(key: &[u64]) -> usize {
    (hash(key) >> (u64::BITS - SLICES.ilog2())) as usize
}

/// Sorts keys in ascending order, together with their counts.
pub(crate) fn sorted(words: usize, keys: Vec<u64>, counts: Vec<u64>) -> (Vec<u64>, Vec<u64>) {
    if words == 1 {
        let mut pairs: Vec<(u64, u64)> = keys.into_iter().zip(counts).collect();
        pairs.sort_unstable();
        return pairs.into_iter().unzip();
    }
    let key = |class: u32| &keys[class as usize * words..(class as usize + 1) * words];
    let mut order: Vec<u32> = (0..counts.len() as u32).collect();
    order.sort_unstable_by(|a, b| key(*a).cmp(key(*b)));
    (
        order.iter().flat_map(|class| key(*class).iter().copied()).collect(),
        order.iter().map(|class| counts[*class as usize]).collect(),
    )
}
