//! Tests of partitions of artificial tables against brute force over all choices.

use super::super::testing::{Toy, column};
use super::classes::{Ascent, SuppressedColumns};
use super::*;
use proptest::prelude::*;

/// Returns the weighted number of suppressed cells of a partition. A suppressed row counts as all
/// its cells.
fn weight(toy: &Toy, partition: &Partition) -> f64 {
    let groups = toy.groups(partition).into_iter();
    let weight = |(labels, rows): (Vec<String>, u64)| {
        let columns = toy.columns.iter().zip(&labels);
        let starred = columns.filter(|(_, label)| rows < toy.k || *label == "*");
        rows as f64 * starred.map(|(column, _)| column.weight).sum::<f64>()
    };
    groups.map(weight).sum()
}

/// Returns the minimum weight of all choices, found by trying each. A choice is a set of suppressed
/// columns for each combination.
fn least(toy: &Toy) -> f64 {
    let (width, mut best) = (toy.columns.len(), f64::INFINITY);
    let choices = 1u32 << width;
    let mut chosen = vec![0u32; toy.len()];
    loop {
        let mut groups: std::collections::BTreeMap<Vec<Option<u32>>, u64> = Default::default();
        let mut weight = 0.0;
        for (c, mask) in chosen.iter().enumerate() {
            let cells = (0..width).map(|i| Some(toy.combinations[c].0[i]).filter(|_| mask >> i & 1 == 0));
            *groups.entry(cells.collect()).or_default() += toy.rows(c as u32);
            let starred = (0..width).filter(|i| mask >> i & 1 == 1);
            weight += toy.rows(c as u32) as f64 * starred.map(|i| toy.columns[i].weight).sum::<f64>();
        }
        if groups.values().all(|rows| *rows >= toy.k) {
            best = best.min(weight);
        }
        let Some(next) = chosen.iter().position(|mask| mask + 1 < choices) else {
            return best;
        };
        chosen[next] += 1;
        chosen[..next].fill(0);
    }
}

proptest! {
    /// Every group satisfies the models if all rows together satisfy them. Every cell is its value
    /// or `*`. No fewer cells are suppressed than in the best of all choices.
    #[test]
    fn groups_hold_and_cells_are_values_or_stars(
        rows in prop::collection::btree_map((0u32..3, 0u32..3), 1u64..4, 1..6), k in 1u64..6, asks: bool, heavy in 1u8..4
    ) {
        let mut columns = vec![column(&["a", "a", "b"], true), column(&["a", "b", "b"], false)];
        columns[1].weight = f64::from(heavy);
        let combinations = rows.iter().map(|((a, b), n)| (vec![*a, *b], vec![*n])).collect();
        let toy = Toy { columns, combinations, k, suppressible: 0, asks };
        let partition = toy.run(&LocalSuppression);
        for (i, (codes, _)) in toy.combinations.iter().enumerate() {
            let group = partition.groups()[i] as usize;
            for (column, code) in codes.iter().enumerate() {
                let text = partition.texts(column).value(partition.cells(column)[group] as usize);
                prop_assert!(text == "*" || text == code.to_string());
            }
        }
        if rows.values().sum::<u64>() >= k {
            prop_assert!(toy.groups(&partition).iter().all(|(_, rows)| *rows >= k));
            prop_assert!(weight(&toy, &partition) >= least(&toy) - 1e-9);
        }
    }

    #[test]
    fn sets_ascend(weights in prop::collection::vec(0u8..4, 1..6)) {
        let weights: Vec<f64> = weights.into_iter().map(f64::from).collect();
        let sets: Vec<SuppressedColumns> = Ascent::new(&weights).collect();
        let weight = |set: &SuppressedColumns| set.iter().map(|c| weights[*c]).sum::<f64>();
        prop_assert!(sets.is_sorted_by(|a, b| weight(a) <= weight(b)));
        prop_assert_eq!(sets.into_iter().collect::<std::collections::BTreeSet<_>>().len(), 1 << weights.len());
    }
}

fn shown(toy: &Toy) -> Vec<(String, u64)> {
    let groups = toy.groups(&toy.run(&LocalSuppression)).into_iter();
    groups.map(|(labels, rows)| (labels.join(" "), rows)).collect()
}

/// Returns a table in which (0, 0) satisfies the model by itself. (1, 1) and (1, 2) satisfy it
/// together without the second column, and (1, 1) and (0, 1) without the first.
fn toy(heavy: f64, suppressible: u64) -> Toy {
    let mut columns = vec![column(&["a", "b"], false), column(&["a", "b", "b"], false)];
    columns[1].weight = heavy;
    let combinations = [((0, 0), 2), ((0, 1), 1), ((1, 1), 1), ((1, 2), 1)];
    Toy {
        columns,
        combinations: combinations
            .iter()
            .map(|((a, b), n)| (vec![*a, *b], vec![*n]))
            .collect(),
        k: 2,
        suppressible,
        asks: false,
    }
}

#[test]
fn the_lighter_column_is_suppressed() {
    let texts = |toy| {
        shown(&toy)
            .into_iter()
            .map(|(t, n)| format!("{t}: {n}"))
            .collect::<Vec<_>>()
    };
    // Without the first column, (0, 1) and (1, 1) are equal. (1, 2) joins them or is suppressed.
    assert_eq!(texts(toy(3.0, 0)), ["* *: 3", "0 0: 2"]);
    assert_eq!(texts(toy(3.0, 1)), ["* 1: 2", "0 0: 2", "1 2: 1"]);
    // Without the second column, (1, 1) and (1, 2) are equal. (0, 1) joins (0, 0).
    assert_eq!(texts(toy(0.5, 0)), ["0 *: 3", "1 *: 2"]);
}

#[test]
fn a_column_below_the_top_keeps_its_values() {
    let mut toy = toy(1.0, 5);
    toy.columns[0].top = 1;
    let groups = shown(&toy);
    assert!(groups.iter().all(|(text, _)| !text.starts_with('*')), "{groups:?}");
}
