//! The groups that result from a choice of suppressed cells, counted for each grouping.
//!
//! A flip of one cell moves a combination from one group to another in each grouping that contains
//! the column of the cell, so the effect of the flip follows from the sizes of these groups.

use super::problem::{Problem, SuppressionChoice};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The hasher for the keys of groups. The keys are hashes already.
#[derive(Default)]
struct Same(u64);

impl Hasher for Same {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes
            .iter()
            .fold(self.0, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Returns the hash of a label of a column. `of` is 0 for the label of a kept cell, and 1 for the
/// label of a suppressed cell. The key of a group is the sum of the hashes of its labels and of a
/// hash of its grouping, for which `of` is 2. If two groups had the same key, only the count here
/// would be wrong: the release is checked by the labels themselves.
fn number(column: usize, of: u32, label: u32) -> u128 {
    let seed = ((column as u64) << 34) | (u64::from(of) << 32) | u64::from(label);
    let mix = |salt: u64| {
        let mut x = seed.wrapping_add(salt).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    };
    (u128::from(mix(0x5851_F42D_4C95_7F2D)) << 64) | u128::from(mix(0x1405_7B7E_F767_814F))
}

/// Returns the approximate number of cells that must change until a group of `size` rows has at
/// least `least` rows or none.
fn short(size: u64, least: u64) -> i64 {
    if size >= least {
        0
    } else {
        size.min(least - size) as i64
    }
}

/// The effect of one flip on the cost, and on the sum of [`short`] over all groups.
#[derive(Clone, Copy)]
pub(super) struct Effect {
    pub(super) cost: f64,
    pub(super) short: i64,
}

impl Effect {
    pub(super) fn energy(self, penalty: f64) -> f64 {
        self.cost + penalty * self.short as f64
    }
}

/// A choice with its groups.
pub(super) struct State<'a> {
    pub(super) problem: &'a Problem,
    pub(super) choice: SuppressionChoice,
    /// The blocks of [`Problem::blocks`].
    pub(super) blocks: Vec<(usize, Vec<u32>)>,
    /// For each column: the groupings that contain the column.
    pub(super) with: Vec<Vec<usize>>,
    /// The hashes of the two labels of each cell.
    numbers: Vec<[u128; 2]>,
    /// The key of each combination's group, grouping by grouping.
    keys: Vec<u128>,
    sizes: HashMap<u128, u64, BuildHasherDefault<Same>>,
    pub(super) gone: u64,
    pub(super) cost: f64,
    pub(super) short: i64,
    /// The number of groups examined so far.
    pub(super) work: u64,
}

impl<'a> State<'a> {
    pub(super) fn new(problem: &'a Problem, choice: SuppressionChoice) -> Self {
        let (width, groupings) = (problem.weights.len(), &problem.groupings);
        let with = |column| {
            (0..groupings.len())
                .filter(move |g| groupings[*g].columns.contains(&column))
                .collect()
        };
        let numbers = problem.labels.iter().enumerate();
        let numbers = numbers.map(|(cell, labels)| [0, 1].map(|of| number(cell % width, of as u32, labels[of])));
        let mut state = Self {
            problem,
            with: (0..width).map(with).collect(),
            numbers: numbers.collect(),
            blocks: problem.blocks(),
            keys: vec![],
            sizes: HashMap::default(),
            gone: 0,
            cost: 0.0,
            short: 0,
            work: 0,
            choice,
        };
        state.restart();
        state
    }

    /// Switches to another choice.
    pub(super) fn reset(&mut self, choice: SuppressionChoice) {
        self.choice = choice;
        self.restart();
    }

    /// Recounts the groups of the current choice.
    pub(super) fn restart(&mut self) {
        let problem = self.problem;
        let width = problem.weights.len();
        self.keys.clear();
        self.sizes.clear();
        (self.gone, self.cost, self.short) = (0, 0.0, 0);
        for (combination, rows) in problem.rows.iter().enumerate() {
            let is_gone = self.choice.gone[combination];
            self.cost += *rows as f64 * self.weight(combination);
            self.gone += if is_gone { *rows } else { 0 };
            for (g, grouping) in problem.groupings.iter().enumerate() {
                let start = number(width + g, 2, 0);
                let key = grouping.columns.iter().fold(start, |key, column| {
                    let cell = combination * width + column;
                    key.wrapping_add(self.numbers[cell][usize::from(self.choice.starred[cell])])
                });
                self.keys.push(key);
                if !is_gone {
                    *self.sizes.entry(key).or_default() += rows;
                }
            }
        }
        let mut counted: HashMap<u128, u64> = HashMap::new();
        for (i, key) in self.keys.iter().enumerate() {
            counted.insert(*key, problem.groupings[i % problem.groupings.len()].least);
        }
        let size = |key: &u128| self.sizes.get(key).copied().unwrap_or(0);
        self.short = counted.iter().map(|(key, least)| short(size(key), *least)).sum();
    }

    /// Returns the weight of the suppressed cells of one row. An entirely suppressed row has the
    /// row weight.
    fn weight(&self, combination: usize) -> f64 {
        let weights = &self.problem.weights;
        if self.choice.gone[combination] {
            return self.problem.row_weight;
        }
        let cells = &self.choice.starred[combination * weights.len()..];
        let starred = weights.iter().zip(cells).filter(|(_, starred)| **starred);
        starred.map(|(weight, _)| weight).sum()
    }

    /// Returns true if a cell is suppressed.
    pub(super) fn is_starred(&self, combination: usize, column: usize) -> bool {
        self.choice.starred[combination * self.problem.weights.len() + column]
    }

    /// Returns the number of groups that a sweep examines if it proposes to flip every cell.
    pub(super) fn work_of_a_sweep(&self) -> u64 {
        let open = self
            .with
            .iter()
            .zip(&self.problem.weights)
            .filter(|(_, weight)| weight.is_finite());
        self.problem.rows.len() as u64 * open.map(|(with, _)| 2 * with.len() as u64).sum::<u64>()
    }

    fn size(&self, key: u128) -> u64 {
        self.sizes.get(&key).copied().unwrap_or(0)
    }

    fn key_after(&self, combination: usize, column: usize, g: usize) -> u128 {
        let cell = combination * self.problem.weights.len() + column;
        let (now, then) = (
            usize::from(self.choice.starred[cell]),
            usize::from(!self.choice.starred[cell]),
        );
        self.keys[combination * self.problem.groupings.len() + g]
            .wrapping_sub(self.numbers[cell][now])
            .wrapping_add(self.numbers[cell][then])
    }

    /// Returns the effect of flipping a cell of a combination whose rows are not suppressed.
    pub(super) fn effect(&mut self, combination: usize, column: usize) -> Effect {
        let (problem, rows) = (self.problem, self.problem.rows[combination]);
        let mut change = 0;
        for g in &self.with[column] {
            let least = problem.groupings[*g].least;
            let left = self.size(self.keys[combination * problem.groupings.len() + g]);
            let joined = self.size(self.key_after(combination, column, *g));
            change +=
                short(left - rows, least) + short(joined + rows, least) - short(left, least) - short(joined, least);
        }
        self.work += 2 * self.with[column].len() as u64;
        let starred = self.choice.starred[combination * problem.weights.len() + column];
        let weight = rows as f64 * problem.weights[column];
        Effect {
            cost: if starred { -weight } else { weight },
            short: change,
        }
    }

    pub(super) fn flip(&mut self, combination: usize, column: usize, effect: Effect) {
        let (groupings, rows) = (self.problem.groupings.len(), self.problem.rows[combination]);
        for i in 0..self.with[column].len() {
            let g = self.with[column][i];
            let key = self.key_after(combination, column, g);
            let old = std::mem::replace(&mut self.keys[combination * groupings + g], key);
            self.take(old, rows);
            *self.sizes.entry(key).or_default() += rows;
        }
        let cell = combination * self.problem.weights.len() + column;
        self.choice.starred[cell] = !self.choice.starred[cell];
        self.add(effect);
    }

    fn take(&mut self, key: u128, rows: u64) {
        if let Some(size) = self.sizes.get_mut(&key) {
            *size -= rows;
            if *size == 0 {
                self.sizes.remove(&key);
            }
        }
    }

    fn add(&mut self, effect: Effect) {
        self.cost += effect.cost;
        self.short += effect.short;
    }

    /// Returns the effect of entirely suppressing the rows of a combination, or of restoring them;
    /// `None` if too many rows would be suppressed.
    pub(super) fn effect_of_row(&mut self, combination: usize) -> Option<Effect> {
        let (problem, rows) = (self.problem, self.problem.rows[combination]);
        let is_gone = self.choice.gone[combination];
        if !is_gone && self.gone + rows > problem.suppressible {
            return None;
        }
        let groupings = problem.groupings.len();
        let keys = &self.keys[combination * groupings..(combination + 1) * groupings];
        let change = keys.iter().zip(&problem.groupings).map(|(key, grouping)| {
            let size = self.size(*key);
            let then = if is_gone { size + rows } else { size - rows };
            short(then, grouping.least) - short(size, grouping.least)
        });
        let short = change.sum();
        self.work += groupings as u64;
        let now = self.weight(combination);
        let starred = &self.choice.starred[combination * problem.weights.len()..];
        let cells = problem
            .weights
            .iter()
            .zip(starred)
            .filter(|(_, starred)| **starred)
            .map(|(w, _)| w);
        let then = if is_gone { cells.sum() } else { problem.row_weight };
        Some(Effect {
            cost: rows as f64 * (then - now),
            short,
        })
    }

    pub(super) fn flip_row(&mut self, combination: usize, effect: Effect) {
        let (groupings, rows) = (self.problem.groupings.len(), self.problem.rows[combination]);
        let is_gone = self.choice.gone[combination];
        for g in 0..groupings {
            let key = self.keys[combination * groupings + g];
            match is_gone {
                true => *self.sizes.entry(key).or_default() += rows,
                false => self.take(key, rows),
            }
        }
        self.gone = if is_gone { self.gone - rows } else { self.gone + rows };
        self.choice.gone[combination] = !is_gone;
        self.add(effect);
    }

    /// Returns true if the combination's group is too small in any grouping that contains the
    /// column.
    pub(super) fn fails(&mut self, combination: usize, column: usize) -> bool {
        self.work += self.with[column].len() as u64;
        self.with[column].iter().any(|g| self.is_small(combination, *g))
    }

    /// Returns true if the combination's group in a grouping is too small.
    pub(super) fn is_small(&self, combination: usize, g: usize) -> bool {
        !self.choice.gone[combination] && self.lacks(combination, g) > 0
    }

    /// Returns the number of rows that the combination's group in a grouping lacks.
    pub(super) fn lacks(&self, combination: usize, g: usize) -> u64 {
        let groupings = &self.problem.groupings;
        let size = self.size(self.keys[combination * groupings.len() + g]);
        groupings[g].least.saturating_sub(size)
    }
}
