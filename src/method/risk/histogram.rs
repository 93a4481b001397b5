//! The histogram of class sizes, the input of the risk measures of a sample.

use serde::Serialize;
use std::collections::BTreeMap;

/// The number of equivalence classes of each size f (rows, or distinct entities under ENTITY).
/// Suppressed rows are in no class.
///
/// ```
/// use anonsql::internal::risk::Histogram;
/// // Two rows alone in their classes, and a class of three.
/// let histogram: Histogram = [(1, 2), (3, 1)].into_iter().collect();
/// assert_eq!((histogram.rows(), histogram.classes(), histogram.uniques()), (5, 3, 2));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Histogram(BTreeMap<u64, u64>);

impl Histogram {
    /// Returns each size with its number of classes, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.iter().map(|(size, count)| (*size, *count))
    }

    /// Returns the number of classes with the size `size`.
    pub fn count(&self, size: u64) -> u64 {
        self.0.get(&size).copied().unwrap_or(0)
    }

    /// Returns the sum of all sizes: rows, or people under ENTITY. A person in two classes counts
    /// in both.
    pub fn rows(&self) -> u64 {
        self.iter().map(|(size, count)| size * count).sum()
    }

    /// Returns the number of classes.
    pub fn classes(&self) -> u64 {
        self.0.values().sum()
    }

    /// Returns the number of classes with a single row. The values of this row are unique.
    pub fn uniques(&self) -> u64 {
        self.count(1)
    }

    /// Returns the smallest size, the k of k-anonymity; `None` if there are no classes.
    pub fn smallest(&self) -> Option<u64> {
        self.0.keys().next().copied()
    }

    /// Returns the largest size; `None` if there are no classes.
    pub fn largest(&self) -> Option<u64> {
        self.0.keys().next_back().copied()
    }

    /// Returns the distinction: the share of distinct combinations, classes / rows, from 0 to 1. It
    /// is 0 if there are no rows. Motwani and Xu, Efficient algorithms for masking and finding
    /// quasi-identifiers, SDM workshop 2007.
    pub fn distinction(&self) -> f64 {
        ratio(self.classes(), self.rows())
    }

    /// Returns the number of pairs of rows that differ in at least one value, and the number of all
    /// pairs.
    pub fn pairs_apart(&self) -> (u128, u128) {
        let pairs = |n: u64| u128::from(n) * u128::from(n.saturating_sub(1)) / 2;
        let all = pairs(self.rows());
        let together: u128 = self.iter().map(|(size, count)| u128::from(count) * pairs(size)).sum();
        (all - together, all)
    }

    /// Returns the separation: the share of pairs of rows that differ in at least one value, from 0
    /// to 1 (Motwani and Xu). It is 0 if there are no pairs.
    pub fn separation(&self) -> f64 {
        let (apart, all) = self.pairs_apart();
        if all == 0 { 0.0 } else { apart as f64 / all as f64 }
    }
}

impl FromIterator<(u64, u64)> for Histogram {
    /// Builds a histogram from sizes with counts. A size may occur more than once. Sizes and counts
    /// of 0 are ignored.
    fn from_iter<I: IntoIterator<Item = (u64, u64)>>(counts: I) -> Self {
        let mut histogram = BTreeMap::new();
        for (size, count) in counts.into_iter().filter(|(size, count)| *size > 0 && *count > 0) {
            *histogram.entry(size).or_default() += count;
        }
        Self(histogram)
    }
}

/// The classes of the sample, grouped by the size F of the same class in the population.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct PopulationHistogram(pub BTreeMap<u64, InPopulation>);

/// The classes of the sample that have the same size in the population.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct InPopulation {
    /// The number of classes.
    pub classes: u64,
    /// The number of the sample's rows in these classes.
    pub rows: u64,
}

impl From<&Histogram> for PopulationHistogram {
    /// Converts a sample that is its own population.
    fn from(sample: &Histogram) -> Self {
        let one = |(size, classes)| {
            (
                size,
                InPopulation {
                    classes,
                    rows: size * classes,
                },
            )
        };
        Self(sample.iter().map(one).collect())
    }
}

/// Returns the subsets of columns for which distinction and separation are reported, by size and
/// then by position. Includes all subsets of each size up to `largest` columns, as long as the
/// total is at most `most`. Always includes the single columns and all columns together.
pub fn subsets(columns: usize, largest: usize, most: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = (0..columns).map(|i| vec![i]).collect();
    let mut last = all.clone();
    for _ in 2..=largest.min(columns) {
        let longer = |subset: &Vec<usize>| {
            let next = subset.last().map_or(0, |i| i + 1);
            let subset = subset.clone();
            (next..columns).map(move |i| [&subset[..], &[i]].concat())
        };
        last = last.iter().flat_map(longer).collect();
        if all.len() + last.len() > most {
            break;
        }
        all.extend(last.iter().cloned());
    }
    let full: Vec<usize> = (0..columns).collect();
    if all.last() != Some(&full) && !full.is_empty() {
        all.push(full);
    }
    all
}

/// Returns a / b, or 0 if b is 0.
pub(super) fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}
