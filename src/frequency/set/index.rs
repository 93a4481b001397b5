//! The entries of a frequency set by their keys.

use super::frequency_set::FrequencySet;
use crate::frequency::key::Grouper;

/// The entries of a frequency set by their packed keys.
#[derive(Debug)]
pub struct KeyIndex {
    grouper: Grouper,
}

impl KeyIndex {
    /// The index of `set`.
    pub fn new(set: &FrequencySet) -> Self {
        let mut grouper = Grouper::new(set.words());
        // Keys are distinct, so the number of a group is that of its entry.
        grouper.group(set.keys(), &mut vec![]);
        Self { grouper }
    }

    /// The index of `entries` of `set`, which have numbers in the order they come in.
    pub fn of_entries<'a>(set: &FrequencySet, entries: impl Iterator<Item = &'a usize>) -> Self {
        let mut grouper = Grouper::new(set.words());
        let keys: Vec<u64> = entries.flat_map(|i| set.key(*i).iter().copied()).collect();
        grouper.group(&keys, &mut vec![]);
        Self { grouper }
    }

    /// The entry with this key.
    #[inline]
    pub fn entry(&self, key: &[u64]) -> Option<u32> {
        self.grouper.find(key)
    }

    /// Memory held, in bytes.
    pub fn bytes(&self) -> usize {
        self.grouper.bytes()
    }
}
