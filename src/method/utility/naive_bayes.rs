//! Naive Bayes: predicts the class with the maximum product of its prior probability and the
//! likelihoods of the single features.
//!
//! - The prior of a class is its share of the training rows.
//! - A column of numbers, dates or timestamps is normally distributed within a class, with the mean
//!   and variance of the class's values. A billionth of the column's own variance is added, so that
//!   no variance is 0. NULL gives no information.
//! - The likelihood of a value of any other column is (n + 1) / (N + m): n of the class's N rows
//!   have the value, and the column has m values (Laplace).
//!
//! A training row counts evenly for the values under its label.
//!
//! John and Langley, Estimating continuous distributions in Bayesian classifiers, UAI 1995, section
//! 2.

use super::sample::{ColumnValues, Sample};
use std::f64::consts::TAU;

/// The share of a column's variance that is added to the column's variance within a class.
const SMOOTHING: f64 = 1e-9;

/// A trained classifier.
#[derive(Debug, Clone)]
pub struct NaiveBayes {
    /// For each class: the logarithm of its prior probability.
    priors: Vec<f64>,
    /// For each feature: its column, and the logarithm of the likelihood for each value and class.
    features: Vec<(usize, Vec<f64>)>,
}

impl NaiveBayes {
    /// Trains a classifier on `rows`, with these columns as features. The class column has
    /// `columns[class].values` classes.
    pub fn train(rows: &Sample, columns: &[ColumnValues], features: &[usize], class: usize) -> Self {
        let classes = columns[class].values;
        let mut of_class = vec![0u64; classes];
        for (class, n) in rows.classes(class).iter().zip(&rows.counts) {
            of_class[*class as usize] += n;
        }
        let all = rows.rows() as f64;
        let likelihoods = |feature: &usize| {
            let column = &columns[*feature];
            let joint = rows.joint(*feature, column.values, class, classes);
            let logarithms = match &column.numbers {
                Some(numbers) => normal(&joint, numbers, classes),
                None => shares(&joint, &of_class, column.values),
            };
            (*feature, logarithms)
        };
        Self {
            features: features.iter().map(likelihoods).collect(),
            priors: of_class.iter().map(|n| (*n as f64 / all).ln()).collect(),
        }
    }

    /// Returns the predicted class of a row. `value` returns the row's value of each column. If
    /// several classes have the highest score, returns the first of them.
    pub fn classify(&self, value: impl Fn(usize) -> u32) -> u32 {
        let mut scores = self.priors.clone();
        for (column, logarithms) in &self.features {
            let at = value(*column) as usize * scores.len();
            let found = &logarithms[at..at + scores.len()];
            scores.iter_mut().zip(found).for_each(|(score, more)| *score += more);
        }
        let mut best = 0;
        for (class, score) in scores.iter().enumerate() {
            if *score > scores[best] {
                best = class;
            }
        }
        best as u32
    }
}

/// Returns the logarithm of (n + 1) / (N + m) for each value and class.
fn shares(joint: &[f64], of_class: &[u64], values: usize) -> Vec<f64> {
    let cells = joint.iter().zip(of_class.iter().cycle());
    cells
        .map(|(n, of_class)| ((n + 1.0) / (*of_class as f64 + values as f64)).ln())
        .collect()
}

/// Returns the logarithm of the normal density for each value and class; 0 for a value without a
/// number.
fn normal(joint: &[f64], numbers: &[Option<f64>], classes: usize) -> Vec<f64> {
    let known = || {
        let cells = numbers.iter().zip(joint.chunks(classes));
        cells.filter_map(|(number, rows)| number.map(|number| (number, rows)))
    };
    let moments = |of: &dyn Fn(&[f64]) -> f64| {
        let n: f64 = known().map(|(_, rows)| of(rows)).sum();
        let mean = known().map(|(x, rows)| x * of(rows)).sum::<f64>() / n;
        let variance = known().map(|(x, rows)| (x - mean).powi(2) * of(rows)).sum::<f64>() / n;
        (mean, variance)
    };
    let (_, whole) = moments(&|rows| rows.iter().sum());
    if whole.is_nan() || whole <= 0.0 {
        // If no row has a number, or all numbers are equal, the column gives no information about
        // the class.
        return vec![0.0; joint.len()];
    }
    let of_class = |class: usize| {
        let (mean, variance) = moments(&|rows| rows[class]);
        (mean, variance + SMOOTHING * whole)
    };
    let of_class: Vec<(f64, f64)> = (0..classes).map(of_class).collect();
    let mut logarithms = vec![];
    for number in numbers {
        logarithms.extend(of_class.iter().map(|(mean, variance)| match number {
            Some(x) if !mean.is_nan() => -0.5 * ((TAU * variance).ln() + (x - mean).powi(2) / variance),
            // A class without rows already has probability 0 by its prior.
            _ => 0.0,
        }));
    }
    logarithms
}
