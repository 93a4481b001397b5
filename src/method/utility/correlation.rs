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
    /// The number of steps per half of a number; 0 if all numbers are equal, or differ by less than
    /// 1e-294.
    per_half: f64,
}

impl Steps {
    /// Returns the steps of a column with these numbers, which are finite.
    fn of(numbers: impl Iterator<Item = f64>) -> Self {
        let ends = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x), high.max(x))
        });
        // Halves do not overflow.
        let (low, high) = (ends.0 / 2.0, ends.1 / 2.0);
        let per_half = 2.0 * STEPS / (high - low);
        Self {
            middle: low / 2.0 + high / 2.0,
            per_half: if per_half.is_finite() { per_half } else { 0.0 },
        }
    }

    /// Returns the number of steps from the middle to a number.
    fn number(self, x: f64) -> i64 {
        ((x / 2.0 - self.middle) * self.per_half) as i64
    }
}

/// The sums over the rows in which both columns have a number. All of them are in steps.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    n: i128,
    x: i128,
    y: i128,
    xx: i128,
    yy: i128,
    xy: i128,
    /// The greatest square in each column.
    most: [i128; 2],
}

impl Sums {
    /// Adds up `count` rows of each pair.
    fn of(pairs: impl Iterator<Item = (i64, i64, u64)>) -> Self {
        pairs.fold(Self::default(), |sums, (x, y, count)| {
            let (x, y, count) = (i128::from(x), i128::from(y), i128::from(count));
            Self {
                n: sums.n + count,
                x: sums.x + x * count,
                y: sums.y + y * count,
                xx: sums.xx + x * x * count,
                yy: sums.yy + y * y * count,
                xy: sums.xy + x * y * count,
                most: [sums.most[0].max(x * x), sums.most[1].max(y * y)],
            }
        })
    }

    /// Returns the sums of the differences from the mean of each column, which is rounded to a
    /// step.
    fn around_the_means(pairs: impl Iterator<Item = (f64, f64, u64)> + Clone) -> Self {
        let of_x = Steps::of(pairs.clone().map(|(x, _, _)| x));
        let of_y = Steps::of(pairs.clone().map(|(_, y, _)| y));
        let pairs = pairs.map(move |(x, y, count)| (of_x.number(x), of_y.number(y), count));
        let (n, x, y) = pairs.clone().fold((0, 0, 0), |(n, sum_x, sum_y), (x, y, count)| {
            let count = i128::from(count);
            (n + count, sum_x + i128::from(x) * count, sum_y + i128::from(y) * count)
        });
        // The mean lies between numbers of 64 bits.
        let mean = |sum: i128| if n == 0 { 0 } else { (sum / n) as i64 };
        let (mean_x, mean_y) = (mean(x), mean(y));
        Self::of(pairs.map(move |(x, y, count)| (x - mean_x, y - mean_y, count)))
    }

    /// Returns the sum of products of two differences from the exact means. `sum` is the sum of
    /// products of the differences `x` and `y` from the rounded means.
    fn centred(&self, sum: i128, x: i128, y: i128) -> f64 {
        sum as f64 - x as f64 * y as f64 / self.n as f64
    }
}

/// Returns Pearson's r of the weighted pairs of finite numbers; `None` if one of the two columns
/// does not vary. The result does not depend on the order of the pairs.
pub(super) fn pearson(pairs: impl Iterator<Item = (f64, f64, u64)> + Clone) -> Option<f64> {
    let sums = Sums::around_the_means(pairs);
    let varies = sums.xx > 0 && sums.yy > 0;
    let xx = sums.centred(sums.xx, sums.x, sums.x);
    let yy = sums.centred(sums.yy, sums.y, sums.y);
    let xy = sums.centred(sums.xy, sums.x, sums.y);
    varies.then(|| (xy / (xx.sqrt() * yy.sqrt())).clamp(-1.0, 1.0))
}

/// Returns the number of rows that decide Pearson's r of the weighted pairs of finite numbers. For
/// each column, this is the sum of the squared distances from its mean, divided by the greatest of
/// them. Returns the smaller of the two numbers: 1 if a single row differs from all others, and 0
/// if a column does not vary.
pub(super) fn deciding(pairs: impl Iterator<Item = (f64, f64, u64)> + Clone) -> u64 {
    let sums = Sums::around_the_means(pairs);
    let of = |squares: i128, most: i128| squares.checked_div(most).unwrap_or(0);
    let rows = of(sums.xx, sums.most[0]).min(of(sums.yy, sums.most[1]));
    u64::try_from(rows).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rows_that_differ_from_most_others_decide() {
        let one = [(0.0, 1.0, 399), (1.0, 7.0, 1)];
        assert_eq!(deciding(one.iter().copied()), 1);
        let swapped = one.iter().map(|(x, y, count)| (*y, *x, *count));
        assert_eq!(deciding(swapped), 1);
        let ten = [(0.0, 0.0, 195), (0.0, 1.0, 195), (1.0, 0.0, 5), (1.0, 1.0, 5)];
        assert_eq!(deciding(ten.iter().copied()), 10);
        assert_eq!(deciding([(1.0, 2.0, 3), (2.0, 2.0, 3)].into_iter()), 0);
        assert_eq!(deciding(std::iter::empty()), 0);
    }

    proptest! {
        /// Any order and any grouping of the rows has the same result, which is close to the result
        /// of the definition.
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
            let of = |rows: &[(f64, f64, u64)]| (pearson(rows.iter().copied()), deciding(rows.iter().copied()));
            let found = of(&rows);
            prop_assert_eq!(found, of(&sorted));
            prop_assert_eq!(found, of(&grouped));
            let n = rows.len() as f64;
            let mean = |of: &dyn Fn(&(f64, f64, u64)) -> f64| rows.iter().map(of).sum::<f64>() / n;
            let (x, y) = (mean(&|row| row.0), mean(&|row| row.1));
            let xy = mean(&|row| (row.0 - x) * (row.1 - y));
            let (xx, yy) = (mean(&|row| (row.0 - x).powi(2)), mean(&|row| (row.1 - y).powi(2)));
            match found.0 {
                Some(r) => prop_assert!((r - xy / (xx.sqrt() * yy.sqrt())).abs() < 1e-9),
                None => prop_assert!(rows.iter().all(|row| row.0 == rows[0].0) || rows.iter().all(|row| row.1 == rows[0].1)),
            }
        }
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let ends = [(f64::MAX, 1.0, 1), (f64::MIN, 0.0, 1), (0.0, 0.5, 1 << 32)];
        assert!((pearson(ends.iter().copied()).unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(deciding(ends.iter().copied()), 2);
    }

    #[test]
    fn correlations_by_hand() {
        let of = |pairs: &[(f64, f64, u64)]| pearson(pairs.iter().copied());
        let close = |found: Option<f64>, r: f64| assert!((found.unwrap() - r).abs() < 1e-12, "{found:?} {r}");
        close(of(&[(1.0, 2.0, 1), (2.0, 4.0, 3), (3.0, 6.0, 1)]), 1.0);
        close(of(&[(1.0, 1.0, 2), (2.0, -1.0, 2)]), -1.0);
        assert_eq!(of(&[(1.0, 1.0, 2), (1.0, -1.0, 2)]), None);
        assert_eq!(of(&[]), None);
        // x = 1, 2, 3, y = 1, 3, 2: covariance 1, deviations sqrt(2) each.
        close(of(&[(1.0, 1.0, 1), (2.0, 3.0, 1), (3.0, 2.0, 1)]), 0.5);
    }
}
