//! Tests that compare the suppressed cells for groups over some of the columns with every possible
//! choice of cells.

use super::super::table::{Column, Grouping};
use super::super::testing::{Toy, column};
use super::problem::Problem;
use super::search::search;
use super::*;
use crate::method::search::SearchBudget;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use std::collections::{BTreeMap, BTreeSet};

/// An artificial table in which the groups of some columns must be large enough.
struct Scoped {
    toy: Toy,
    groupings: Vec<Grouping>,
}

impl Table for Scoped {
    fn columns(&self) -> &[Column] {
        self.toy.columns()
    }

    fn len(&self) -> usize {
        self.toy.len()
    }

    fn code(&self, column: usize, combination: u32) -> u32 {
        self.toy.code(column, combination)
    }

    fn rows(&self, combination: u32) -> u64 {
        self.toy.rows(combination)
    }

    fn holds(&self, combinations: &[u32]) -> bool {
        self.toy.holds(combinations)
    }

    fn least_rows(&self) -> u64 {
        self.toy.least_rows()
    }

    fn rows_suffice(&self) -> bool {
        true
    }

    fn groupings(&self) -> &[Grouping] {
        &self.groupings
    }

    fn suppressible(&self) -> u64 {
        self.toy.suppressible()
    }

    fn class_labels(&self) -> Option<usize> {
        None
    }

    fn for_each_class_label(&self, _: u32, _: &mut dyn FnMut(u32, u64)) {}
}

/// Returns a grouping for every set of `size` of the `width` columns.
fn any(size: usize, width: usize, least: u64) -> Vec<Grouping> {
    let sets = (0u32..1 << width).filter(|set| set.count_ones() as usize == size);
    let columns = |set: u32| (0..width).filter(|i| set >> i & 1 == 1).collect();
    sets.map(|set| Grouping {
        columns: columns(set),
        least,
    })
    .collect()
}

impl Scoped {
    fn run(&self) -> Partition {
        let mut context = Context::new(0, SearchBudget::default());
        LocalSuppression.run(self, &mut context).unwrap().partition
    }

    fn everything_that_must_hold(&self) -> Vec<Grouping> {
        let classes = any(self.toy.columns.len(), self.toy.columns.len(), self.toy.k);
        [self.groupings.as_slice(), &classes].concat()
    }

    /// Returns the released label of a cell.
    fn label(&self, combination: usize, i: usize, starred: bool) -> String {
        let (column, code) = (&self.toy.columns[i], self.toy.combinations[combination].0[i] as usize);
        match (starred, column.top) {
            (true, 2) => "*".into(),
            (true, 1) => column.lookup.level(1).codes[code].to_string() + " of level 1",
            _ => code.to_string(),
        }
    }

    /// Removes the rows in groups that are too small until every remaining group is large enough.
    /// Returns the kept rows.
    fn stay(&self, labels: &[Vec<String>], mut stay: Vec<bool>) -> Vec<bool> {
        loop {
            let before = stay.clone();
            for grouping in self.everything_that_must_hold() {
                let key = |c: usize| {
                    grouping
                        .columns
                        .iter()
                        .map(|i| labels[c][*i].clone())
                        .collect::<Vec<_>>()
                };
                let mut sizes: BTreeMap<Vec<String>, u64> = BTreeMap::new();
                for c in (0..labels.len()).filter(|c| stay[*c]) {
                    *sizes.entry(key(c)).or_default() += self.toy.rows(c as u32);
                }
                for c in (0..labels.len()).filter(|c| before[*c]) {
                    stay[c] &= sizes.get(&key(c)).is_some_and(|size| *size >= grouping.least);
                }
            }
            if before == stay {
                return stay;
            }
        }
    }

    /// Returns the weight of the suppressed cells and of all cells in removed rows.
    fn weight(&self, starred: impl Fn(usize, usize) -> bool, stay: &[bool]) -> f64 {
        let weight = |c: usize| {
            let columns = self.toy.columns.iter().enumerate();
            let lost = columns.filter(|(i, _)| !stay[c] || starred(c, *i));
            self.toy.rows(c as u32) as f64 * lost.map(|(_, column)| column.weight).sum::<f64>()
        };
        (0..self.len()).map(weight).sum()
    }

    fn rows_that_go(&self, stay: &[bool]) -> u64 {
        (0..self.len())
            .filter(|c| !stay[*c])
            .map(|c| self.toy.rows(c as u32))
            .sum()
    }

    /// Returns the minimum weight of all choices of suppressed cells and rows; `None` if no choice
    /// makes every group large enough.
    fn least(&self) -> Option<f64> {
        let (width, len) = (self.toy.columns.len(), self.len());
        let choices = (1usize << width) + 1;
        let mut best: Option<f64> = None;
        let mut chosen = vec![0usize; len];
        loop {
            // The last choice suppresses the row.
            let stay: Vec<bool> = chosen.iter().map(|choice| *choice < choices - 1).collect();
            let starred = |c: usize, i: usize| chosen[c] >> i & 1 == 1;
            let weight = self.weight(starred, &stay);
            let is_allowed = (0..len).all(|c| {
                (0..width).all(|i| !stay[c] || !starred(c, i) || self.toy.columns[i].top > self.toy.columns[i].bottom)
            });
            if is_allowed && self.rows_that_go(&stay) <= self.toy.suppressible && best.is_none_or(|best| weight < best)
            {
                let labels = |c: usize| (0..width).map(|i| self.label(c, i, starred(c, i))).collect();
                let labels: Vec<Vec<String>> = (0..len).map(labels).collect();
                if self.stay(&labels, stay.clone()) == stay {
                    best = Some(weight);
                }
            }
            let Some(next) = chosen.iter().position(|choice| choice + 1 < choices) else {
                return best;
            };
            chosen[next] += 1;
            chosen[..next].fill(0);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The choice of suppressed cells and rows makes every group large enough, and weighs at most a
    /// tenth more than the lightest choice.
    #[test]
    fn no_choice_of_cells_is_better(
        rows in prop::collection::btree_map((0u32..3, 0u32..3, 0u32..2), 1u64..3, 1..5),
        scope in prop_oneof![
            (1usize..4).prop_map(|size| any(size, 3, 2)),
            (1usize..3).prop_map(|size| any(size, 3, 3)),
            Just(vec![Grouping { columns: vec![0, 2], least: 2 }]),
            Just(vec![Grouping { columns: vec![1], least: 3 }, Grouping { columns: vec![0, 1], least: 2 }]),
        ],
        k in 1u64..3,
        suppressible in 0u64..3,
        weights in (1u8..4, 1u8..4),
        top in 0u8..3,
    ) {
        let mut columns = vec![
            column(&["a", "a", "b"], false), column(&["a", "b", "b"], false), column(&["a", "b"], false),
        ];
        (columns[0].weight, columns[1].weight) = (f64::from(weights.0), f64::from(weights.1));
        columns[0].top = top;
        let combinations = rows.iter().map(|((a, b, c), n)| (vec![*a, *b, *c], vec![*n])).collect();
        let toy = Toy { columns, combinations, k, suppressible, asks: false };
        let scoped = Scoped { toy, groupings: scope };
        let partition = scoped.run();
        let text = |c: usize, i: usize| {
            partition.texts(i).value(partition.cells(i)[partition.groups()[c] as usize] as usize).to_string()
        };
        let is_value = |c: usize, i: usize| text(c, i) == scoped.toy.combinations[c].0[i].to_string();
        let labels: Vec<Vec<String>> = (0..scoped.len()).map(|c| (0..3).map(|i| text(c, i)).collect()).collect();
        let stay = scoped.stay(&labels, vec![true; scoped.len()]);
        if let Some(least) = scoped.least() {
            prop_assert!(scoped.rows_that_go(&stay) <= suppressible);
            let weight = scoped.weight(|c, i| !is_value(c, i), &stay);
            prop_assert!(weight <= 1.1 * least + 1e-9, "{} cells, and {} will do", weight, least);
        } else {
            prop_assert!(scoped.rows_that_go(&stay) > suppressible);
        }
    }
}

/// Returns a problem of 400 rows and 13 columns, in which small values are more frequent.
fn wide() -> Problem {
    let mut rng = ChaCha12Rng::seed_from_u64(7);
    let (len, width) = (400, 13);
    let mut value = |cell: usize| {
        let values = 5 + (cell % width) as u32 % 4;
        let value = rng.random_range(0..values).min(rng.random_range(0..values));
        [value, 0]
    };
    Problem {
        rows: vec![1; len],
        labels: (0..len * width).map(&mut value).collect(),
        weights: vec![1.0; width],
        row_weight: width as f64,
        groupings: any(2, width, 3),
        suppressible: 0,
    }
}

#[test]
fn few_of_many_cells_are_suppressed() {
    let problem = wide();
    let choice = search(&problem, &mut ChaCha12Rng::seed_from_u64(1), &mut || false);
    let starred = choice.starred.iter().filter(|starred| **starred).count();
    // A simple alternative suppresses whole columns until all groups over any two columns are large
    // enough. It keeps two columns.
    assert!(
        starred * 4 < choice.starred.len(),
        "{starred} of {} cells",
        choice.starred.len()
    );
    for grouping in &problem.groupings {
        let mut sizes: BTreeMap<Vec<Option<u32>>, u64> = BTreeMap::new();
        for c in 0..problem.rows.len() {
            let cell = |i: &usize| Some(problem.labels[c * 13 + i][0]).filter(|_| !choice.starred[c * 13 + i]);
            *sizes.entry(grouping.columns.iter().map(cell).collect()).or_default() += 1;
        }
        assert!(sizes.values().all(|size| *size >= 3), "{grouping:?}");
    }
}

#[test]
fn the_same_seed_finds_the_same_cells() {
    let mut problem = wide();
    problem.rows.truncate(60);
    problem.labels.truncate(60 * 13);
    let found = |seed| {
        let mut sweeps = 0;
        let is_over = &mut || {
            sweeps += 1;
            sweeps > 40
        };
        search(&problem, &mut ChaCha12Rng::seed_from_u64(seed), is_over)
    };
    assert!(found(1) == found(1));
    let others: BTreeSet<Vec<bool>> = (1..4).map(|seed| found(seed).starred).collect();
    assert!(others.len() > 1, "the seed says nothing");
}

#[test]
fn a_search_without_time_still_holds() {
    let problem = wide();
    let choice = search(&problem, &mut ChaCha12Rng::seed_from_u64(1), &mut || true);
    let mut groups: BTreeMap<Option<u32>, u64> = BTreeMap::new();
    for c in 0..problem.rows.len() {
        *groups
            .entry(Some(problem.labels[c * 13][0]).filter(|_| !choice.starred[c * 13]))
            .or_default() += 1;
    }
    assert!(groups.values().all(|size| *size >= 3) && choice.starred.contains(&false));
}
