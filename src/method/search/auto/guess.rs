//! Guesses about nodes, fitted to the assessed nodes.
//!
//! A quantity of a node (suppressed rows, floor, or excess of the cost over the floor) is guessed
//! as a sum of one term per column and level, on a logarithmic scale. The terms are fitted to the
//! assessed nodes by recursive least squares. Guesses choose the next node to assess, and never
//! prove anything. If there are more than [`JOINT`] terms, their covariances are omitted. The time
//! and memory of the fit are then proportional to the number of terms instead of its square.

use crate::method::lattice::Node;
use crate::method::search::oracle::{Assessment, Oracle};

/// The variance of a single observation around the fit.
const NOISE: f64 = 0.1;
/// The prior variances: first of a step from one level to the next, then of the constant.
const DOUBT: (f64, f64) = (0.2, 25.0);
/// The minimum standard deviation assumed for a guess.
const SPREAD: f64 = 0.1;

/// The maximum number of terms for which the full matrix of covariances is stored.
const JOINT: usize = 512;

/// The uncertainty of the terms of a fit.
enum Doubt {
    /// The covariance of every pair of terms.
    Joint(Vec<f64>),
    /// The variance of each term, as if it were independent of the others.
    Single(Vec<f64>),
}

impl Doubt {
    fn new(terms: usize) -> Self {
        let prior = |i: usize| if i == 0 { DOUBT.1 } else { DOUBT.0 };
        if terms > JOINT {
            return Self::Single((0..terms).map(prior).collect());
        }
        let mut covariance = vec![0.0; terms * terms];
        (0..terms).for_each(|i| covariance[i * terms + i] = prior(i));
        Self::Joint(covariance)
    }

    /// Returns the change of each term for an error of 1 in the sum of the terms `on`. Reduces the
    /// uncertainty by this observation.
    fn learn(&mut self, on: &[usize]) -> Vec<f64> {
        match self {
            Self::Joint(covariance) => {
                let n = covariance.len().isqrt();
                let gain: Vec<f64> = (0..n)
                    .map(|r| on.iter().map(|&c| covariance[r * n + c]).sum())
                    .collect();
                let variance = NOISE + on.iter().map(|&i| gain[i]).sum::<f64>();
                for (row, own) in covariance.chunks_exact_mut(n).zip(&gain) {
                    let share = own / variance;
                    row.iter_mut().zip(&gain).for_each(|(cell, g)| *cell -= share * g);
                }
                gain.into_iter().map(|g| g / variance).collect()
            }
            Self::Single(variances) => {
                let variance = NOISE + on.iter().map(|&i| variances[i]).sum::<f64>();
                let mut shares = vec![0.0; variances.len()];
                for &i in on {
                    shares[i] = variances[i] / variance;
                    variances[i] -= shares[i] * variances[i];
                }
                shares
            }
        }
    }
}

/// The fit of one quantity.
pub(in super::super) struct Fit {
    /// For each column: the index of its first step among the weights. Weight 0 is the constant.
    starts: Vec<usize>,
    bottom: Vec<u8>,
    weights: Vec<f64>,
    doubt: Doubt,
    /// For each column and level above the bottom: the sum of the steps up to the level.
    sums: Vec<Vec<f64>>,
    /// The mean square of past errors, in which older errors have less weight.
    error: f64,
}

impl Fit {
    /// Returns a fit that starts from `constant`. The initial step from one level to the next is
    /// the logarithm of the ratio of the effective numbers of values at the two levels, multiplied
    /// by `sign`, as it would be for independent columns.
    pub(in super::super) fn new(oracle: &dyn Oracle, constant: f64, sign: f64) -> Self {
        let lattice = oracle.lattice();
        let (mut weights, mut starts, mut sums) = (vec![constant], vec![], vec![]);
        for i in 0..lattice.width() {
            starts.push(weights.len());
            let (bottom, top) = (lattice.bottom().level(i), lattice.top().level(i));
            let values: Vec<f64> = (bottom..=top).map(|l| oracle.effective_values(i, l).max(1.0)).collect();
            weights.extend(values.windows(2).map(|pair| sign * (pair[0] / pair[1]).ln()));
            sums.push(vec![0.0; values.len()]);
        }
        let mut fit = Self {
            starts,
            bottom: lattice.bottom().levels().to_vec(),
            doubt: Doubt::new(weights.len()),
            weights,
            sums,
            error: 1.0,
        };
        fit.tabulate();
        fit
    }

    fn tabulate(&mut self) {
        for (sums, &start) in self.sums.iter_mut().zip(&self.starts) {
            for l in 1..sums.len() {
                sums[l] = sums[l - 1] + self.weights[start + l - 1];
            }
        }
    }

    pub(in super::super) fn at(&self, levels: &[u8]) -> f64 {
        let terms = self.sums.iter().zip(levels).zip(&self.bottom);
        self.weights[0] + terms.map(|((sums, &l), &b)| sums[usize::from(l - b)]).sum::<f64>()
    }

    pub(in super::super) fn spread(&self) -> f64 {
        self.error.sqrt().max(SPREAD)
    }

    pub(in super::super) fn learn(&mut self, node: &Node, found: f64) {
        if !found.is_finite() {
            return;
        }
        let mut on = vec![0];
        for (i, &start) in self.starts.iter().enumerate() {
            on.extend(start..start + usize::from(node.level(i) - self.bottom[i]));
        }
        let error = found - self.at(node.levels());
        self.error = 0.9 * self.error + 0.1 * error * error;
        let shares = self.doubt.learn(&on);
        self.weights
            .iter_mut()
            .zip(shares)
            .for_each(|(weight, share)| *weight += share * error);
        self.tabulate();
    }
}

/// A guessed value on the scale of the fit, with its usual error.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected {
    pub(super) value: f64,
    spread: f64,
}

impl Expected {
    /// Returns the probability that the true value is at least `threshold`, given on the same
    /// scale.
    pub(super) fn reaches(self, threshold: f64) -> f64 {
        1.0 / (1.0 + (-1.7 * (self.value - threshold) / self.spread).exp())
    }
}

/// The guesses of one run.
pub(super) struct Guess {
    suppressed: Fit,
    excess: Fit,
    floor: Fit,
    rows: f64,
    /// The excess of the bottom, which is the maximum of all nodes; `None` until the bottom is
    /// assessed.
    most_excess: Option<f64>,
    /// The minimum excess per suppressed row of all assessed nodes. Half of this number represents
    /// an excess of 0.
    excess_of_row: f64,
    floors_tell: bool,
}

impl Guess {
    pub(super) fn new(oracle: &dyn Oracle) -> Self {
        let rows = oracle.rows() as f64;
        Self {
            suppressed: Fit::new(oracle, 4.0, -1.0),
            excess: Fit::new(oracle, 4.0, -1.0),
            floor: Fit::new(oracle, rows.max(1.0).ln(), 1.0),
            rows,
            most_excess: None,
            excess_of_row: f64::INFINITY,
            floors_tell: false,
        }
    }

    /// Returns true if the floor of some assessed node is higher than the bound of the same node
    /// that needs no assessment.
    pub(super) fn floors_tell(&self) -> bool {
        self.floors_tell
    }

    pub(super) fn learn(&mut self, oracle: &dyn Oracle, node: &Node, found: &Assessment) {
        let suppressed = found.suppressed as f64;
        self.suppressed.learn(node, self.suppressed_scale(suppressed));
        let excess = found.cost() - found.floor;
        if !excess.is_finite() {
            return;
        }
        if excess > 0.0 {
            self.most_excess = Some(self.most_excess.unwrap_or(1.02 * excess).max(excess));
            self.excess_of_row = self.excess_of_row.min(excess / suppressed.max(1.0));
        }
        if self.most_excess.is_some() {
            self.excess.learn(node, self.excess_scale(excess));
        }
        if found.floor > 0.0 {
            self.floor.learn(node, found.floor.ln());
        }
        self.floors_tell |= found.floor > oracle.bound(node, 0) + 1e-4 * found.floor.abs();
    }

    /// Returns a number of suppressed rows on the scale of the fit: the logit of its share of all
    /// rows.
    pub(super) fn suppressed_scale(&self, suppressed: f64) -> f64 {
        logit(suppressed.max(0.5), self.rows)
    }

    /// Returns an excess on the scale of the fit: the logit of its share of the maximum excess;
    /// infinite if the excess is above the maximum, or if the maximum is not known yet.
    pub(super) fn excess_scale(&self, excess: f64) -> f64 {
        match self.most_excess {
            Some(most) if excess <= most => logit(excess.max(0.5 * self.excess_of_row.min(most)), most),
            _ => f64::INFINITY,
        }
    }

    pub(super) fn suppressed(&self, levels: &[u8]) -> Expected {
        Expected {
            value: self.suppressed.at(levels),
            spread: self.suppressed.spread(),
        }
    }

    pub(super) fn excess(&self, levels: &[u8]) -> Expected {
        Expected {
            value: self.excess.at(levels),
            spread: self.excess.spread(),
        }
    }

    /// Returns the logarithm of the guessed floor.
    pub(super) fn floor(&self, levels: &[u8]) -> Expected {
        Expected {
            value: self.floor.at(levels),
            spread: self.floor.spread(),
        }
    }

    /// Returns the guessed excess, not on the scale of the fit but as a cost.
    pub(super) fn excess_number(&self, levels: &[u8]) -> f64 {
        self.most_excess
            .map_or(0.0, |most| most / (1.0 + (-self.excess.at(levels)).exp()))
    }

    /// Returns the guessed floor as a cost, and at least `least`.
    pub(super) fn floor_number(&self, levels: &[u8], least: f64) -> f64 {
        if self.floors_tell {
            self.floor.at(levels).exp().max(least)
        } else {
            least
        }
    }
}

fn logit(part: f64, whole: f64) -> f64 {
    (part / (whole - part).max(0.001 * whole)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::search::testing::toy;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_sum_of_terms_is_learnt_from_all_nodes(toy in toy()) {
            let sum = |node: &Node| node.levels().iter().enumerate().map(|(i, l)| (i + 1) as f64 * f64::from(*l)).sum();
            let mut fit = Fit::new(&toy, 0.0, 1.0);
            for _ in 0..200 {
                toy.lattice().iter().for_each(|n| fit.learn(&n, sum(&n)));
            }
            for node in toy.lattice().iter() {
                let expected: f64 = sum(&node);
                prop_assert!((fit.at(node.levels()) - expected).abs() < 0.1);
            }
        }

        #[test]
        fn scales_rise_and_stay_finite_for_what_can_be(toy in toy(), a in 0u64..30, b in 0u64..30) {
            let guess = Guess::new(&toy);
            let (a, b) = (a.min(toy.rows()) as f64, b.min(toy.rows()) as f64);
            prop_assert!(guess.suppressed_scale(a).is_finite());
            prop_assert!(a > b || guess.suppressed_scale(a) <= guess.suppressed_scale(b));
            prop_assert_eq!(guess.excess_scale(a), f64::INFINITY);
        }
    }
}
