//! A cache of the frequency sets of evaluated nodes, bounded in bytes.

use super::frequency_set::FrequencySet;
use crate::method::lattice::Node;
use datafusion::execution::memory_pool::MemoryReservation;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The cached sets. The oldest set is evicted first.
#[derive(Debug)]
pub(super) struct Cache {
    sets: HashMap<Node, Arc<FrequencySet>>,
    oldest_first: VecDeque<Node>,
    bytes: usize,
    limit: usize,
    reservation: MemoryReservation,
}

impl Cache {
    /// Creates an empty cache of at most `limit` bytes, which are reserved in `reservation`.
    pub(super) fn new(limit: usize, reservation: MemoryReservation) -> Self {
        Self {
            sets: HashMap::new(),
            oldest_first: VecDeque::new(),
            bytes: 0,
            limit,
            reservation,
        }
    }

    /// Removes all sets and releases their memory.
    pub(super) fn clear(&mut self) {
        self.sets.clear();
        self.oldest_first.clear();
        let bytes = std::mem::take(&mut self.bytes);
        self.reservation.shrink(bytes);
    }

    /// Returns the nearest cached set from which `node` can be computed. The flag is true if it is
    /// the set of `node` itself. Direct predecessors are tried first, so a search that steps
    /// through the lattice rarely scans all cached nodes. If the base set is in memory, the set of
    /// another node is returned only if it is smaller than the base set.
    pub(super) fn nearest(&self, node: &Node, base: Option<&Arc<FrequencySet>>) -> Option<(Arc<FrequencySet>, bool)> {
        if let Some(own) = self.sets.get(node) {
            return Some((Arc::clone(own), true));
        }
        let levels = node.levels().iter().enumerate();
        let direct = levels
            .filter(|(_, level)| **level > 0)
            .filter_map(|(i, level)| self.sets.get(&node.with_level(i, level - 1)))
            .min_by_key(|set| set.len());
        let below = || {
            self.sets
                .values()
                .filter(|set| set.node().is_below_or_equal(node))
                .min_by_key(|set| set.len())
        };
        let smaller = |set: &&Arc<FrequencySet>| base.is_none_or(|base| set.len() < base.len());
        let nearest = direct.or_else(below).filter(smaller);
        nearest.map(|set| (Arc::clone(set), false))
    }

    pub(super) fn insert(&mut self, set: Arc<FrequencySet>, base_bytes: usize) {
        let bytes = set.bytes();
        // A set that is nearly as large as the base set saves no work.
        if bytes * 4 > base_bytes * 3 || bytes > self.limit / 2 {
            return;
        }
        while self.bytes + bytes > self.limit || self.reservation.try_grow(bytes).is_err() {
            let Some(oldest) = self.oldest_first.pop_front() else {
                return;
            };
            if let Some(gone) = self.sets.remove(&oldest) {
                self.bytes -= gone.bytes();
                self.reservation.shrink(gone.bytes());
            }
        }
        self.bytes += bytes;
        self.oldest_first.push_back(set.node().clone());
        if let Some(twice) = self.sets.insert(set.node().clone(), set) {
            self.bytes -= twice.bytes();
            self.reservation.shrink(twice.bytes());
        }
    }
}
