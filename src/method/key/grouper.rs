//! Groups packed keys with the hash table that every frequency set uses.
//!
//! This crate has its own hash table because hashbrown's table was slower in most cases of a loop
//! over 20,000 keys. The loop was measured with 10, 200, 2,000, 11,000 and 19,000 groups, and with
//! the better of two ways of using hashbrown's table. If the table is initially empty, as for a
//! node, hashbrown's takes 1.2, 0.8, 1.7, 1.8 and 2.3 times as long with keys of one word that are
//! stored in its entries, and 1.1 to 2.3 times as long with keys of two words. If the table
//! initially has room for all groups, hashbrown's takes 1.1, 0.7, 0.8, 1.0 and 1.9 times as long
//! with keys of one word, and 1.2 to 2.0 times as long with keys of two words. The effect on a
//! whole search was not measured.

/// Assigns a group index to each distinct key: 0, 1, 2, ... in order of first appearance.
#[derive(Debug)]
pub(crate) struct Grouper {
    words: usize,
    keys: Vec<u64>,
    /// For each slot, the group index plus 1, or 0 if the slot is free. The length is a power of
    /// two.
    slots: Vec<u32>,
}

const FIRST_SLOTS: usize = 1 << 10;

impl Grouper {
    /// Creates an empty table for keys of `words` words.
    pub(crate) fn new(words: usize) -> Self {
        Self {
            words,
            keys: vec![],
            slots: vec![0; FIRST_SLOTS],
        }
    }

    /// Returns the number of groups.
    pub(crate) fn len(&self) -> usize {
        self.keys.len() / self.words
    }

    /// Returns the words of the distinct keys, in the order of their group indices.
    pub(crate) fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Returns the words of the distinct keys, and drops the table.
    pub(crate) fn into_keys(self) -> Vec<u64> {
        self.keys
    }

    /// Returns the memory of the table in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.keys.capacity() * 8 + self.slots.capacity() * 4
    }

    /// Replaces the content of `groups` with the group index of each key in `keys`.
    pub(crate) fn group(&mut self, keys: &[u64], groups: &mut Vec<u32>) {
        groups.clear();
        groups.reserve(keys.len() / self.words);
        // There is a separate loop for each common number of words, so that comparing and hashing a
        // key needs no inner loop.
        match self.words {
            1 => self.group_words::<1>(keys, groups),
            2 => self.group_words::<2>(keys, groups),
            3 => self.group_words::<3>(keys, groups),
            4 => self.group_words::<4>(keys, groups),
            _ => self.group_words::<0>(keys, groups),
        }
    }

    /// Groups keys. `W` is the number of words per key, or 0 for any number of words.
    fn group_words<const W: usize>(&mut self, keys: &[u64], groups: &mut Vec<u32>) {
        let words = if W == 0 { self.words } else { W };
        // Equal keys are often adjacent, because a release is in the order of its classes.
        let mut last: Option<(&[u64], u32)> = None;
        for key in keys.chunks_exact(words) {
            if let Some((_, group)) = last.filter(|(last, _)| *last == key) {
                groups.push(group);
                continue;
            }
            if self.keys.len() / words * 2 >= self.slots.len() {
                self.grow(words);
            }
            let mask = self.slots.len() - 1;
            let mut slot = hash(key) as usize & mask;
            let group = loop {
                let found = self.slots[slot];
                if found == 0 {
                    let group = (self.keys.len() / words) as u32;
                    self.slots[slot] = group + 1;
                    self.keys.extend_from_slice(key);
                    break group;
                }
                let at = (found - 1) as usize * words;
                if self.keys[at..at + words] == *key {
                    break found - 1;
                }
                slot = (slot + 1) & mask;
            };
            last = Some((key, group));
            groups.push(group);
        }
    }

    fn grow(&mut self, words: usize) {
        let size = self.slots.len() * 4;
        self.slots.clear();
        self.slots.resize(size, 0);
        for (group, key) in self.keys.chunks_exact(words).enumerate() {
            let mut slot = hash(key) as usize & (size - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = group as u32 + 1;
        }
    }

    /// Returns the number of words per key.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// Returns the group index of a key; `None` if no group has the key.
    #[inline]
    pub(crate) fn find(&self, key: &[u64]) -> Option<u32> {
        match self.words {
            1 => self.find_words::<1>(key),
            2 => self.find_words::<2>(key),
            _ => self.find_words::<0>(key),
        }
    }

    /// Finds a key. `W` is the number of words per key, or 0 for any number of words.
    #[inline]
    fn find_words<const W: usize>(&self, key: &[u64]) -> Option<u32> {
        let words = if W == 0 { self.words } else { W };
        let key = key.get(..words)?;
        let mask = self.slots.len() - 1;
        let mut slot = hash(key) as usize & mask;
        loop {
            let found = self.slots[slot].checked_sub(1)?;
            let at = found as usize * words;
            // The keys are compared word by word, because a key has few words and a function call
            // would cost more than the comparison.
            if self.keys[at..at + words].iter().zip(key).all(|(a, b)| a == b) {
                return Some(found);
            }
            slot = (slot + 1) & mask;
        }
    }
}

/// Hashes a key. Folding the high half of the product onto the low half spreads every bit of the
/// key over the low bits. It also spreads them over the highest bits, by which keys are divided
/// into parts.
#[inline]
pub(crate) fn hash(key: &[u64]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    key.iter().fold(0, |h, word| {
        let product = u128::from(h ^ word ^ ODD).wrapping_mul(u128::from(ODD | 1));
        (product as u64) ^ ((product >> 64) as u64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn groups_like_a_map(words in 1usize..7, rows in prop::collection::vec(prop::collection::vec(0u64..4, 7), 0..3000)) {
            let mut grouper = Grouper::new(words);
            let keys: Vec<u64> = rows.iter().flat_map(|r| r[..words].to_vec()).collect();
            let mut groups = vec![];
            grouper.group(&keys, &mut groups);
            let mut map: HashMap<&[u64], u32> = HashMap::new();
            for (key, group) in keys.chunks(words).zip(&groups) {
                let next = map.len() as u32;
                prop_assert_eq!(*map.entry(key).or_insert(next), *group);
                prop_assert_eq!(grouper.find(key), Some(*group));
            }
            prop_assert_eq!(grouper.len(), map.len());
            prop_assert_eq!(grouper.find(&vec![9; words]), None);
        }
    }
}
