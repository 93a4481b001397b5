//! Pearson's correlation of two columns of numbers, and the number of rows that decide it.
//!
//! The numbers are first converted to whole numbers of steps, so the results do not depend on the
//! order of the rows.

use super::step_sums::StepSums;
use super::steps::Steps;

/// The correlation of two columns of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Correlation {
    /// Pearson's r; `None` if one of the two columns does not vary.
    pub(super) r: Option<f64>,
    /// The number of rows in which both columns have a number.
    pub(super) rows: u64,
    /// The number of rows that decide r ([`StepSums::deciding`]).
    pub(super) deciding: u64,
}

impl Correlation {
    /// Returns the correlation of weighted pairs of finite numbers. It does not depend on the order
    /// of the pairs.
    pub(super) fn of(pairs: impl Iterator<Item = (f64, f64, u64)> + Clone) -> Self {
        let nothing = (f64::INFINITY, f64::NEG_INFINITY);
        let wider = |(low, high): (f64, f64), x: f64| (if x < low { x } else { low }, if x > high { x } else { high });
        let ends = pairs
            .clone()
            .fold([nothing; 2], |[of_x, of_y], (x, y, _)| [wider(of_x, x), wider(of_y, y)]);
        let [of_x, of_y] = ends.map(Steps::of_floats);
        let mut sums = StepSums::default();
        pairs.for_each(|(x, y, count)| sums.add(of_x.float(x), of_y.float(y), count));
        Self {
            r: sums.correlation(),
            rows: sums.rows(),
            deciding: sums.deciding(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rows_that_differ_from_most_others_decide() {
        let one = [(0.0, 1.0, 399), (1.0, 7.0, 1)];
        assert_eq!(Correlation::of(one.iter().copied()).deciding, 1);
        let swapped = one.iter().map(|(x, y, count)| (*y, *x, *count));
        assert_eq!(Correlation::of(swapped).deciding, 1);
        let ten = [(0.0, 0.0, 195), (0.0, 1.0, 195), (1.0, 0.0, 5), (1.0, 1.0, 5)];
        assert_eq!(Correlation::of(ten.iter().copied()).deciding, 10);
        assert_eq!(Correlation::of([(1.0, 2.0, 3), (2.0, 2.0, 3)].into_iter()).deciding, 0);
        assert_eq!(Correlation::of(std::iter::empty()).deciding, 0);
    }

    proptest! {
        /// Any order and any grouping of the rows gives the same result, which is close to the
        /// result of the definition.
        #[test]
        fn the_order_of_the_rows_does_not_matter(
            rows in prop::collection::vec((-1e9..1e9f64, prop::sample::select(vec![-0.5, 0.0, 3.25, 1e12])), 1..40).prop_shuffle(),
            few: bool,
        ) {
            let few = |x: f64| if few { x.signum() } else { x };
            let rows: Vec<(f64, f64, u64)> = rows.into_iter().map(|(x, y)| (few(x), y, 1)).collect();
            let mut sorted = rows.clone();
            sorted.sort_by(|a, b| a.partial_cmp(b).unwrap());
            let mut grouped: Vec<(f64, f64, u64)> = vec![];
            for (x, y, _) in &sorted {
                match grouped.last_mut().filter(|last| (last.0, last.1) == (*x, *y)) {
                    Some(last) => last.2 += 1,
                    None => grouped.push((*x, *y, 1)),
                }
            }
            let of = |rows: &[(f64, f64, u64)]| Correlation::of(rows.iter().copied());
            let found = of(&rows);
            prop_assert_eq!(found, of(&sorted));
            prop_assert_eq!(found, of(&grouped));
            let n = rows.len() as f64;
            let mean = |of: &dyn Fn(&(f64, f64, u64)) -> f64| rows.iter().map(of).sum::<f64>() / n;
            let (x, y) = (mean(&|row| row.0), mean(&|row| row.1));
            let xy = mean(&|row| (row.0 - x) * (row.1 - y));
            let (xx, yy) = (mean(&|row| (row.0 - x).powi(2)), mean(&|row| (row.1 - y).powi(2)));
            match found.r {
                Some(r) => prop_assert!((r - xy / (xx.sqrt() * yy.sqrt())).abs() < 1e-9),
                None => prop_assert!(rows.iter().all(|row| row.0 == rows[0].0) || rows.iter().all(|row| row.1 == rows[0].1)),
            }
        }
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let ends = [(f64::MAX, 1.0, 1), (f64::MIN, 0.0, 1), (0.0, 0.5, 1 << 32)];
        assert!((Correlation::of(ends.iter().copied()).r.unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(Correlation::of(ends.iter().copied()).deciding, 2);
    }

    #[test]
    fn correlations_by_hand() {
        let of = |pairs: &[(f64, f64, u64)]| Correlation::of(pairs.iter().copied()).r;
        let close = |found: Option<f64>, r: f64| assert!((found.unwrap() - r).abs() < 1e-12, "{found:?} {r}");
        close(of(&[(1.0, 2.0, 1), (2.0, 4.0, 3), (3.0, 6.0, 1)]), 1.0);
        close(of(&[(1.0, 1.0, 2), (2.0, -1.0, 2)]), -1.0);
        assert_eq!(of(&[(1.0, 1.0, 2), (1.0, -1.0, 2)]), None);
        assert_eq!(of(&[]), None);
        // x = 1, 2, 3, y = 1, 3, 2: covariance 1, deviations sqrt(2) each.
        close(of(&[(1.0, 1.0, 1), (2.0, 3.0, 1), (3.0, 2.0, 1)]), 0.5);
    }
}
