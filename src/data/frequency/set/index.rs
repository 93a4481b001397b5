//! The index of a frequency set, which maps packed keys to entries.

use super::frequency_set::FrequencySet;
use crate::method::key::Grouper;

/// An index from packed keys to the entries of a frequency set.
#[derive(Debug)]
pub struct KeyIndex {
    grouper: Grouper,
}

impl KeyIndex {
    /// Creates the index of `set`.
    pub fn new(set: &FrequencySet) -> Self {
        let mut grouper = Grouper::new(set.words());
        // The keys are distinct, so the index of a group is the index of its entry.
        grouper.group(set.keys(), &mut vec![]);
        Self { grouper }
    }

    /// Creates the index of the given `entries` of `set`. An entry is identified by its position in
    /// `entries`.
    pub fn of_entries<'a>(set: &FrequencySet, entries: impl Iterator<Item = &'a usize>) -> Self {
        let mut grouper = Grouper::new(set.words());
        let keys: Vec<u64> = entries.flat_map(|i| set.key(*i).iter().copied()).collect();
        grouper.group(&keys, &mut vec![]);
        Self { grouper }
    }

    /// Returns the index of the entry with this key; `None` if the set has no such entry.
    #[inline]
    pub fn entry(&self, key: &[u64]) -> Option<u32> {
        self.grouper.find(key)
    }

    /// Returns the words of the keys, in the order of the entries.
    pub(crate) fn keys(&self) -> &[u64] {
        self.grouper.keys()
    }

    /// Returns the memory of the index in bytes.
    pub fn bytes(&self) -> usize {
        self.grouper.bytes()
    }
}
