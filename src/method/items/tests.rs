//! Tests the algorithms against simple implementations of the definitions.

use super::choose::choose;
use super::mend::mend;
use super::optimum::{every, optimum};
use super::relax::relax;
use super::request::Request;
use super::tree::Cut;
use super::{ItemBound, ItemSets, ItemTree};
use crate::base::error::{Error, ErrorKind, Result};
use crate::method::hierarchy::{Hierarchy, OnNull, OnUnmapped, values};
use arrow::array::{ArrayRef, StringArray};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A random test case: a hierarchy of items, the rows, and the request.
#[derive(Debug, Clone)]
struct Table {
    /// For each item, the index of its group.
    groups: Vec<u8>,
    /// For each group, the index of the group above it.
    above: [u8; 4],
    rows: Vec<BTreeSet<u32>>,
    bounds: Vec<ItemBound>,
    removable: u64,
}

fn table() -> impl Strategy<Value = Table> {
    (2usize..8).prop_flat_map(|items| {
        let row = prop::collection::btree_set(0..items as u32, 0..5);
        (
            prop::collection::vec(0u8..4, items),
            prop::array::uniform4(0u8..2),
            prop::collection::vec(row, 0..14),
            prop::collection::vec((1u64..5, 1usize..4), 1..3),
            prop_oneof![2 => Just(0u64), 1 => 0u64..6],
        )
            .prop_map(|(groups, above, rows, bounds, removable)| Table {
                groups,
                above,
                rows,
                bounds: bounds.into_iter().map(|(k, size)| ItemBound { k, size }).collect(),
                removable,
            })
    })
}

impl Table {
    /// Returns the label of an item at each level.
    fn labels(&self, item: usize) -> [String; 4] {
        let group = self.groups[item];
        [
            format!("item {item}"),
            format!("group {group}"),
            format!("above {}", self.above[usize::from(group)]),
            "*".into(),
        ]
    }

    fn tree(&self) -> ItemTree {
        let rows: Vec<Vec<Option<String>>> = (0..self.groups.len())
            .map(|i| self.labels(i).map(Some).to_vec())
            .collect();
        let rule = Arc::new(values::listed(&rows).unwrap());
        let hierarchy = Hierarchy::new("h", rule, OnUnmapped::Error, OnNull::Value).unwrap();
        let items: ArrayRef = Arc::new(StringArray::from_iter_values(
            (0..self.groups.len()).map(|i| format!("item {i}")),
        ));
        let lookup = hierarchy.bind(items).unwrap();
        ItemTree::new(&lookup, (0, lookup.top()), false).unwrap()
    }

    fn sets(&self) -> ItemSets {
        ItemSets::new(self.rows.iter().map(|row| (row.iter().copied().collect(), 1)).collect())
    }

    /// Returns the released rows as sets of label texts.
    fn released(&self, tree: &ItemTree, cut: &Cut) -> Vec<BTreeSet<String>> {
        let text = |item: &u32| {
            let level = tree.level_of(cut, *item)?;
            Some(self.labels(*item as usize)[usize::from(level)].clone())
        };
        self.rows
            .iter()
            .map(|row| row.iter().filter_map(text).collect())
            .collect()
    }

    /// Returns true if every bound holds. Counts the rows with every subset of the labels.
    fn holds(&self, released: &[BTreeSet<String>]) -> bool {
        let labels: Vec<&String> = released.iter().flatten().collect::<BTreeSet<_>>().into_iter().collect();
        (1u32..1 << labels.len()).all(|mask| {
            let chosen: Vec<&String> = (0..labels.len())
                .filter(|i| mask >> i & 1 == 1)
                .map(|i| labels[i])
                .collect();
            let rows = released
                .iter()
                .filter(|row| chosen.iter().all(|label| row.contains(*label)))
                .count() as u64;
            let mut bounds = self.bounds.iter().filter(|b| chosen.len() <= b.size);
            rows == 0 || bounds.all(|b| rows >= b.k)
        })
    }

    /// Returns the mean loss, computed from its definition.
    fn loss(&self, tree: &ItemTree, cut: &Cut) -> f64 {
        let leaves = |item: usize, level: u8| {
            let level = usize::from(level);
            (0..self.groups.len())
                .filter(|i| self.labels(*i)[level] == self.labels(item)[level])
                .count() as f64
        };
        let all = self.groups.len() as f64;
        let one = |item: &u32| match tree.level_of(cut, *item) {
            Some(level) => (leaves(*item as usize, level) - 1.0) / (all - 1.0),
            None => 1.0,
        };
        let losses: Vec<f64> = self.rows.iter().flatten().map(one).collect();
        losses.iter().sum::<f64>() / (losses.len() as f64).max(1.0)
    }
}

fn without_limit(_: usize) -> Result<()> {
    Ok(())
}

/// Returns true if the nodes of a cut are whole subtrees: every item under a node of the cut either
/// has this node or is removed.
fn is_consistent(tree: &ItemTree, cut: &Cut) -> bool {
    let items = 0..tree.items() as u32;
    items.filter_map(|item| tree.node(cut, item)).all(|node| {
        let mut under = tree.present(cut, node);
        under.all(|other| tree.node(cut, other) == Some(node))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_chosen_holds_word_by_word(table in table()) {
        let (tree, sets) = (table.tree(), table.sets());
        let request = Request { tree: &tree, sets: &sets, bounds: &table.bounds, removable: table.removable };
        let mended = mend(&request, &without_limit).unwrap();
        let relaxed = mended.clone().map(|cut| relax(&request, cut, &without_limit).unwrap());
        let chosen = choose(&request, &without_limit).unwrap().map(|chosen| chosen.cut);
        let weights = sets.weights(tree.items());
        let loss = |cut: &Option<Cut>| cut.as_ref().map_or(u128::MAX, |cut| tree.loss(cut, &weights));
        for cut in [&mended, &relaxed, &chosen].into_iter().flatten() {
            let released = table.released(&tree, cut);
            prop_assert!(table.holds(&released), "{cut:?} of {table:?}");
            prop_assert!(is_consistent(&tree, cut));
            let lost = table.rows.iter().filter(|row| row.iter().any(|item| tree.label(cut, *item).is_none())).count();
            prop_assert_eq!(sets.reduced(cut), lost as u64);
            prop_assert!(lost as u64 <= table.removable);
            prop_assert!((tree.mean_loss(cut, &weights) - table.loss(&tree, cut)).abs() < 1e-12);
        }
        prop_assert!(loss(&relaxed) <= loss(&mended) && loss(&chosen) <= loss(&relaxed));
        // If the cut in which every item is at the top satisfies the bounds, the loss of the chosen
        // cut is at most the loss of that cut.
        let top = Cut(vec![Some(tree.top()); tree.items()]);
        if table.holds(&table.released(&tree, &top)) {
            prop_assert!(loss(&chosen) <= tree.loss(&top, &weights));
        }
        let nothing = table.rows.iter().filter(|row| !row.is_empty()).count() as u64 <= table.removable;
        prop_assert!(chosen.is_some() || !nothing);
    }

    #[test]
    fn the_optimum_is_the_best_of_all_cuts(table in table()) {
        let (tree, sets) = (table.tree(), table.sets());
        let request = Request { tree: &tree, sets: &sets, bounds: &table.bounds, removable: 0 };
        let all = every(&tree);
        prop_assert!(all.iter().all(|cut| is_consistent(&tree, cut)));
        // Tries all assignments of levels. The consistent assignments are the cuts.
        let weights = sets.weights(tree.items());
        let mut best: Option<u128> = None;
        let choices = 4usize.pow(tree.items() as u32);
        for number in (0..choices).filter(|_| tree.items() < 6) {
            let levels = (0..tree.items() as u32).map(|item| Some((number / 4usize.pow(item) % 4) as u8));
            let cut = Cut(levels.collect());
            if !is_consistent(&tree, &cut) {
                continue;
            }
            prop_assert!(all.contains(&cut));
            if table.holds(&table.released(&tree, &cut)) {
                let loss = tree.loss(&cut, &weights);
                best = Some(best.map_or(loss, |best| best.min(loss)));
            }
        }
        let found = optimum(&request, &without_limit).unwrap().unwrap();
        if let Some(cut) = &found {
            prop_assert!(table.holds(&table.released(&tree, cut)));
        }
        if tree.items() < 6 {
            prop_assert_eq!(found.map(|cut| tree.loss(&cut, &weights)), best);
        }
    }
}

/// Tests that the loss of the relaxed cut is close to the minimum loss. Prints the ratio of the
/// losses for the book: `cargo test --lib items::tests -- --nocapture`.
#[test]
fn what_is_found_is_close_to_the_optimum() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut mended_loss, mut relaxed_loss, mut best_loss, mut optimal, mut tables) = (0.0, 0.0, 0.0, 0, 0);
    while tables < 300 {
        let mut table = table().new_tree(&mut runner).unwrap().current();
        table.removable = 0;
        let (tree, sets) = (table.tree(), table.sets());
        let request = Request {
            tree: &tree,
            sets: &sets,
            bounds: &table.bounds,
            removable: 0,
        };
        let best = optimum(&request, &without_limit).unwrap().unwrap();
        let Some(mended) = mend(&request, &without_limit).unwrap() else {
            assert!(best.is_none(), "{table:?}");
            continue;
        };
        let best = best.unwrap();
        let relaxed = relax(&request, mended.clone(), &without_limit).unwrap();
        let weights = sets.weights(tree.items());
        let loss = |cut: &Cut| tree.mean_loss(cut, &weights);
        if loss(&best) == 0.0 {
            continue;
        }
        tables += 1;
        optimal += usize::from(loss(&relaxed) <= loss(&best));
        mended_loss += loss(&mended);
        relaxed_loss += loss(&relaxed);
        best_loss += loss(&best);
    }
    println!(
        "of {tables} tables: mended {:.3}, relaxed {:.3} of the optimum's loss; {optimal} optima",
        mended_loss / best_loss,
        relaxed_loss / best_loss
    );
    assert!(relaxed_loss <= 1.1 * best_loss, "{relaxed_loss} {best_loss}");
}

#[test]
fn memory_that_is_refused_ends_the_count() {
    let rows = vec![(0..40).collect::<Vec<u32>>()];
    let names: ArrayRef = Arc::new(StringArray::from_iter_values((0..40).map(|i| format!("{i}"))));
    let lookup = Hierarchy::suppression_of("items").unwrap().bind(names).unwrap();
    let tree = ItemTree::new(&lookup, (0, 1), false).unwrap();
    let sets = ItemSets::new(rows.into_iter().map(|row| (row, 2)).collect());
    let bounds = [ItemBound { k: 2, size: 3 }];
    let request = Request {
        tree: &tree,
        sets: &sets,
        bounds: &bounds,
        removable: 1,
    };
    let full = |bytes: usize| match bytes > 10_000 {
        true => Err(Error::new(ErrorKind::Resources, "full")),
        false => Ok(()),
    };
    assert_eq!(choose(&request, &full).unwrap_err().kind(), ErrorKind::Resources);
}
