//! Metrics that are a sum over cells. The loss of a released cell depends on its generalized value.
//! The loss of a suppressed row is fixed.
//!
//! Losses are stored as whole multiples of a unit, so sums are exact and the same in any order. If
//! all losses are fractions with a small least common denominator (as in glm), the unit is one over
//! that denominator, and the sum is the exact rational number. Otherwise a loss is rounded to a
//! multiple of 2^-40, with an error below 10^-12 per cell.

use super::measure::{Measure, Reads, Subject, View};
use crate::base::arithmetic::common_multiple;
use crate::method::hierarchy::{Label, Lookup};
use crate::method::key::KeySchema;
use crate::method::lattice::Node;
use crate::method::partition::Partition;
use std::fmt;
use std::sync::Arc;

/// A unit of loss, stored as the number of units in a loss of 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossUnit(f64);

const FIXED_POINT: f64 = (1u64 << 40) as f64;
const LARGEST_DENOMINATOR: u64 = 1 << 40;

impl LossUnit {
    /// The unit 2^-40. Losses are rounded to its multiples.
    pub const FIXED_POINT: Self = Self(FIXED_POINT);

    /// Returns the unit one over the least common multiple of `denominators`; `None` if that
    /// multiple is above 2^40.
    pub fn common(denominators: impl Iterator<Item = u64>) -> Option<Self> {
        let common = common_multiple(denominators, LARGEST_DENOMINATOR);
        common.map(|common| Self(common as f64))
    }

    /// Returns the unit for losses that are fractions with the given denominator for each column.
    /// The unit is exact if all weights are whole numbers and the least common denominator is
    /// small. Otherwise it is [`LossUnit::FIXED_POINT`].
    pub fn of_fractions(subject: &Subject, denominator: impl Fn(usize) -> u64) -> Self {
        let whole = subject.weights.iter().all(|w| w.fract() == 0.0);
        let common = whole.then(|| Self::common((0..subject.weights.len()).map(denominator)));
        common.flatten().unwrap_or(Self::FIXED_POINT)
    }

    /// Returns `loss` as a number of units, rounded.
    pub fn count(self, loss: f64) -> u64 {
        (loss * self.0).round() as u64
    }

    /// Returns a number of units as a loss.
    pub fn loss(self, units: u128) -> f64 {
        units as f64 / self.0
    }
}

/// The inputs that a metric over cells reads besides class sizes: the weights.
pub const READS: Reads = Reads {
    weights: true,
    ..Reads::NOTHING
};

/// The mean of a sum over cells: the sum divided by rows times the sum of the weights; 0 if the
/// divisor is 0. If higher is better, the value is 1 minus this mean.
#[derive(Debug)]
pub struct CellMean {
    cells: CellSum,
    divisor: f64,
    worst: f64,
    higher_is_better: bool,
}

impl CellMean {
    /// Returns the mean of `cells`. Lower is better.
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

    /// Returns 1 minus the mean of `cells`. Higher is better.
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

/// The loss of a released cell, given its column, the lookup of the column, and the label.
struct Loss(Box<CellLoss>);

type CellLoss = dyn Fn(usize, &Lookup, Label) -> f64 + Send + Sync;

impl fmt::Debug for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Loss")
    }
}

/// A sum over cells, prepared for one table.
#[derive(Debug)]
pub struct CellSum {
    key_schema: Arc<KeySchema>,
    unit: LossUnit,
    loss: Loss,
    weights: Vec<f64>,
    /// For each column: the loss of a suppressed cell, in units of `unit`.
    suppressed: Vec<u64>,
    /// For each column, level and ground code: the loss of a released cell, in units of `unit`.
    losses: Vec<Vec<Vec<u64>>>,
    /// The loss of a suppressed row, in units of `unit`.
    suppressed_row: u64,
    /// For each column and level: the loss of the column over all rows of the table if no row is
    /// suppressed, in units of `unit`.
    totals: Vec<Vec<u128>>,
    /// For each column and level: the maximum loss of a released cell, in units of `unit`.
    most: Vec<Vec<u64>>,
}

impl CellSum {
    /// Prepares a sum over cells. A cell of `column` released with a label loses
    /// `loss(column, lookup, label)`. A suppressed cell loses `suppressed(column)`, which must not
    /// be less than any loss of a label in the column. Both losses are multiplied by the weight of
    /// the column.
    pub fn new(
        subject: &Subject,
        unit: LossUnit,
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

    /// Returns, for each class, the loss of one released row, in units of `unit`.
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

    /// Returns the sum over all cells of a node, including suppressed rows.
    pub fn sum(&self, view: &View) -> f64 {
        let units = self.units(view);
        let kept = view.sum_kept(|i, n| u128::from(units[i]) * u128::from(n));
        self.unit
            .loss(kept + u128::from(self.suppressed_row) * u128::from(view.suppressed))
    }

    /// Returns the maximum possible sum: the sum if every row is suppressed.
    pub fn worst(&self, rows: u64) -> f64 {
        self.unit.loss(u128::from(self.suppressed_row) * u128::from(rows))
    }

    /// Returns a lower bound on [`CellSum::sum`] of a node with at least `suppressed` suppressed
    /// rows. The bound is the sum over all rows without suppression, plus the minimum additional
    /// loss of each suppressed row compared to a released row.
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
        let unit = LossUnit::common([99, 15, 6, 40, 13].into_iter()).unwrap();
        assert_eq!(unit.loss(u128::from(unit.count(7.0 / 99.0)) * 99), 7.0);
        assert_eq!(LossUnit::common([(1 << 39) - 1, (1 << 31) - 1].into_iter()), None);
    }
}
