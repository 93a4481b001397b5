//! Apriori-based anonymization: processes the combinations of one item, then of two items, and so
//! on. If a combination occurs in too few rows, the cheapest change that repairs the combination is
//! applied.
//!
//! **Interpretation.** The paper generalizes the items of a combination and does not specify which
//! ancestors are tried. Here all ancestors are tried, in ascending order of their exact costs. In
//! addition, the label of one item may be removed from all sets, unless more rows would lose items
//! than the request allows. A bound that holds for combinations of fewer items still holds after
//! larger combinations are repaired, because a label that replaces other labels occurs in every row
//! that had a replaced label, and because the removal of a label does not change the number of rows
//! with the other labels.

use super::request::Request;
use super::sets::{ItemSets, supports, unpacked};
use super::tree::Cut;
use super::{ItemBound, Reserve};
use crate::base::error::Result;
use crate::base::pool::check_cancelled;
use hashbrown::HashMap;
use std::rc::Rc;

/// Returns a cut that satisfies every bound; `None` if the algorithm finds no such cut.
pub(super) fn mend(request: &Request, reserve: Reserve) -> Result<Option<Cut>> {
    let mut mending = Mending::new(request);
    for bound in request.bounds {
        for size in 1..=bound.size {
            loop {
                let rare = mending.rare(*bound, size, reserve)?;
                if rare.is_empty() {
                    break;
                }
                for items in rare {
                    check_cancelled()?;
                    if !mending.raise(&items, bound.k) {
                        return Ok(None);
                    }
                }
            }
        }
    }
    Ok(Some(mending.cut))
}

struct Mending<'a> {
    request: &'a Request<'a>,
    cut: Cut,
    /// For each set, true if its rows have lost an item.
    is_reduced: Vec<bool>,
    reduced: u64,
    weights: Vec<u64>,
    postings: Vec<Vec<u32>>,
    /// For each node that was needed so far, the sets with an item under the node.
    known: HashMap<(u8, u32), Rc<Vec<u32>>>,
}

/// A change that may repair a combination.
enum Change {
    /// Replaces all labels under these nodes with the nodes.
    Raise(Vec<(u8, u32)>),
    /// Removes the items under this node.
    Remove((u8, u32)),
}

impl<'a> Mending<'a> {
    fn new(request: &'a Request<'a>) -> Self {
        let (tree, sets) = (request.tree, request.sets);
        let cut = tree.bottom();
        let loses = |(set, _): &(Vec<u32>, u64)| set.iter().any(|item| cut.0[*item as usize].is_none());
        Self {
            is_reduced: sets.iter().map(loses).collect(),
            reduced: sets.reduced(&cut),
            weights: sets.weights(tree.items()),
            postings: sets.postings(tree.items()),
            known: HashMap::new(),
            request,
            cut,
        }
    }

    /// Returns the combinations of `size` labels that occur in fewer rows than the bound's k, in a
    /// fixed order. Each label is represented by one of its items.
    fn rare(&self, bound: ItemBound, size: usize, reserve: Reserve) -> Result<Vec<Vec<u32>>> {
        let tree = self.request.tree;
        let released: ItemSets = self.request.sets.under(tree, &self.cut);
        let counts = supports(&released, size, None, reserve)?;
        let rare = counts.into_iter().filter(|(_, rows)| *rows < bound.k);
        let mut rare: Vec<u128> = rare.map(|(packed, _)| packed).collect();
        rare.sort_unstable();
        let mut of_label = vec![0; tree.labels().len()];
        for item in 0..tree.items() as u32 {
            // An item that occurs in no row cannot represent its label.
            let label = tree.label(&self.cut, item).filter(|_| self.weights[item as usize] > 0);
            label.into_iter().for_each(|label| of_label[label as usize] = item);
        }
        let items = |packed: u128| unpacked(packed, size).map(|label| of_label[label as usize]).collect();
        Ok(rare.into_iter().map(items).collect())
    }

    /// Repairs the combination of the labels of these items, unless it was already repaired
    /// together with an earlier combination. Returns false if no change repairs it.
    fn raise(&mut self, items: &[u32], k: u64) -> bool {
        let tree = self.request.tree;
        let own: Option<Vec<(u8, u32)>> = items.iter().map(|item| tree.node(&self.cut, *item)).collect();
        let Some(own) = own else {
            return true;
        };
        let distinct = self.outermost(items, &own);
        if distinct.len() < items.len() || self.suffice(&distinct, k) {
            return true;
        }
        let mut ways: Vec<(u128, Change)> = vec![];
        let mut costs: HashMap<(u8, u32), u128> = HashMap::new();
        let mut levels: Vec<u8> = own.iter().map(|(level, _)| *level).collect();
        while self.next(&mut levels, &own) {
            let raised = items.iter().zip(&levels);
            let raised = raised.map(|(item, level)| (*level, tree.level(*level).node[*item as usize]));
            let nodes = self.outermost(items, &raised.collect::<Vec<_>>());
            let cost = |node: &(u8, u32)| self.cost(*node, |item| tree.level(node.0).loss[item as usize]);
            let cost = nodes
                .iter()
                .map(|node| *costs.entry(*node).or_insert_with(|| cost(node)))
                .sum();
            ways.push((cost, Change::Raise(nodes)));
        }
        for node in own {
            ways.push((self.cost(node, |_| tree.span), Change::Remove(node)));
        }
        // The sort is stable: among changes of equal cost, raises stay in the order in which they
        // were generated, and removals stay last.
        ways.sort_by_key(|(cost, _)| *cost);
        for (_, change) in ways {
            match change {
                Change::Raise(nodes) if nodes.len() < items.len() || self.suffice(&nodes, k) => {
                    nodes.into_iter().for_each(|node| self.replace(node));
                    return true;
                }
                Change::Remove(node) if self.remove(node) => return true,
                _ => {}
            }
        }
        false
    }

    /// Advances `levels` to the next combination of levels. The level of the last item changes
    /// fastest. Returns false after the last combination.
    fn next(&self, levels: &mut [u8], own: &[(u8, u32)]) -> bool {
        for (level, (least, _)) in levels.iter_mut().zip(own).rev() {
            if *level < self.request.tree.top() {
                *level += 1;
                return true;
            }
            *level = *least;
        }
        false
    }

    /// Returns the distinct nodes among `nodes` that are not under another of these nodes.
    /// `nodes[i]` is the node of `items[i]`.
    fn outermost(&self, items: &[u32], nodes: &[(u8, u32)]) -> Vec<(u8, u32)> {
        let tree = self.request.tree;
        let covers = |i: usize, j: usize| {
            let (level, node) = nodes[i];
            level >= nodes[j].0 && tree.level(level).node[items[j] as usize] == node
        };
        let is_outermost = |j: &usize| {
            let mut others = (0..nodes.len()).filter(|i| i != j);
            !others.any(|i| covers(i, *j) && (i < *j || !covers(*j, i)))
        };
        (0..nodes.len()).filter(is_outermost).map(|j| nodes[j]).collect()
    }

    /// Returns the additional loss over all rows if every item under a node has the loss that
    /// `loss` returns.
    fn cost(&self, node: (u8, u32), loss: impl Fn(u32) -> u64) -> u128 {
        let tree = self.request.tree;
        let present = tree.present(&self.cut, node);
        let more = present.map(|item| {
            let more = loss(item).saturating_sub(tree.loss_of(&self.cut, item));
            u128::from(more) * u128::from(self.weights[item as usize])
        });
        more.sum()
    }

    /// Returns true if at least k rows have an item under each of these nodes.
    fn suffice(&mut self, nodes: &[(u8, u32)], k: u64) -> bool {
        let mut lists: Vec<Rc<Vec<u32>>> = nodes.iter().map(|node| self.sets_of(*node)).collect();
        lists.sort_by_key(|list| list.len());
        let Some((first, others)) = lists.split_first() else {
            return false;
        };
        let has_all = |set: &&u32| others.iter().all(|list| list.binary_search(set).is_ok());
        let mut rows = 0;
        first.iter().filter(has_all).any(|set| {
            rows += self.request.sets.get(*set).1;
            rows >= k
        })
    }

    /// Returns the indices of the sets with an item under the node, in ascending order. Removed
    /// items do not count.
    fn sets_of(&mut self, node: (u8, u32)) -> Rc<Vec<u32>> {
        if let Some(known) = self.known.get(&node) {
            return Rc::clone(known);
        }
        let present = self.request.tree.present(&self.cut, node);
        let mut sets: Vec<u32> = present
            .flat_map(|item| self.postings[item as usize].iter().copied())
            .collect();
        sets.sort_unstable();
        sets.dedup();
        let sets = Rc::new(sets);
        self.known.insert(node, Rc::clone(&sets));
        sets
    }

    /// Replaces all labels under a node with the node.
    fn replace(&mut self, node: (u8, u32)) {
        let present: Vec<u32> = self.request.tree.present(&self.cut, node).collect();
        present
            .iter()
            .for_each(|item| self.cut.0[*item as usize] = Some(node.0));
    }

    /// Removes the items under a node. Returns false, and removes nothing, if too many rows would
    /// lose items.
    fn remove(&mut self, node: (u8, u32)) -> bool {
        let sets = self.sets_of(node);
        let kept = sets.iter().filter(|set| !self.is_reduced[**set as usize]);
        let reduced = self.reduced + kept.map(|set| self.request.sets.get(*set).1).sum::<u64>();
        if reduced > self.request.removable {
            return false;
        }
        self.reduced = reduced;
        sets.iter().for_each(|set| self.is_reduced[*set as usize] = true);
        let present: Vec<u32> = self.request.tree.present(&self.cut, node).collect();
        present.iter().for_each(|item| self.cut.0[*item as usize] = None);
        self.known.clear();
        true
    }
}
