//! Estimates the number of distinct keys in a stream, in a fixed amount of memory.

use crate::method::key::hash;

/// The maximum number of hashes that are kept. The relative standard error of an estimate is about
/// one divided by the square root of this number: 0.8 percent.
const KEPT: usize = 1 << 14;

/// The smallest hashes of the keys that were added (bottom-k sketch: Bar-Yossef et al., Counting
/// Distinct Elements in a Data Stream, 2002). The estimate depends only on the set of keys, not on
/// their order or on how often they occur.
#[derive(Debug, Clone)]
pub(super) struct Sketch {
    hashes: Vec<u64>,
    /// The maximum hash that is added; larger hashes are ignored.
    most: u64,
}

impl Sketch {
    pub(super) fn new() -> Self {
        Self {
            hashes: vec![],
            most: u64::MAX,
        }
    }

    /// Adds keys of `words` words each.
    pub(super) fn add(&mut self, words: usize, keys: &[u64]) {
        keys.chunks_exact(words).for_each(|key| self.insert(hash(key)));
    }

    /// Adds the keys of another sketch.
    pub(super) fn merge(&mut self, other: &Self) {
        other.hashes.iter().for_each(|hash| self.insert(*hash));
    }

    fn insert(&mut self, hash: u64) {
        if hash > self.most {
            return;
        }
        self.hashes.push(hash);
        if self.hashes.len() >= 4 * KEPT {
            self.prune();
        }
    }

    fn prune(&mut self) {
        self.hashes.sort_unstable();
        self.hashes.dedup();
        self.hashes.truncate(KEPT);
        if let Some(last) = self.hashes.last().filter(|_| self.hashes.len() == KEPT) {
            self.most = *last;
        }
    }

    /// Returns the number of distinct keys. The number is exact for fewer than [`KEPT`] keys, and
    /// otherwise an estimate.
    pub(super) fn distinct(mut self) -> u64 {
        self.prune();
        match self.hashes.len() < KEPT {
            true => self.hashes.len() as u64,
            false => ((KEPT - 1) as f64 / (self.most as f64 / u64::MAX as f64)).round() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_counted_and_many_are_estimated() {
        for distinct in [0, 1, 1_000, KEPT as u64 - 1, 100_000, 3_000_000] {
            let keys: Vec<u64> = (0..distinct).map(|i| i * 7919).collect();
            let (mut whole, mut halves) = (Sketch::new(), [Sketch::new(), Sketch::new()]);
            whole.add(1, &keys);
            // Every key is added twice, in different orders.
            for (i, key) in keys.iter().rev().chain(&keys).enumerate() {
                halves[i % 2].add(1, &[*key]);
            }
            let [mut first, second] = halves;
            first.merge(&second);
            let (one, other) = (whole.distinct(), first.distinct());
            assert_eq!(one, other);
            match distinct < KEPT as u64 {
                true => assert_eq!(one, distinct),
                false => assert!(one.abs_diff(distinct) * 25 <= distinct, "{one} of {distinct}"),
            }
        }
    }
}
