//! The item hierarchy, bound to the items of a column, and its cuts.

use crate::base::error::Result;
use crate::method::hierarchy::{Lookup, texts as written};

/// The levels of an item hierarchy that may be used, bound to the items of a column.
#[derive(Debug)]
pub struct ItemTree {
    pub(super) levels: Vec<TreeLevel>,
    /// The texts of all labels, in ascending byte order.
    labels: Vec<String>,
    /// The loss of a removed item, which equals the loss of an item at the top of the hierarchy.
    pub(super) span: u64,
    /// For each item, true if the hierarchy does not map the item and the item is therefore
    /// removed.
    is_unknown: Vec<bool>,
    lowest: u8,
}

/// One level: the nodes of the tree, each with the items under it.
#[derive(Debug)]
pub(super) struct TreeLevel {
    /// For each item, the index of its node.
    pub(super) node: Vec<u32>,
    /// For each item, the index of its label in [`ItemTree::labels`].
    label: Vec<u32>,
    /// For each item, the number of leaves under its node, minus 1.
    pub(super) loss: Vec<u64>,
    /// For each node, the items under it.
    pub(super) members: Vec<Vec<u32>>,
}

/// For each item, the level of its label, as an index of the levels that may be used; `None` if the
/// item is removed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cut(pub(super) Vec<Option<u8>>);

impl ItemTree {
    /// Creates the tree for the levels `low` to `high` of a lookup table. If `suppress_unmapped` is
    /// true, items that the hierarchy does not map are removed.
    pub fn new(lookup: &Lookup, (low, high): (u8, u8), suppress_unmapped: bool) -> Result<Self> {
        let mut texts = vec![];
        for level in low..=high {
            let labels = written(&lookup.level(level).labels)?;
            texts.push(
                labels
                    .iter()
                    .map(|t| t.unwrap_or_default().to_string())
                    .collect::<Vec<_>>(),
            );
        }
        let mut labels: Vec<String> = texts.iter().flatten().cloned().collect();
        labels.sort_unstable();
        labels.dedup();
        let place = |text: &String| labels.partition_point(|l| l < text) as u32;
        let level = |(level, texts): (u8, &Vec<String>)| {
            let own = lookup.level(level);
            let places: Vec<u32> = texts.iter().map(place).collect();
            let mut members = vec![vec![]; own.labels.len()];
            for (item, node) in (0..).zip(&own.codes) {
                members[*node as usize].push(item);
            }
            let beside = |node: &u32| own.leaves[*node as usize].saturating_sub(1);
            TreeLevel {
                label: own.codes.iter().map(|node| places[*node as usize]).collect(),
                loss: own.codes.iter().map(beside).collect(),
                node: own.codes.clone(),
                members,
            }
        };
        Ok(Self {
            levels: (low..=high).zip(&texts).map(level).collect(),
            span: lookup.total_leaves().saturating_sub(1).max(1),
            is_unknown: (0..lookup.values().len())
                .map(|item| suppress_unmapped && lookup.is_unmapped(item))
                .collect(),
            lowest: low,
            labels,
        })
    }

    /// Returns the texts of the labels, in ascending byte order.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Returns the number of items.
    pub fn items(&self) -> usize {
        self.is_unknown.len()
    }

    /// Returns the most specific cut.
    pub(super) fn bottom(&self) -> Cut {
        Cut(self.is_unknown.iter().map(|unknown| (!unknown).then_some(0)).collect())
    }

    /// Returns the highest level, as an index of the levels that may be used.
    pub(super) fn top(&self) -> u8 {
        (self.levels.len() - 1) as u8
    }

    pub(super) fn level(&self, level: u8) -> &TreeLevel {
        &self.levels[usize::from(level)]
    }

    /// Returns the node of an item in a cut; `None` if the item is removed.
    pub(super) fn node(&self, cut: &Cut, item: u32) -> Option<(u8, u32)> {
        let level = cut.0[item as usize]?;
        Some((level, self.level(level).node[item as usize]))
    }

    /// Returns the items under a node, without the items that the cut removes.
    pub(super) fn present<'a>(&'a self, cut: &'a Cut, (level, node): (u8, u32)) -> impl Iterator<Item = u32> + 'a {
        let members = self.level(level).members[node as usize].iter().copied();
        members.filter(|item| cut.0[*item as usize].is_some())
    }

    /// Returns the index of an item's label in [`ItemTree::labels`]; `None` if the item is removed.
    pub fn label(&self, cut: &Cut, item: u32) -> Option<u32> {
        let level = cut.0[item as usize]?;
        Some(self.level(level).label[item as usize])
    }

    /// Returns the level of an item's label in the hierarchy; `None` if the item is removed.
    pub fn level_of(&self, cut: &Cut, item: u32) -> Option<u8> {
        cut.0[item as usize].map(|level| level + self.lowest)
    }

    /// Returns the loss of one item in a cut, from 0 to `span`.
    pub(super) fn loss_of(&self, cut: &Cut, item: u32) -> u64 {
        match cut.0[item as usize] {
            Some(level) => self.level(level).loss[item as usize],
            None => self.span,
        }
    }

    /// Returns the exact sum of the losses of all items in all rows. `weights` contains the number
    /// of rows with each item.
    pub(super) fn loss(&self, cut: &Cut, weights: &[u64]) -> u128 {
        let items = (0..).zip(weights);
        items
            .map(|(item, rows)| u128::from(self.loss_of(cut, item)) * u128::from(*rows))
            .sum()
    }

    /// Returns the mean loss of the items in all rows, from 0 to 1. The loss of an item is the
    /// number of leaves under its label minus 1, divided by the number of all leaves minus 1, or 1
    /// if the item is removed. Returns 0 if the rows have no items. `weights` contains the number
    /// of rows with each item.
    pub fn mean_loss(&self, cut: &Cut, weights: &[u64]) -> f64 {
        self.share(self.loss(cut, weights), weights)
    }

    /// Returns the part of the mean loss that is due to items that are removed.
    pub fn removed_loss(&self, cut: &Cut, weights: &[u64]) -> f64 {
        let removed = weights.iter().zip(&cut.0).filter(|(_, level)| level.is_none());
        let rows: u128 = removed.map(|(rows, _)| u128::from(*rows)).sum();
        self.share(rows * u128::from(self.span), weights)
    }

    fn share(&self, loss: u128, weights: &[u64]) -> f64 {
        match weights.iter().map(|rows| u128::from(*rows)).sum::<u128>() * u128::from(self.span) {
            0 => 0.0,
            all => loss as f64 / all as f64,
        }
    }
}
