//! The frequency set of a node: its equivalence classes with their counts.

use super::detail::Detail;
use crate::method::key::{KeySchema, partitioned};
use crate::method::lattice::Node;
use arrow::buffer::ScalarBuffer;

/// The equivalence classes of one node.
#[derive(Debug, Clone)]
pub struct FrequencySet {
    node: Node,
    words: usize,
    keys: ScalarBuffer<u64>,
    counts: ScalarBuffer<u64>,
    populations: Option<ScalarBuffer<u64>>,
    details: Vec<Detail>,
    cardinalities: Vec<usize>,
}

impl FrequencySet {
    /// Creates the frequency set of `node` from its keys (all words of a key, one key after
    /// another) and its row counts. The set has no counts in a population table and no details.
    pub fn new(
        node: Node,
        words: usize,
        keys: impl Into<ScalarBuffer<u64>>,
        counts: impl Into<ScalarBuffer<u64>>,
    ) -> Self {
        Self {
            node,
            words,
            keys: keys.into(),
            counts: counts.into(),
            populations: None,
            details: vec![],
            cardinalities: vec![],
        }
    }

    /// Returns the number of words per key.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// Returns the number of codes of each detail.
    pub(crate) fn cardinalities(&self) -> &[usize] {
        &self.cardinalities
    }

    /// Returns the node of the set.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Returns the number of entries. An entry is either a class, or a group that occurs only in
    /// the population and has the count 0.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks whether there is none")]
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Returns the words of the packed keys, one key after another.
    pub fn keys(&self) -> &ScalarBuffer<u64> {
        &self.keys
    }

    /// Returns the packed key of entry `i`.
    pub fn key(&self, i: usize) -> &[u64] {
        &self.keys[i * self.words..(i + 1) * self.words]
    }

    /// Returns the number of rows of each entry.
    pub fn counts(&self) -> &ScalarBuffer<u64> {
        &self.counts
    }

    /// Returns the number of rows of each entry in the population table, if the request names one.
    pub fn populations(&self) -> Option<&ScalarBuffer<u64>> {
        self.populations.as_ref()
    }

    /// Returns the details in the order of the request.
    pub fn details(&self) -> &[Detail] {
        &self.details
    }

    /// Returns the memory of the set in bytes.
    pub fn bytes(&self) -> usize {
        let populations = self.populations.as_ref().map_or(0, |p| p.len() * 8);
        self.keys.len() * 8
            + self.counts.len() * 8
            + populations
            + self.details.iter().map(Detail::bytes).sum::<usize>()
    }

    /// Returns the indices of the entries for which `keep` is true, and the set of these entries.
    /// If there is a population, all entries are kept because of their rows in the population; an
    /// entry for which `keep` is false then has the count 0.
    pub fn filter(&self, keep: &[bool]) -> (Vec<usize>, Self) {
        let stays = |i: &usize| keep[*i] || self.populations.is_some();
        let entries: Vec<usize> = (0..self.len()).filter(stays).collect();
        let pick = |values: &ScalarBuffer<u64>| entries.iter().map(|i| values[*i]).collect::<Vec<u64>>().into();
        let details = self
            .details
            .iter()
            .zip(&self.cardinalities)
            .map(|(detail, cardinality)| {
                let triples = entries
                    .iter()
                    .zip(0..)
                    .filter(|(i, _)| keep[**i])
                    .flat_map(|(i, class)| detail.class(*i).map(move |(c, n)| (class, c, n)));
                Detail::from_triples(entries.len(), *cardinality, triples)
            });
        let kept = Self {
            node: self.node.clone(),
            words: self.words,
            keys: entries
                .iter()
                .flat_map(|i| self.key(*i).iter().copied())
                .collect::<Vec<u64>>()
                .into(),
            counts: entries
                .iter()
                .map(|i| if keep[*i] { self.counts[*i] } else { 0 })
                .collect::<Vec<u64>>()
                .into(),
            populations: self.populations.as_ref().map(pick),
            details: details.collect(),
            cardinalities: self.cardinalities.clone(),
        };
        (entries, kept)
    }

    /// Returns this set with other counts. The details are not changed.
    pub fn with_counts(&self, counts: Vec<u64>) -> Self {
        Self {
            counts: counts.into(),
            ..self.clone()
        }
    }

    /// Returns this set with the number of rows of each entry in the population table, if there is
    /// one.
    pub(super) fn with_populations(self, populations: Option<impl Into<ScalarBuffer<u64>>>) -> Self {
        Self {
            populations: populations.map(Into::into),
            ..self
        }
    }

    /// Returns this set with these details, each with the number of its codes.
    pub(super) fn with_details(self, details: Vec<(Detail, usize)>) -> Self {
        let (details, cardinalities) = details.into_iter().unzip();
        Self {
            details,
            cardinalities,
            ..self
        }
    }

    /// Returns this set with its entries in ascending order of their keys.
    pub(super) fn ascending(self) -> Self {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.sort_unstable_by(|a, b| self.key(*a as usize).cmp(self.key(*b as usize)));
        let mut ranks = vec![0; order.len()];
        order
            .iter()
            .zip(0..)
            .for_each(|(entry, rank)| ranks[*entry as usize] = rank);
        let keys = order
            .iter()
            .flat_map(|entry| self.key(*entry as usize))
            .copied()
            .collect();
        self.merged(self.node.clone(), keys, &ranks)
    }

    /// Returns this set after entry `i` was merged into class `groups[i]`, where `classes` is the
    /// number of classes. A class has the key of its first entry, and the set keeps its node. The
    /// caller must keep track of the labels of the classes.
    pub fn group(&self, groups: &[u32], classes: usize) -> Self {
        let mut keys = vec![0u64; classes * self.words];
        for (i, group) in groups.iter().enumerate().rev() {
            let at = *group as usize * self.words;
            keys[at..at + self.words].copy_from_slice(self.key(i));
        }
        self.merged(self.node.clone(), keys, groups)
    }

    fn merged(&self, node: Node, keys: Vec<u64>, groups: &[u32]) -> Self {
        let classes = keys.len() / self.words;
        let sum = |values: &[u64]| {
            let mut sums = vec![0u64; classes];
            for (group, value) in groups.iter().zip(values) {
                sums[*group as usize] += value;
            }
            sums
        };
        let details = self.details.iter().zip(&self.cardinalities);
        Self {
            node,
            words: self.words,
            counts: sum(&self.counts).into(),
            populations: self.populations.as_ref().map(|p| sum(p).into()),
            details: details.map(|(d, m)| d.roll_up(classes, *m, groups)).collect(),
            cardinalities: self.cardinalities.clone(),
            keys: keys.into(),
        }
    }

    /// Generalizes this set to the more general `node`. Also returns the index of the resulting
    /// class for each entry of this set.
    pub fn roll_up(&self, key_schema: &KeySchema, node: &Node) -> (Self, Vec<u32>) {
        let words = self.words;
        let grouped = partitioned::group(words, self.len(), |entries| {
            let keys = &self.keys[entries.start * words..entries.end * words];
            key_schema.generalize(keys, &self.node, node).into()
        });
        let rolled = self.merged(node.clone(), grouped.keys, &grouped.groups);
        (rolled, grouped.groups)
    }
}
