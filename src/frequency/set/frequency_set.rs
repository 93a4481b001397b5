//! The frequency set of a node: its equivalence classes with their counts.

use super::partitioned;
use super::space::Space;
use crate::lattice::Node;
use arrow::buffer::{OffsetBuffer, ScalarBuffer};

/// What a class knows of one further attribute: which codes occur in it, and how often.
///
/// Kept as one list for all classes: the entries of class `i` are `offsets[i]..offsets[i + 1]`.
#[derive(Debug, Clone)]
pub struct Detail {
    offsets: OffsetBuffer<i32>,
    codes: ScalarBuffer<u32>,
    counts: ScalarBuffer<u64>,
}

impl Detail {
    pub(super) fn new(offsets: OffsetBuffer<i32>, codes: ScalarBuffer<u32>, counts: ScalarBuffer<u64>) -> Self {
        Self { offsets, codes, counts }
    }

    pub(super) fn buffers(&self) -> (&OffsetBuffer<i32>, &ScalarBuffer<u32>, &ScalarBuffer<u64>) {
        (&self.offsets, &self.codes, &self.counts)
    }

    /// From `(class, code, count)` triples of `classes` classes, each pair of class and code once.
    pub fn from_triples(classes: usize, cardinality: usize, triples: impl Iterator<Item = (u32, u32, u64)>) -> Self {
        let triples: Vec<_> = triples.collect();
        let groups: Vec<u32> = triples.iter().map(|t| t.0).collect();
        let codes: Vec<u32> = triples.iter().map(|t| t.1).collect();
        let counts: Vec<u64> = triples.iter().map(|t| t.2).collect();
        merge(classes, cardinality, &groups, &codes, &counts)
    }

    /// The codes and counts of class `class`, ascending by code.
    pub fn class(&self, class: usize) -> impl ExactSizeIterator<Item = (u32, u64)> + '_ {
        let range = self.offsets[class] as usize..self.offsets[class + 1] as usize;
        self.codes[range.clone()]
            .iter()
            .copied()
            .zip(self.counts[range].iter().copied())
    }

    /// How many codes occur in class `class`.
    pub fn distinct(&self, class: usize) -> u64 {
        (self.offsets[class + 1] - self.offsets[class]) as u64
    }

    /// The same attribute after classes were merged: class `i` became class `groups[i]` of `classes`.
    fn roll_up(&self, classes: usize, cardinality: usize, groups: &[u32]) -> Self {
        let mut by_entry = Vec::with_capacity(self.codes.len());
        for (class, group) in groups.iter().enumerate() {
            by_entry.extend(std::iter::repeat_n(*group, self.distinct(class) as usize));
        }
        merge(classes, cardinality, &by_entry, &self.codes, &self.counts)
    }

    fn bytes(&self) -> usize {
        self.offsets.len() * 4 + self.codes.len() * 12
    }
}

/// Sorts entries by group, then code, and adds up equal ones. Entries are bucketed by group, so the cost is linear but
/// for sorting the codes within a group.
fn merge(classes: usize, cardinality: usize, groups: &[u32], codes: &[u32], counts: &[u64]) -> Detail {
    let mut starts = vec![0u32; classes + 1];
    for group in groups {
        starts[*group as usize + 1] += 1;
    }
    for i in 0..classes {
        starts[i + 1] += starts[i];
    }
    let mut order = vec![0u32; groups.len()];
    let mut next = starts.clone();
    for (entry, group) in groups.iter().enumerate() {
        let at = &mut next[*group as usize];
        order[*at as usize] = entry as u32;
        *at += 1;
    }
    let mut sums = vec![0u64; cardinality];
    let mut seen: Vec<u32> = vec![];
    let (mut offsets, mut out_codes, mut out_counts) = (Vec::with_capacity(classes + 1), vec![], vec![]);
    offsets.push(0i32);
    for class in 0..classes {
        for &entry in &order[starts[class] as usize..starts[class + 1] as usize] {
            let code = codes[entry as usize];
            let sum = &mut sums[code as usize];
            if *sum == 0 {
                seen.push(code);
            }
            *sum += counts[entry as usize];
        }
        seen.sort_unstable();
        for code in seen.drain(..) {
            out_codes.push(code);
            out_counts.push(std::mem::take(&mut sums[code as usize]));
        }
        offsets.push(out_codes.len() as i32);
    }
    Detail {
        offsets: OffsetBuffer::new(offsets.into()),
        codes: out_codes.into(),
        counts: out_counts.into(),
    }
}

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
    /// The frequency set of `node` with these keys (one after the other), row counts, counts in a population table
    /// where one is needed, and details with the number of codes of each.
    pub fn new(
        node: Node,
        words: usize,
        keys: Vec<u64>,
        counts: Vec<u64>,
        populations: Option<Vec<u64>>,
        details: Vec<(Detail, usize)>,
    ) -> Self {
        let (details, cardinalities) = details.into_iter().unzip();
        Self {
            node,
            words,
            keys: keys.into(),
            counts: counts.into(),
            populations: populations.map(Into::into),
            details,
            cardinalities,
        }
    }

    pub(super) fn from_parts(
        node: Node,
        words: usize,
        keys: ScalarBuffer<u64>,
        counts: ScalarBuffer<u64>,
        populations: Option<ScalarBuffer<u64>>,
        details: Vec<Detail>,
        cardinalities: Vec<usize>,
    ) -> Self {
        Self {
            node,
            words,
            keys,
            counts,
            populations,
            details,
            cardinalities,
        }
    }

    /// Words per key.
    pub(super) fn words(&self) -> usize {
        self.words
    }

    /// The number of codes of each detail.
    pub(super) fn cardinalities(&self) -> &[usize] {
        &self.cardinalities
    }

    /// The node.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Entries: the classes, and groups that only the population has (their count is 0).
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The packed keys, one after the other.
    pub fn keys(&self) -> &ScalarBuffer<u64> {
        &self.keys
    }

    /// The packed key of entry `i`.
    pub fn key(&self, i: usize) -> &[u64] {
        &self.keys[i * self.words..(i + 1) * self.words]
    }

    /// Rows of each entry.
    pub fn counts(&self) -> &ScalarBuffer<u64> {
        &self.counts
    }

    /// Rows of each entry in the population table, when the request names one.
    pub fn populations(&self) -> Option<&ScalarBuffer<u64>> {
        self.populations.as_ref()
    }

    /// The details, in the order the request declared them.
    pub fn details(&self) -> &[Detail] {
        &self.details
    }

    /// Memory held, in bytes.
    pub fn bytes(&self) -> usize {
        let populations = self.populations.as_ref().map_or(0, |p| p.len() * 8);
        self.keys.len() * 8
            + self.counts.len() * 8
            + populations
            + self.details.iter().map(Detail::bytes).sum::<usize>()
    }

    /// The entries of this set for which `keep` says so, and their positions.
    pub fn filter(&self, keep: &[bool]) -> (Vec<usize>, Self) {
        let entries: Vec<usize> = (0..self.len()).filter(|i| keep[*i]).collect();
        let pick = |values: &ScalarBuffer<u64>| entries.iter().map(|i| values[*i]).collect::<Vec<u64>>().into();
        let details = self
            .details
            .iter()
            .zip(&self.cardinalities)
            .map(|(detail, cardinality)| {
                let triples = entries
                    .iter()
                    .zip(0..)
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
            counts: pick(&self.counts),
            populations: self.populations.as_ref().map(pick),
            details: details.collect(),
            cardinalities: self.cardinalities.clone(),
        };
        (entries, kept)
    }

    /// This set with other counts; what is known of further attributes stays as it was.
    pub fn with_counts(&self, counts: Vec<u64>) -> Self {
        Self {
            counts: counts.into(),
            ..self.clone()
        }
    }

    /// This set with entry `i` merged into class `groups[i]` of `classes`. A class has the key of its first entry, and
    /// the node is still this set's: what the class's labels are is for the caller to know.
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

    /// GROUP BY of this set at the more general `node`. Also answers the class of each entry of this set.
    pub fn roll_up(&self, space: &Space, node: &Node) -> (Self, Vec<u32>) {
        let words = self.words;
        let grouped = partitioned::group(words, self.len(), |entries| {
            let keys = &self.keys[entries.start * words..entries.end * words];
            space.generalize(keys, &self.node, node).into()
        });
        let rolled = self.merged(node.clone(), grouped.keys, &grouped.groups);
        (rolled, grouped.groups)
    }
}
