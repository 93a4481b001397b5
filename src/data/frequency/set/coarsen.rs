//! The base set at coarser levels, for tables with too many combinations to compare in pairs.
//!
//! A partitioning algorithm compares combinations with each other, so it needs all combinations at
//! once. If there are too many combinations, the algorithm gets the classes of a node above the
//! bottom instead, as if LEVELS named that node. Levels are raised one by one. Each step raises the
//! level of the column that removes the most combinations for the loss that it adds. Finally,
//! levels that were raised unnecessarily are lowered again. The number of classes of a node is
//! estimated from the hashes of their keys. Therefore the chosen node depends on the table alone,
//! and not on memory, threads or files.

use super::base::{Base, BaseSet};
use super::sketch::Sketch;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::pool::{check_cancelled, map, pieces, threads};
use crate::base::spill::SpillSpace;
use crate::method::hierarchy::Lookup;
use crate::method::key::partitioned;
use crate::method::lattice::Node;
use std::sync::Arc;

/// The number of keys that are generalized together. It is small enough that the keys stay in the
/// processor's cache.
const BLOCK: usize = 1 << 14;

impl Base {
    /// Returns the base set at a more general node with at most about `most` classes. A set that
    /// already has at most about `most` classes is returned unchanged. No level is raised above its
    /// level in `top`. `weights` contains the factor by which the loss of each column is
    /// multiplied. A set in files is moved into memory if it fits there.
    pub(crate) fn coarsened(self, top: &Node, weights: &[f64], most: usize, spill_space: &SpillSpace) -> Result<Self> {
        // The number is exact for a set in memory. For a set in files it may be too high, because a
        // key may occur more than once.
        if self.combinations() <= most as u64 / 2 {
            return Ok(self);
        }
        let losses: Vec<Vec<f64>> = self
            .key_schema
            .lookups()
            .iter()
            .zip(&self.marginals)
            .zip(weights)
            .map(|((lookup, marginal), weight)| {
                (0..=lookup.top())
                    .map(|l| weight * mean_loss(lookup, marginal, l))
                    .collect()
            })
            .collect();
        let loss = |node: &Node| -> f64 {
            node.levels()
                .iter()
                .zip(&losses)
                .map(|(l, column)| column[usize::from(*l)])
                .sum()
        };
        let most = most as u64;
        let mut node = self.bottom().clone();
        let mut distinct = self.distinct(std::slice::from_ref(&node))?[0];
        while distinct > most {
            let above = neighbours(&node, |c, level| (level < top.level(c)).then(|| level + 1));
            let fewer = self.distinct(&above)?;
            let gain = |i: usize| {
                let lost = loss(&above[i]) - loss(&node);
                // A column whose next level adds no loss is preferred most, and a column whose next
                // level removes no combination is preferred least.
                match (distinct as f64 / fewer[i].max(1) as f64).ln() {
                    times if times > 0.0 => times / lost.max(f64::MIN_POSITIVE),
                    _ => -lost,
                }
            };
            let Some(best) = (0..above.len()).rev().max_by(|a, b| gain(*a).total_cmp(&gain(*b))) else {
                break;
            };
            (node, distinct) = (above[best].clone(), fewer[best]);
        }
        // The last steps may have removed more combinations than necessary, so an earlier step may
        // have become unnecessary.
        loop {
            let below = neighbours(&node, |c, level| (level > self.bottom().level(c)).then(|| level - 1));
            let more = self.distinct(&below)?;
            let enough = (0..below.len()).rev().filter(|i| more[*i] <= most);
            match enough.min_by(|a, b| loss(&below[*a]).total_cmp(&loss(&below[*b]))) {
                Some(best) => node = below[best].clone(),
                None => break,
            }
        }
        match node == *self.bottom() {
            true => Ok(self),
            false => self.at(node, spill_space),
        }
    }

    /// Returns the estimated number of classes of each of these nodes.
    fn distinct(&self, nodes: &[Node]) -> Result<Vec<u64>> {
        let words = self.key_schema.layout().words();
        let sketch = |keys: &[u64], sketches: &mut [Sketch]| {
            for (node, sketch) in nodes.iter().zip(sketches) {
                sketch.add(words, &self.key_schema.generalize(keys, self.bottom(), node));
            }
        };
        let parts: Vec<Result<Vec<Sketch>>> = match &self.set {
            BaseSet::Held(set) => {
                let pieces = pieces(set.len());
                map(pieces.len(), |i| {
                    let mut sketches = vec![Sketch::new(); nodes.len()];
                    let keys = &set.keys()[pieces[i].start * words..pieces[i].end * words];
                    for keys in keys.chunks(BLOCK * words) {
                        check_cancelled()?;
                        sketch(keys, &mut sketches);
                    }
                    Ok(sketches)
                })
            }
            BaseSet::Spilled(spilled) => map(spilled.files().len(), |i| {
                let mut sketches = vec![Sketch::new(); nodes.len()];
                spilled.files()[i].for_each(|keys, _| {
                    check_cancelled()?;
                    sketch(keys, &mut sketches);
                    Ok(true)
                })?;
                Ok(sketches)
            }),
        };
        let mut all = vec![Sketch::new(); nodes.len()];
        for part in parts {
            all.iter_mut().zip(&part?).for_each(|(all, part)| all.merge(part));
        }
        Ok(all.into_iter().map(Sketch::distinct).collect())
    }

    /// Returns the base set at a more general node. A set in files is returned unchanged if its
    /// classes at that node do not fit in memory. Fails with `ErrorKind::Resources` if a set in
    /// memory cannot be grouped within the memory limit.
    fn at(mut self, node: Node, spill_space: &SpillSpace) -> Result<Self> {
        let BaseSet::Held(set) = &self.set else {
            return self.hold_at(node, spill_space, threads());
        };
        // Memory for the groups, and for their copy in ascending order.
        let room = spill_space.reservation("anonsql base frequency set");
        let bytes = 2 * set.bytes() + partitioned::bytes_to_group(set.len(), set.words());
        room.try_resize(bytes).map_err(|_| {
            Error::new(
                ErrorKind::Resources,
                format!(
                    "generalizing {} combinations of quasi-identifier values to coarser levels does not fit the memory \
                     limit; raise --memory-limit, or start at coarser levels with LEVELS",
                    set.len()
                ),
            )
        })?;
        self.set = BaseSet::Held(Arc::new(set.roll_up(&self.key_schema, &node).0.ascending()));
        Ok(self)
    }
}

/// Returns the nodes that differ from `node` in one column. The level of that column is the result
/// of `to(column, level)`; a column is skipped if the result is `None`.
fn neighbours(node: &Node, to: impl Fn(usize, u8) -> Option<u8>) -> Vec<Node> {
    let levels = node.levels().iter().enumerate();
    levels
        .filter_map(|(c, level)| Some(node.with_level(c, to(c, *level)?)))
        .collect()
}

/// Returns the mean loss per row if a column is generalized to `level`.
fn mean_loss(lookup: &Lookup, marginal: &[u64], level: u8) -> f64 {
    let losses = lookup.losses(level);
    let lost: f64 = losses
        .iter()
        .zip(marginal)
        .map(|(loss, rows)| loss * *rows as f64)
        .sum();
    lost / marginal.iter().sum::<u64>().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::frequency::testing::table;
    use proptest::prelude::*;

    proptest! {
        /// The coarser set equals the set of its node, and the node does not depend on whether the
        /// set was in memory or in files.
        #[test]
        fn a_coarser_set_is_that_of_its_node(table in table(), most in 1usize..12, threads in 1usize..3) {
            let (lattice, space) = (table.lattice(), SpillSpace::unlimited());
            let weights = vec![1.0; lattice.width()];
            let pool = crate::base::pool::Pool::new(threads);
            let coarsened = |base: Base| pool.install(|| base.coarsened(lattice.top(), &weights, most, &space).unwrap());
            let base = table.bare_base();
            let bottom = base.held().unwrap().clone();
            let (held, spilled) = (coarsened(table.bare_base()), coarsened(table.spilled_base(0)));
            let set = held.held().unwrap();
            prop_assert!(set.len() <= most || set.node() == lattice.top());
            let stays = bottom.len() <= most || bottom.node() == lattice.top();
            prop_assert_eq!(stays, set.node() == bottom.node());
            let expected = bottom.roll_up(&base.key_schema, set.node()).0.ascending();
            prop_assert_eq!((set.keys(), set.counts()), (expected.keys(), expected.counts()));
            match &spilled.set {
                BaseSet::Held(found) => {
                    prop_assert_eq!((found.keys(), found.counts(), found.node()), (set.keys(), set.counts(), set.node()));
                }
                BaseSet::Spilled(_) => prop_assert_eq!(set.node(), bottom.node()),
            }
        }
    }
}
