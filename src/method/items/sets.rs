//! The distinct sets of items in a column with their row counts, and the row counts of combinations
//! of labels.

use super::tree::{Cut, ItemTree};
use super::{ItemBound, MOST_KNOWN, Reserve};
use crate::base::error::Result;
use crate::base::pool::check_cancelled;
use hashbrown::{HashMap, HashSet};

/// The number of bytes per counted combination, including the free space of a hash table.
const BYTES: usize = 2 * (size_of::<(u128, u64)>() + 1);

/// The distinct sets of items, with the number of rows of each set. The items of a set are in
/// ascending order and without duplicates.
#[derive(Debug, Default)]
pub struct ItemSets(Vec<(Vec<u32>, u64)>);

impl ItemSets {
    /// Creates the sets in ascending order. Equal sets are merged, and their row counts are added.
    /// Empty sets are omitted, because they contain no item.
    pub fn new(mut sets: Vec<(Vec<u32>, u64)>) -> Self {
        sets.retain(|(items, _)| !items.is_empty());
        sets.sort_unstable();
        sets.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 += next.1;
            }
            is_same
        });
        Self(sets)
    }

    /// Returns the sets with their row counts.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &(Vec<u32>, u64)> {
        self.0.iter()
    }

    /// Returns the set with index `number`, and its row count.
    pub(super) fn get(&self, number: u32) -> &(Vec<u32>, u64) {
        &self.0[number as usize]
    }

    /// Returns the number of rows that have at least one item.
    pub fn rows(&self) -> u64 {
        self.0.iter().map(|(_, rows)| rows).sum()
    }

    /// Returns the number of rows with each item. `items` is the number of different items.
    pub fn weights(&self, items: usize) -> Vec<u64> {
        let mut weights = vec![0; items];
        for (set, rows) in &self.0 {
            set.iter().for_each(|item| weights[*item as usize] += rows);
        }
        weights
    }

    /// Returns, for each item, the indices of the sets with this item, in ascending order. `items`
    /// is the number of different items.
    pub(super) fn postings(&self, items: usize) -> Vec<Vec<u32>> {
        let mut postings = vec![vec![]; items];
        for (number, (set, _)) in (0..).zip(&self.0) {
            set.iter().for_each(|item| postings[*item as usize].push(number));
        }
        postings
    }

    /// Returns the number of rows from which a cut removes an item.
    pub fn reduced(&self, cut: &Cut) -> u64 {
        let loses = |set: &[u32]| set.iter().any(|item| cut.0[*item as usize].is_none());
        self.0.iter().filter(|(set, _)| loses(set)).map(|(_, rows)| rows).sum()
    }

    /// Returns true if every combination of labels that occurs under a cut has enough rows for
    /// every bound.
    pub(super) fn hold(&self, tree: &ItemTree, cut: &Cut, bounds: &[ItemBound], reserve: Reserve) -> Result<bool> {
        let released = released(tree, cut, self.0.iter());
        let most = bounds.iter().map(|b| b.size).max().unwrap_or(0);
        for size in 1..=most {
            let k = bounds.iter().filter(|b| b.size >= size).map(|b| b.k).max().unwrap_or(0);
            if supports(&released, size, None, reserve)?.values().any(|rows| *rows < k) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the sets of labels that a cut assigns to these sets of items.
    pub(super) fn under(&self, tree: &ItemTree, cut: &Cut) -> Self {
        released(tree, cut, self.0.iter())
    }
}

/// Returns the sets of labels that a cut assigns to `sets`.
pub(super) fn released<'a>(tree: &ItemTree, cut: &Cut, sets: impl Iterator<Item = &'a (Vec<u32>, u64)>) -> ItemSets {
    let one = |(set, rows): &(Vec<u32>, u64)| {
        let mut labels: Vec<u32> = set.iter().filter_map(|item| tree.label(cut, *item)).collect();
        labels.sort_unstable();
        labels.dedup();
        (labels, *rows)
    };
    ItemSets::new(sets.map(one).collect())
}

/// Returns the number of rows of every combination of `size` labels that occurs in a row. The keys
/// are the packed combinations. If `among` is given, only combinations that contain at least one of
/// these labels are counted.
pub(super) fn supports(
    sets: &ItemSets,
    size: usize,
    among: Option<&HashSet<u32>>,
    reserve: Reserve,
) -> Result<HashMap<u128, u64>> {
    debug_assert!(size <= MOST_KNOWN, "combinations are packed in one word");
    let mut counts: HashMap<u128, u64> = HashMap::new();
    let mut reserved = 0;
    for (labels, rows) in sets.iter() {
        check_cancelled()?;
        let wanted: Vec<bool> = labels
            .iter()
            .map(|l| among.is_none_or(|among| among.contains(l)))
            .collect();
        let mut full = Ok(());
        let mut each = |packed| {
            *counts.entry(packed).or_default() += rows;
            if counts.capacity() > reserved && full.is_ok() {
                reserved = counts.capacity();
                full = reserve(reserved * BYTES);
            }
            full.is_ok()
        };
        combinations(labels, &wanted, size, Beginning::default(), &mut each);
        full?;
    }
    Ok(counts)
}

/// The first labels of a combination.
#[derive(Clone, Copy, Default)]
struct Beginning {
    /// The labels, packed.
    packed: u128,
    /// Whether one of the labels is wanted.
    has_wanted: bool,
}

/// Calls `each` with every combination of `size` of the `labels` that contains a wanted label. The
/// labels are packed after the labels in `before`, one of which may already be wanted. Stops as
/// soon as `each` returns false, and then returns false.
fn combinations(
    labels: &[u32],
    wanted: &[bool],
    size: usize,
    before: Beginning,
    each: &mut impl FnMut(u128) -> bool,
) -> bool {
    if size == 0 {
        return each(before.packed);
    }
    let firsts = labels.len().saturating_sub(size - 1);
    let may_begin = |i: &usize| size > 1 || before.has_wanted || wanted[*i];
    (0..firsts).filter(may_begin).all(|i| {
        let next = Beginning {
            packed: before.packed << 32 | u128::from(labels[i]),
            has_wanted: before.has_wanted || wanted[i],
        };
        combinations(&labels[i + 1..], &wanted[i + 1..], size - 1, next, each)
    })
}

/// Returns the labels of a packed combination. `size` is the number of labels.
pub(super) fn unpacked(packed: u128, size: usize) -> impl Iterator<Item = u32> {
    (0..size).rev().map(move |i| (packed >> (32 * i)) as u32)
}
