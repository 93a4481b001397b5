//! Sums of numbers by packed key.

use super::grouper::Grouper;
use std::ops::AddAssign;

/// Sums of numbers by key, in the order in which the keys first appeared.
#[derive(Debug)]
pub(crate) struct Sums<N> {
    grouper: Grouper,
    sums: Vec<N>,
    /// Scratch space for the group index of each key that is being added.
    groups: Vec<u32>,
}

impl<N: Copy + Default + AddAssign> Sums<N> {
    /// Creates an empty set of sums by keys of `words` words each.
    pub(crate) fn new(words: usize) -> Self {
        Self {
            grouper: Grouper::new(words),
            sums: vec![],
            groups: vec![],
        }
    }

    /// Adds `numbers` to the sums of `keys`. Both have the same length.
    pub(crate) fn add(&mut self, keys: &[u64], numbers: impl IntoIterator<Item = N>) {
        self.grouper.group(keys, &mut self.groups);
        self.sums.resize(self.grouper.len(), N::default());
        for (group, number) in self.groups.iter().zip(numbers) {
            self.sums[*group as usize] += number;
        }
    }

    /// Returns the number of distinct keys.
    pub(crate) fn len(&self) -> usize {
        self.sums.len()
    }

    /// Returns the words of the distinct keys.
    pub(crate) fn keys(&self) -> &[u64] {
        self.grouper.keys()
    }

    /// Returns the sum of each distinct key.
    pub(crate) fn sums(&self) -> &[N] {
        &self.sums
    }

    /// Returns the words of the distinct keys, and their sums.
    pub(crate) fn into_parts(self) -> (Vec<u64>, Vec<N>) {
        (self.grouper.into_keys(), self.sums)
    }

    /// Returns the memory of the sums in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.grouper.bytes() + self.sums.capacity() * size_of::<N>() + self.groups.capacity() * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn numbers_of_a_key_are_added_up(parts in prop::collection::vec(prop::collection::vec((0u64..5, 0u64..3, -9i64..9), 0..20), 0..5)) {
            let (mut sums, mut expected) = (Sums::new(2), BTreeMap::<(u64, u64), i64>::new());
            for part in parts {
                let keys: Vec<u64> = part.iter().flat_map(|(a, b, _)| [*a, *b]).collect();
                sums.add(&keys, part.iter().map(|(.., n)| *n));
                part.iter().for_each(|(a, b, n)| *expected.entry((*a, *b)).or_default() += n);
            }
            prop_assert_eq!(sums.len(), expected.len());
            let (keys, sums) = sums.into_parts();
            let found: BTreeMap<(u64, u64), i64> = keys.chunks(2).map(|k| (k[0], k[1])).zip(sums).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
