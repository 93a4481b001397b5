//! Details of classes: the codes of one further attribute in each class, with their counts. The
//! attribute is a sensitive attribute, a class label, or an entity.

use crate::data::frequency::scan::DetailRequest;
use arrow::array::ArrayRef;
use arrow::buffer::{OffsetBuffer, ScalarBuffer};

/// A further attribute over the whole table.
#[derive(Debug, Clone)]
pub struct Attribute {
    /// The request for the detail.
    pub request: DetailRequest,
    /// The distinct values of the attribute in ascending order, with NULL last. For pairs of an
    /// entity and a value, these are the values only.
    pub values: ArrayRef,
    /// For pairs, the index in `values` for each code of the detail. Otherwise `None`: the codes
    /// themselves are the indices.
    pub value_of_code: Option<Vec<u32>>,
    /// The number of rows with each value in the whole table; for pairs, the number of distinct
    /// entities with each value.
    pub counts: Vec<u64>,
}

/// The codes of a further attribute that occur in each class, with their counts.
///
/// The entries of all classes are concatenated: the entries of class `i` are at the indices
/// `offsets[i]..offsets[i + 1]`.
#[derive(Debug, Clone)]
pub struct Detail {
    offsets: OffsetBuffer<i32>,
    codes: ScalarBuffer<u32>,
    counts: ScalarBuffer<u64>,
}

impl Detail {
    pub(crate) fn new(offsets: OffsetBuffer<i32>, codes: ScalarBuffer<u32>, counts: ScalarBuffer<u64>) -> Self {
        Self { offsets, codes, counts }
    }

    pub(crate) fn buffers(&self) -> (&OffsetBuffer<i32>, &ScalarBuffer<u32>, &ScalarBuffer<u64>) {
        (&self.offsets, &self.codes, &self.counts)
    }

    /// Creates a detail from `(class, code, count)` triples. `classes` is the number of classes,
    /// and `cardinality` the number of codes. Each pair of a class and a code occurs once.
    pub fn from_triples(classes: usize, cardinality: usize, triples: impl Iterator<Item = (u32, u32, u64)>) -> Self {
        let most = triples.size_hint().1.unwrap_or_default();
        let (mut groups, mut codes) = (Vec::with_capacity(most), Vec::with_capacity(most));
        let mut counts = Vec::with_capacity(most);
        for (class, code, count) in triples {
            groups.push(class);
            codes.push(code);
            counts.push(count);
        }
        merge(classes, cardinality, &groups, &codes, &counts)
    }

    /// Returns the codes and counts of class `class`, in ascending order of the codes.
    pub fn class(&self, class: usize) -> impl ExactSizeIterator<Item = (u32, u64)> + '_ {
        let range = self.offsets[class] as usize..self.offsets[class + 1] as usize;
        self.codes[range.clone()]
            .iter()
            .copied()
            .zip(self.counts[range].iter().copied())
    }

    /// Returns the number of codes that occur in class `class`.
    pub fn distinct(&self, class: usize) -> u64 {
        (self.offsets[class + 1] - self.offsets[class]) as u64
    }

    /// Returns the detail after classes were merged: class `i` became class `groups[i]`, and
    /// `classes` is the new number of classes.
    pub(super) fn roll_up(&self, classes: usize, cardinality: usize, groups: &[u32]) -> Self {
        let mut by_entry = Vec::with_capacity(self.codes.len());
        for (class, group) in groups.iter().enumerate() {
            by_entry.extend(std::iter::repeat_n(*group, self.distinct(class) as usize));
        }
        merge(classes, cardinality, &by_entry, &self.codes, &self.counts)
    }

    pub(super) fn bytes(&self) -> usize {
        self.offsets.len() * 4 + self.codes.len() * 12
    }
}

/// Sorts entries by group and then by code, and adds the counts of entries with the same group and
/// code. Entries are bucketed by group, so the time is linear except for sorting the codes within a
/// group.
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
