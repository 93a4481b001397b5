//! A sample of distinct values that does not depend on the order of the values.
//!
//! A value is in the sample if its hash ends in at least a certain number of zero bits. This number
//! grows when the sample is full. The sample therefore contains every distinct value of a small
//! set, and a known share of the values of a large set, each with all its occurrences. It thus
//! shows exactly whether a sampled value occurs only once.
//!
//! Reference: Gibbons, Distinct sampling for highly-accurate answers to distinct values queries and
//! event reports, VLDB 2001.

use datafusion::common::hash_utils::RandomState;
use std::collections::HashMap;

/// A sample of distinct values by their hashes, with an entry of type `V` for each value.
#[derive(Debug)]
pub(super) struct ValueSketch<V> {
    entries: HashMap<u64, V, RandomState>,
    capacity: usize,
    zeros: u32,
}

impl<V> ValueSketch<V> {
    /// Creates an empty sample that holds at most `capacity` values.
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            entries: HashMap::default(),
            capacity,
            zeros: 0,
        }
    }

    /// Returns true if the sample keeps a value with this hash.
    pub(super) fn takes(&self, hash: u64) -> bool {
        hash.trailing_zeros() >= self.zeros
    }

    /// Adds an occurrence of the value with this hash. The first occurrence creates the entry with
    /// `first`, and every later occurrence changes the entry with `again`.
    pub(super) fn add(&mut self, hash: u64, first: impl FnOnce() -> V, again: impl FnOnce(&mut V)) {
        if !self.takes(hash) {
            return;
        }
        if let Some(entry) = self.entries.get_mut(&hash) {
            return again(entry);
        }
        self.entries.insert(hash, first());
        while self.entries.len() > self.capacity {
            self.zeros += 1;
            let zeros = self.zeros;
            self.entries.retain(|hash, _| hash.trailing_zeros() >= zeros);
        }
    }

    /// Returns true if the sample contains every distinct value.
    pub(super) fn is_complete(&self) -> bool {
        self.zeros == 0
    }

    /// Returns the number of distinct values whose entries satisfy `wanted`; an estimate unless the
    /// sample is complete.
    pub(super) fn count(&self, wanted: impl Fn(&V) -> bool) -> u64 {
        let sampled = self.entries.values().filter(|entry| wanted(entry)).count() as u64;
        sampled << self.zeros.min(63)
    }

    /// Returns the entries in the order of their hashes.
    pub(super) fn into_entries(self) -> Vec<V> {
        let mut entries: Vec<(u64, V)> = self.entries.into_iter().collect();
        entries.sort_unstable_by_key(|(hash, _)| *hash);
        entries.into_iter().map(|(_, entry)| entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::common::hash_utils::HLL_RANDOM_STATE;
    use std::hash::BuildHasher;

    fn hash(n: u64) -> u64 {
        HLL_RANDOM_STATE.hash_one(n)
    }

    /// Returns a sketch of the values that counts the occurrences of each value.
    fn counted(values: impl Iterator<Item = u64>, capacity: usize) -> ValueSketch<u64> {
        let mut sketch = ValueSketch::new(capacity);
        values.for_each(|n| sketch.add(hash(n), || 1, |seen| *seen += 1));
        sketch
    }

    #[test]
    fn few_values_are_counted_exactly() {
        let sketch = counted((0..100).chain(0..40), 100);
        assert!(sketch.is_complete());
        assert_eq!((sketch.count(|_| true), sketch.count(|n| *n == 1)), (100, 60));
    }

    #[test]
    fn many_values_are_estimated_alike_in_any_order() {
        let values = (0..50_000).chain(0..20_000);
        let reversed: Vec<u64> = values.clone().collect();
        let (one, two) = (counted(values, 4096), counted(reversed.into_iter().rev(), 4096));
        assert!(!one.is_complete());
        let counts = |s: &ValueSketch<u64>| (s.count(|_| true), s.count(|n| *n == 1));
        assert_eq!(counts(&one), counts(&two));
        let (all, once) = counts(&one);
        assert!(
            all.abs_diff(50_000) < 4_000 && once.abs_diff(30_000) < 3_000,
            "{all} {once}"
        );
        assert_eq!(one.into_entries(), two.into_entries());
    }
}
