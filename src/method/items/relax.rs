//! Makes a cut more specific wherever the bounds still hold. In the result, no node can be replaced
//! by its children without violating a bound.

use super::Reserve;
use super::request::Request;
use super::sets::{released, supports};
use super::tree::Cut;
use crate::base::error::Result;
use crate::base::pool::check_cancelled;
use hashbrown::HashSet;
use std::collections::BTreeSet;

/// Returns the cut after nodes were replaced by their children, in descending order of the nodes'
/// losses. If replacing a node violates a bound, the node is not tried again, because more specific
/// labels for other items can only reduce the number of rows of a combination.
pub(super) fn relax(request: &Request, mut cut: Cut, reserve: Reserve) -> Result<Cut> {
    let tree = request.tree;
    let (weights, postings) = (request.sets.weights(tree.items()), request.sets.postings(tree.items()));
    let nodes = (0..tree.items() as u32).filter_map(|item| tree.node(&cut, item));
    let mut open: BTreeSet<(u8, u32)> = nodes.filter(|(level, _)| *level > 0).collect();
    let loss = |cut: &Cut, node: (u8, u32)| -> u128 {
        let present = tree.present(cut, node);
        present
            .map(|item| u128::from(tree.loss_of(cut, item)) * u128::from(weights[item as usize]))
            .sum()
    };
    while let Some(node) = open.iter().copied().max_by_key(|node| (loss(&cut, *node), *node)) {
        check_cancelled()?;
        open.remove(&node);
        let below = node.0 - 1;
        let present: Vec<u32> = tree.present(&cut, node).collect();
        let mut finer = cut.clone();
        present.iter().for_each(|item| finer.0[*item as usize] = Some(below));
        if holds(request, &finer, &present, &postings, reserve)? {
            cut = finer;
            if below > 0 {
                open.extend(present.iter().filter_map(|item| tree.node(&cut, *item)));
            }
        }
    }
    Ok(cut)
}

/// Returns true if every combination that contains a label of the `changed` items has enough rows
/// for every bound. Only rows with a changed item can have such a combination.
fn holds(request: &Request, cut: &Cut, changed: &[u32], postings: &[Vec<u32>], reserve: Reserve) -> Result<bool> {
    let Request { tree, sets, bounds, .. } = *request;
    let labels: HashSet<u32> = changed.iter().filter_map(|item| tree.label(cut, *item)).collect();
    let having = changed.iter().flat_map(|item| postings[*item as usize].iter().copied());
    let having: BTreeSet<u32> = having.collect();
    let few = released(tree, cut, having.into_iter().map(|set| sets.get(set)));
    for size in 1..=bounds.iter().map(|b| b.size).max().unwrap_or(0) {
        let k = bounds.iter().filter(|b| b.size >= size).map(|b| b.k).max().unwrap_or(0);
        if supports(&few, size, Some(&labels), reserve)?
            .values()
            .any(|rows| *rows < k)
        {
            return Ok(false);
        }
    }
    Ok(true)
}
