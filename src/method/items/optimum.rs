//! Finds the cut with the minimum loss among all cuts that remove nothing, if the number of cuts is
//! small.

use super::Reserve;
use super::request::Request;
use super::tree::{Cut, ItemTree};
use crate::base::error::Result;
use crate::base::pool::check_cancelled;

/// The maximum number of cuts that are tried.
const MOST_CUTS: u64 = 4096;
/// The maximum number of combinations that are counted in total for all cuts.
const MOST_COUNTED: u64 = 50_000_000;

/// Returns the cut with the minimum loss that satisfies every bound; `Some(None)` if no cut
/// satisfies them. Returns `None` if trying all cuts would take too long.
pub(super) fn optimum(request: &Request, reserve: Reserve) -> Result<Option<Option<Cut>>> {
    let tree = request.tree;
    let size = request.bounds.iter().map(|b| b.size).max().unwrap_or(0) as u64;
    let combinations = |items: u64| (1..=size).fold(0u64, |sum, i| sum.saturating_add(choose(items, i)));
    let each = request.sets.iter().map(|(set, _)| combinations(set.len() as u64));
    let each = each.fold(1, u64::saturating_add);
    let cuts = roots(tree).map(|node| cuts_of(tree, node)).fold(1, u64::saturating_mul);
    if cuts > MOST_CUTS || cuts.saturating_mul(each) > MOST_COUNTED {
        return Ok(None);
    }
    let weights = request.sets.weights(tree.items());
    let mut all = every(tree);
    all.sort_by_cached_key(|cut| (tree.loss(cut, &weights), cut.clone()));
    for cut in all {
        check_cancelled()?;
        if request.sets.hold(tree, &cut, request.bounds, reserve)? {
            return Ok(Some(Some(cut)));
        }
    }
    Ok(Some(None))
}

/// Returns every cut that removes nothing.
pub(super) fn every(tree: &ItemTree) -> Vec<Cut> {
    let mut all = vec![tree.bottom()];
    for root in roots(tree) {
        let below = below(tree, root);
        let with = |cut: &Cut| below.iter().map(|nodes| placed(tree, cut, nodes)).collect::<Vec<_>>();
        all = all.iter().flat_map(with).collect();
    }
    all
}

/// Returns `cut` with everything under `nodes` replaced by these nodes.
fn placed(tree: &ItemTree, cut: &Cut, nodes: &[(u8, u32)]) -> Cut {
    let mut placed = cut.clone();
    for node in nodes {
        tree.present(cut, *node)
            .for_each(|item| placed.0[item as usize] = Some(node.0));
    }
    placed
}

/// Returns every cut of the subtree under a node, as the list of the cut's nodes.
fn below(tree: &ItemTree, node: (u8, u32)) -> Vec<Vec<(u8, u32)>> {
    let mut all = vec![vec![]];
    for child in children(tree, node) {
        let own = below(tree, child);
        let with = |nodes: &Vec<(u8, u32)>| own.iter().map(|more| [&nodes[..], more].concat()).collect::<Vec<_>>();
        all = all.iter().flat_map(with).collect();
    }
    if node.0 == 0 {
        return vec![vec![node]];
    }
    all.push(vec![node]);
    all
}

fn cuts_of(tree: &ItemTree, node: (u8, u32)) -> u64 {
    match node.0 {
        0 => 1,
        _ => children(tree, node)
            .map(|child| cuts_of(tree, child))
            .fold(1, u64::saturating_mul)
            .saturating_add(1),
    }
}

fn roots(tree: &ItemTree) -> impl Iterator<Item = (u8, u32)> {
    let top = tree.top();
    let members = tree.level(top).members.iter();
    (0..)
        .zip(members)
        .filter(|(_, items)| !items.is_empty())
        .map(move |(node, _)| (top, node))
}

/// Returns the child nodes of a node, which are at the level below. There are none at level 0.
fn children(tree: &ItemTree, (level, node): (u8, u32)) -> impl Iterator<Item = (u8, u32)> {
    let below = level.checked_sub(1);
    let items = &tree.level(level).members[node as usize];
    let mut nodes: Vec<(u8, u32)> = match below {
        Some(below) => items
            .iter()
            .map(|item| (below, tree.level(below).node[*item as usize]))
            .collect(),
        None => vec![],
    };
    nodes.sort_unstable();
    nodes.dedup();
    nodes.into_iter()
}

/// Returns the number of ways to choose `size` of `items` items.
fn choose(items: u64, size: u64) -> u64 {
    (0..size.min(items)).fold(u64::from(size <= items), |ways, i| {
        ways.saturating_mul(items - i) / (i + 1)
    })
}
