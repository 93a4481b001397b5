//! Pearson's correlation of two columns of numbers, and the number of rows that decide it.
//!
//! Sums of floating-point numbers depend on the order of the rows. So each number is first rounded
//! to a whole number of steps between the smallest and the largest number of its column. Sums of
//! whole numbers are exact.

/// The number of steps from the middle of a column's numbers to the largest.
const STEPS: f64 = (1u64 << 46) as f64;

/// The whole numbers of steps that represent the numbers of one column.
#[derive(Debug, Clone, Copy)]
struct Steps {
    /// Half of the number in the middle between the smallest and the largest number.
    middle: f64,
    /// The factor that converts halves of numbers to steps; 0 if all numbers are equal, or nearly
    /// equal: their range is below 1e-294.
    per_half: f64,
    /// The smallest and the largest number of the column.
    ends: (f64, f64),
}

impl Steps {
    /// Returns the steps of both columns of these pairs.
    fn of(pairs: impl Iterator<Item = (f64, f64, u64)>) -> [Self; 2] {
        let nothing = (f64::INFINITY, f64::NEG_INFINITY);
        let wider = |(low, high): (f64, f64), x: f64| (if x < low { x } else { low }, if x > high { x } else { high });
        let ends = pairs.fold([nothing; 2], |[of_x, of_y], (x, y, _)| [wider(of_x, x), wider(of_y, y)]);
        ends.map(Self::between)
    }

    /// Returns the steps between two finite numbers, given as the smaller and the larger one.
    fn between(ends: (f64, f64)) -> Self {
        // Halves do not overflow.
        let (low, high) = (ends.0 / 2.0, ends.1 / 2.0);
        let per_half = 2.0 * STEPS / (high - low);
        Self {
            middle: low / 2.0 + high / 2.0,
            per_half: if per_half.is_finite() { per_half } else { 0.0 },
            ends,
        }
    }

    /// Returns the number of steps from the middle to a number.
    fn number(self, x: f64) -> i64 {
        ((x / 2.0 - self.middle) * self.per_half) as i64
    }

    /// Returns the sum of the squared distances from the mean, divided by the greatest of them.
    fn rows_deciding(self, squares: i128, mean: i128) -> i128 {
        let square = |end: f64| (i128::from(self.number(end)) - mean).pow(2);
        let greatest = square(self.ends.0).max(square(self.ends.1));
        squares.checked_div(greatest).unwrap_or(0)
    }
}

/// The correlation of two columns of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Correlation {
    /// Pearson's r; `None` if one of the two columns does not vary.
    pub(super) r: Option<f64>,
    /// The number of rows in which both columns have a number.
    pub(super) rows: u64,
    /// The number of rows that decide r. For each column, the sum of the squared distances from its
    /// mean is divided by the greatest of them. The smaller of the two results is this number: 1 if
    /// a single row differs from all others, and 0 if a column does not vary.
    pub(super) deciding: u64,
}

impl Correlation {
    /// Returns the correlation of weighted pairs of finite numbers. It does not depend on the order
    /// of the pairs.
    pub(super) fn of(pairs: impl Iterator<Item = (f64, f64, u64)> + Clone) -> Self {
        let [of_x, of_y] = Steps::of(pairs.clone());
        let sums = Sums::of(pairs.map(|(x, y, count)| (of_x.number(x), of_y.number(y), count)));
        // With means rounded to steps, the sums of squares around the means are also exact.
        let mean = |sum: i128| sum.checked_div(sums.n).unwrap_or(0);
        let (x, y) = (mean(sums.x), mean(sums.y));
        let of_xx = sums.xx - 2 * x * sums.x + sums.n * x * x;
        let of_yy = sums.yy - 2 * y * sums.y + sums.n * y * y;
        let of_xy = sums.xy - x * sums.y - y * sums.x + sums.n * x * y;
        let rest = (sums.x - sums.n * x, sums.y - sums.n * y);
        let centred = |sum: i128, x: i128, y: i128| sum as f64 - x as f64 * y as f64 / sums.n as f64;
        let xx = centred(of_xx, rest.0, rest.0);
        let yy = centred(of_yy, rest.1, rest.1);
        let xy = centred(of_xy, rest.0, rest.1);
        let deciding = of_x.rows_deciding(of_xx, x).min(of_y.rows_deciding(of_yy, y));
        Self {
            r: (of_xx > 0 && of_yy > 0).then(|| (xy / (xx.sqrt() * yy.sqrt())).clamp(-1.0, 1.0)),
            rows: u64::try_from(sums.n).unwrap_or(u64::MAX),
            deciding: u64::try_from(deciding).unwrap_or(u64::MAX),
        }
    }
}

/// The sums over weighted pairs of whole numbers of steps.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    n: i128,
    x: i128,
    y: i128,
    xx: i128,
    yy: i128,
    xy: i128,
}

impl Sums {
    /// Adds up all pairs.
    fn of(pairs: impl Iterator<Item = (i64, i64, u64)>) -> Self {
        let mut sums = Self::default();
        for (x, y, count) in pairs {
            let (x, y, count) = (i128::from(x), i128::from(y), i128::from(count));
            sums.n += count;
            sums.x += x * count;
            sums.y += y * count;
            sums.xx += x * x * count;
            sums.yy += y * y * count;
            sums.xy += x * y * count;
        }
        sums
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
