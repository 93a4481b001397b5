//! The combinations of a table as points, with standardized values, means and distances.

use crate::method::partition::table::{Column, Table};
use std::cmp::Ordering;

/// One point per combination, with its number of rows.
pub(super) struct Points {
    width: usize,
    /// The coordinates, point by point.
    values: Vec<f64>,
    rows: Vec<f64>,
}

/// Returns the squared Euclidean distance between two points.
pub(super) fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

impl Points {
    /// Returns the points of a table. Each column is standardized to mean 0 and variance 1 over the
    /// rows of the table. The standardized values are then multiplied by the square root of the
    /// weight of the column. Every value of a constant column, or of a column that LEVELS keeps at
    /// one level, becomes 0.
    pub(super) fn of(table: &dyn Table) -> Self {
        let (width, len) = (table.columns().len(), table.len());
        let rows: Vec<f64> = (0..len as u32).map(|c| table.rows(c) as f64).collect();
        let all: f64 = rows.iter().sum();
        let mut values = vec![0.0; width * len];
        // A column that LEVELS keeps at one level is skipped: it does not vary within a group.
        let varies = |(_, column): &(usize, &Column)| column.bottom < column.top;
        for (i, column) in table.columns().iter().enumerate().filter(varies) {
            let ground = column.lookup.extents().unwrap_or_default();
            let own: Vec<f64> = (0..len as u32).map(|c| ground[table.code(i, c) as usize].0).collect();
            let weighted = |of: &dyn Fn(f64) -> f64| own.iter().zip(&rows).map(|(x, n)| of(*x) * n).sum::<f64>() / all;
            let mean = weighted(&|x| x);
            let deviation = weighted(&|x| (x - mean) * (x - mean)).sqrt();
            if deviation > 0.0 {
                let root = column.weight.sqrt();
                let points = values.chunks_exact_mut(width).zip(&own);
                points.for_each(|(point, x)| point[i] = (x - mean) / deviation * root);
            }
        }
        Self { width, values, rows }
    }

    /// Returns the point of a combination.
    pub(super) fn at(&self, combination: u32) -> &[f64] {
        &self.values[combination as usize * self.width..][..self.width]
    }

    /// Returns the mean over the rows of some combinations.
    pub(super) fn mean(&self, combinations: &[u32]) -> Vec<f64> {
        let mut sums = vec![0.0; self.width];
        let mut rows = 0.0;
        for combination in combinations {
            let n = self.rows[*combination as usize];
            rows += n;
            sums.iter_mut()
                .zip(self.at(*combination))
                .for_each(|(sum, x)| *sum += x * n);
        }
        sums.into_iter().map(|sum| sum / rows).collect()
    }

    /// Returns the combination farthest from a point. If several are equally far, returns the first
    /// of them. Returns `None` if there are no combinations.
    pub(super) fn farthest(&self, combinations: &[u32], from: &[f64]) -> Option<u32> {
        let mut best: Option<(f64, u32)> = None;
        for combination in combinations {
            let far = distance(self.at(*combination), from);
            if best.is_none_or(|(most, _)| far > most) {
                best = Some((far, *combination));
            }
        }
        best.map(|(_, combination)| combination)
    }

    /// Returns the combinations nearest to a point, the nearest first: the fewest for which
    /// `enough` returns true; `None` if not even all combinations are enough.
    pub(super) fn nearest(
        &self,
        combinations: &[u32],
        to: &[f64],
        enough: impl Fn(&[u32]) -> bool,
    ) -> Option<Vec<u32>> {
        let mut all: Vec<(f64, u32)> = combinations.iter().map(|c| (distance(self.at(*c), to), *c)).collect();
        let order = |a: &(f64, u32), b: &(f64, u32)| -> Ordering { a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)) };
        let mut near: Vec<u32> = vec![];
        // The distances are sorted piece by piece, because a few combinations usually suffice.
        let (mut from, mut piece) = (0, 16);
        while from < all.len() {
            let end = (from + piece).min(all.len());
            if end < all.len() {
                all[from..].select_nth_unstable_by(end - from, order);
            }
            all[from..end].sort_unstable_by(order);
            for (_, combination) in &all[from..end] {
                near.push(*combination);
                if enough(&near) {
                    return Some(near);
                }
            }
            (from, piece) = (end, piece * 4);
        }
        None
    }

    /// Returns the index in `means` of the mean nearest to a combination. If several are equally
    /// near, returns the first of them.
    pub(super) fn nearest_mean(&self, combination: u32, means: &[Vec<f64>]) -> usize {
        let own = self.at(combination);
        let far = |mean: &Vec<f64>| distance(mean, own);
        let nearest = means
            .iter()
            .enumerate()
            .min_by(|(_, a), (_, b)| far(a).total_cmp(&far(b)));
        nearest.map_or(0, |(place, _)| place)
    }

    /// Cuts combinations in two at the median row of the widest column. Each part is sorted by
    /// combination number.
    pub(super) fn halves(&self, mut block: Vec<u32>) -> [Vec<u32>; 2] {
        let width = |column: usize| {
            let values = || block.iter().map(|c| self.at(*c)[column]);
            values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min)
        };
        let widest = (0..self.width).reduce(|best, next| if width(next) > width(best) { next } else { best });
        let column = widest.unwrap_or(0);
        block.sort_unstable_by(|a, b| self.at(*a)[column].total_cmp(&self.at(*b)[column]).then(a.cmp(b)));
        let all: f64 = block.iter().map(|c| self.rows[*c as usize]).sum();
        let mut before = 0.0;
        let median = block.iter().position(|c| {
            before += self.rows[*c as usize];
            before * 2.0 >= all
        });
        let cut = median
            .map_or(0, |at| at + 1)
            .clamp(1, block.len().saturating_sub(1).max(1));
        let mut second = block.split_off(cut);
        block.sort_unstable();
        second.sort_unstable();
        [second, block]
    }
}
