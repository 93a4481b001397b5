//! Brute-force versions of the metrics: their definitions as plain loops over rows and cells. They
//! share no code with the metrics.

use crate::data::frequency::testing::{Groups, Row, Table};
use crate::method::lattice::Node;
use std::collections::BTreeMap;

/// A release: a node and its released classes.
pub(super) struct Brute<'a> {
    pub(super) table: &'a Table,
    pub(super) node: &'a Node,
    pub(super) weights: &'a [f64],
    pub(super) k: f64,
    pub(super) kept: Vec<Vec<&'a Row>>,
}

impl Brute<'_> {
    fn rows(&self) -> f64 {
        self.table.rows.len() as f64
    }

    fn released(&self) -> f64 {
        self.kept.iter().map(Vec::len).sum::<usize>() as f64
    }

    fn suppressed(&self) -> f64 {
        self.rows() - self.released()
    }

    /// Returns true if NULL is a leaf of column `i`.
    fn null_leaf(&self, i: usize) -> bool {
        let sample = self.table.rows.iter().map(|r| r.quasi_identifiers[i]);
        let mut all = sample.chain(self.table.population.iter().map(|q| q[i]));
        all.any(|v| v.is_none())
    }

    /// Returns the listed values under the label of `value` at `level`, and the number of leaves
    /// under this label, including NULL.
    fn under(&self, i: usize, level: u8, value: Option<i64>) -> (Vec<i64>, f64) {
        let groups: &Groups = &self.table.groups[i];
        let label = groups.label(level, value);
        let listed: Vec<i64> = groups
            .values()
            .filter(|v| groups.label(level, Some(*v)) == label)
            .collect();
        let null = self.null_leaf(i) && groups.label(level, None) == label;
        let leaves = listed.len() as f64 + f64::from(u8::from(null));
        (listed, leaves)
    }

    fn leaves(&self, i: usize) -> f64 {
        self.under(i, self.table.groups[i].height(), None).1
    }

    /// Returns the weighted sum over cells of `loss(column, level, value)`. A suppressed cell loses
    /// `suppressed(column)`.
    fn cells(&self, loss: impl Fn(usize, u8, Option<i64>) -> f64, suppressed: impl Fn(usize) -> f64) -> f64 {
        let mut sum = 0.0;
        for (i, weight) in self.weights.iter().enumerate() {
            for row in self.kept.iter().flatten() {
                sum += weight * loss(i, self.node.level(i), row.quasi_identifiers[i]);
            }
            sum += weight * suppressed(i) * self.suppressed();
        }
        sum
    }

    fn mean(&self, sum: f64) -> f64 {
        let cells = self.rows() * self.weights.iter().sum::<f64>();
        if cells == 0.0 { 0.0 } else { sum / cells }
    }

    fn general_loss(&self, i: usize, level: u8, value: Option<i64>) -> f64 {
        match self.leaves(i) {
            1.0 => 0.0,
            all => (self.under(i, level, value).1 - 1.0) / (all - 1.0),
        }
    }

    fn entropy(&self) -> f64 {
        let count = |i: usize, level: u8, value: Option<i64>| {
            let groups = &self.table.groups[i];
            // Below the top, an unlisted value shares its label with no other value.
            let listed = |v: Option<i64>| v.is_none_or(|v| groups.values().contains(&v));
            let same = |v: Option<i64>| match level {
                0 => v == value,
                l if l == groups.height() => true,
                l => listed(v) && groups.label(l, v) == groups.label(l, value),
            };
            self.table.rows.iter().filter(|r| same(r.quasi_identifiers[i])).count() as f64
        };
        let all = self.rows();
        let mut sum = 0.0;
        for (i, weight) in self.weights.iter().enumerate() {
            for row in &self.table.rows {
                let value = row.quasi_identifiers[i];
                let kept = self.kept.iter().flatten().any(|r| std::ptr::eq(*r, row));
                let after = if kept { count(i, self.node.level(i), value) } else { all };
                sum -= weight * (count(i, 0, value) / after).log2();
            }
        }
        sum
    }

    fn value_counts(rows: &[&Row], of: impl Fn(&Row) -> Option<i64>) -> Vec<f64> {
        let mut counts: BTreeMap<Option<i64>, f64> = BTreeMap::new();
        rows.iter().for_each(|r| *counts.entry(of(r)).or_default() += 1.0);
        counts.into_values().collect()
    }

    /// Returns the value of a metric by its definition.
    pub(super) fn value(&self, metric: &str) -> f64 {
        let squares = |counts: Vec<f64>| counts.iter().map(|n| n * n).sum::<f64>();
        let sizes = || self.kept.iter().map(|c| c.len() as f64).collect::<Vec<f64>>();
        match metric {
            "dm" => squares(sizes()) + self.suppressed() * self.rows(),
            "glm" => self.mean(self.cells(|i, level, value| self.general_loss(i, level, value), |_| 1.0)),
            "infoloss" => self.mean(self.cells(
                |i, level, value| {
                    if self.table.texts {
                        return self.general_loss(i, level, value);
                    }
                    let range = (self.table.groups[i].values().end - 1) as f64;
                    let (listed, _) = self.under(i, level, value);
                    match (listed.first(), listed.last()) {
                        (Some(lower), Some(upper)) if range > 0.0 => (upper - lower) as f64 / range,
                        _ => 0.0,
                    }
                },
                |_| 1.0,
            )),
            "ileft" => {
                // If the divisor is 0, `mean` returns 0.
                let lost = |leaves: f64, all: f64| (leaves - 1.0) / all;
                let loss = |i, level, value| lost(self.under(i, level, value).1, self.leaves(i));
                1.0 - self.mean(self.cells(loss, |i| lost(self.leaves(i), self.leaves(i))))
            }
            "precision" => {
                let loss = |i: usize, level: u8, _| f64::from(level) / f64::from(self.table.groups[i].height());
                1.0 - self.mean(self.cells(loss, |_| 1.0))
            }
            "height" => f64::from(self.node.height()),
            "entropy" => self.entropy(),
            "c_avg" if self.kept.is_empty() => self.rows() / self.k,
            "c_avg" => self.released() / self.kept.len() as f64 / self.k,
            "cm" if self.rows() == 0.0 => 0.0,
            "cm" => {
                let majority = |c: &Vec<&Row>| Self::value_counts(c, |r| r.label).into_iter().fold(0.0, f64::max);
                (self.rows() - self.kept.iter().map(majority).sum::<f64>()) / self.rows()
            }
            "s_k" => squares(sizes()),
            "s_l" => self
                .kept
                .iter()
                .map(|c| squares(Self::value_counts(c, |r| r.sensitive)))
                .sum(),
            other => panic!("{other} has no definition here"),
        }
    }
}
