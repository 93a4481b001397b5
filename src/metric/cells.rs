//! Losses that are a sum over cells: each released cell loses what its generalized value says, each suppressed row a
//! fixed amount.
//!
//! Losses are kept as whole multiples of a unit, so that sums are exact and the same in any order. Where all losses are
//! fractions whose least common denominator is small (glm), the unit is one over that and the sum is the rational
//! number itself; otherwise a loss is rounded to 2^-40 of the unit, an error below 10^-12 a cell.

use super::measure::{Measure, Reads, Subject, View};
use crate::arithmetic::common_multiple;
use crate::frequency::KeySchema;
use crate::hierarchy::{Label, Lookup};
use crate::lattice::Node;
use crate::partition::Partition;
use std::fmt;
use std::sync::Arc;

/// How losses become whole multiples of a unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit(f64);

const FIXED_POINT: f64 = (1u64 << 40) as f64;
const LARGEST_DENOMINATOR: u64 = 1 << 40;

impl Unit {
    /// Rounds to 2^-40.
    pub const FIXED_POINT: Self = Self(FIXED_POINT);

    /// The least common multiple of `denominators`, where it is small enough.
    pub fn common(denominators: impl Iterator<Item = u64>) -> Option<Self> {
        let common = common_multiple(denominators, LARGEST_DENOMINATOR);
        common.map(|common| Self(common as f64))
    }

    /// The unit in which a metric's losses, fractions of these denominators by column, are exact where they can be:
    /// with whole weights.
    pub fn of_fractions(subject: &Subject, denominator: impl Fn(usize) -> u64) -> Self {
        let whole = subject.weights.iter().all(|w| w.fract() == 0.0);
        let common = whole.then(|| Self::common((0..subject.weights.len()).map(denominator)));
        common.flatten().unwrap_or(Self::FIXED_POINT)
    }

    /// `loss` in this unit.
    pub fn count(self, loss: f64) -> u64 {
        (loss * self.0).round() as u64
    }

    /// A number of units as a loss.
    pub fn loss(self, units: u128) -> f64 {
        units as f64 / self.0
    }
}

/// What a metric over cells reads.
pub const READS: Reads = Reads {
    weights: true,
    ..Reads::NOTHING
};

/// The mean of a sum over cells, over rows times the sum of the weights; or, where higher is better, what that leaves
/// of 1. Nothing is lost where there is nothing to lose.
#[derive(Debug)]
pub struct CellMean {
    cells: CellSum,
    divisor: f64,
    worst: f64,
    higher_is_better: bool,
}

impl CellMean {
    /// The mean of `cells`.
    pub fn loss(subject: &Subject, cells: CellSum) -> Self {
        let rows = subject.base.rows;
        let mut mean = Self {
            divisor: rows as f64 * subject.weights.iter().sum::<f64>(),
            worst: 0.0,
            higher_is_better: false,
            cells,
        };
        mean.worst = mean.share(mean.cells.worst(rows));
        mean
    }

    /// 1 less the mean of `cells`.
    pub fn left(subject: &Subject, cells: CellSum) -> Self {
        Self {
            higher_is_better: true,
            ..Self::loss(subject, cells)
        }
    }

    fn share(&self, loss: f64) -> f64 {
        if self.divisor > 0.0 { loss / self.divisor } else { 0.0 }
    }
}

impl Measure for CellMean {
    fn value(&self, view: &View) -> f64 {
        let loss = self.share(self.cells.sum(view));
        if self.higher_is_better { 1.0 - loss } else { loss }
    }

    fn bound(&self, node: &Node, suppressed: u64) -> f64 {
        let loss = self.share(self.cells.bound(node, suppressed));
        if self.higher_is_better { loss - 1.0 } else { loss }
    }

    fn range(&self) -> (f64, f64) {
        if self.higher_is_better {
            (1.0, 1.0 - self.worst)
        } else {
            (0.0, self.worst)
        }
    }
}

/// What a cell of a column loses when it is released as a label.
struct Loss(Box<CellLoss>);

type CellLoss = dyn Fn(usize, &Lookup, Label) -> f64 + Send + Sync;

impl fmt::Debug for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Loss")
    }
}

/// A prepared sum over cells.
#[derive(Debug)]
pub struct CellSum {
    key_schema: Arc<KeySchema>,
    unit: Unit,
    loss: Loss,
    weights: Vec<f64>,
    /// Units of a suppressed cell, by column.
    suppressed: Vec<u64>,
    /// Column, level, representative code: units.
    losses: Vec<Vec<Vec<u64>>>,
    /// Units of a suppressed row.
    suppressed_row: u64,
    /// Column, level: units over all rows of the table if none is suppressed.
    totals: Vec<Vec<u128>>,
    /// Column, level: the most units that a cell loses.
    most: Vec<Vec<u64>>,
}

impl CellSum {
    /// Prepares a sum where a cell of `column` that is released as a label loses `loss(column, lookup, label)` and a
    /// suppressed cell of it loses `suppressed(column)`, which must not be less, times the column's weight.
    pub fn new(
        subject: &Subject,
        unit: Unit,
        loss: impl Fn(usize, &Lookup, Label) -> f64 + Send + Sync + 'static,
        suppressed: impl Fn(usize) -> f64,
    ) -> Self {
        let key_schema = Arc::clone(&subject.base.key_schema);
        let (mut losses, mut totals, mut most, mut caps) = (vec![], vec![], vec![], vec![]);
        for (column, lookup) in key_schema.lookups().iter().enumerate() {
            let weight = subject.weights[column];
            let cap = unit.count(suppressed(column) * weight);
            caps.push(cap);
            let by_level: Vec<Vec<u64>> = (0..=lookup.top())
                .map(|level| {
                    let label = |code| Label::Level { level, code };
                    let units = |code| unit.count(loss(column, lookup, label(code)) * weight).min(cap);
                    (0..lookup.values().len() as u32).map(units).collect()
                })
                .collect();
            let marginals = &subject.base.marginals[column];
            let total = |units: &Vec<u64>| -> u128 {
                units
                    .iter()
                    .zip(marginals)
                    .map(|(u, n)| u128::from(*u) * u128::from(*n))
                    .sum()
            };
            totals.push(by_level.iter().map(total).collect());
            most.push(
                by_level
                    .iter()
                    .map(|units| units.iter().copied().max().unwrap_or(0))
                    .collect(),
            );
            losses.push(by_level);
        }
        Self {
            key_schema,
            unit,
            loss: Loss(Box::new(loss)),
            weights: subject.weights.to_vec(),
            losses,
            suppressed_row: caps.iter().sum(),
            suppressed: caps,
            totals,
            most,
        }
    }

    /// Units of a row of each class.
    fn units(&self, view: &View) -> Vec<u64> {
        match view.partition {
            None => self.key_schema.sum_by_key(view.set.keys(), |column, code| {
                self.losses[column][usize::from(view.node.level(column))][code as usize]
            }),
            Some(partition) => self.units_of_groups(partition),
        }
    }

    fn units_of_groups(&self, partition: &Partition) -> Vec<u64> {
        let mut units = vec![0; partition.len()];
        for (column, lookup) in self.key_schema.lookups().iter().enumerate() {
            let of_label = |label: &Label| {
                let loss = (self.loss.0)(column, lookup, *label) * self.weights[column];
                self.unit.count(loss).min(self.suppressed[column])
            };
            let of_label: Vec<u64> = partition.labels(column).iter().map(of_label).collect();
            for (units, label) in units.iter_mut().zip(partition.cells(column)) {
                *units += of_label[*label as usize];
            }
        }
        units
    }

    /// The sum over all cells of a node, suppressed rows included.
    pub fn sum(&self, view: &View) -> f64 {
        let units = self.units(view);
        let kept = view.sum_kept(|i, n| u128::from(units[i]) * u128::from(n));
        self.unit
            .loss(kept + u128::from(self.suppressed_row) * u128::from(view.suppressed))
    }

    /// The sum when every row is suppressed, which is the worst.
    pub fn worst(&self, rows: u64) -> f64 {
        self.unit.loss(u128::from(self.suppressed_row) * u128::from(rows))
    }

    /// A bound on [`CellSum::sum`] of a node where at least `suppressed` rows are suppressed: the sum over all rows
    /// if none were, and for each of those rows at least what a suppressed row loses beyond the costliest one.
    pub fn bound(&self, node: &Node, suppressed: u64) -> f64 {
        let levels = || node.levels().iter().map(|l| usize::from(*l)).enumerate();
        let total: u128 = levels().map(|(column, level)| self.totals[column][level]).sum();
        let most: u64 = levels().map(|(column, level)| self.most[column][level]).sum();
        self.unit
            .loss(total + u128::from(self.suppressed_row - most) * u128::from(suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_common_denominator_makes_fractions_exact() {
        let unit = Unit::common([99, 15, 6, 40, 13].into_iter()).unwrap();
        assert_eq!(unit.loss(u128::from(unit.count(7.0 / 99.0)) * 99), 7.0);
        assert_eq!(Unit::common([(1 << 39) - 1, (1 << 31) - 1].into_iter()), None);
    }
}
