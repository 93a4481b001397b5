//! Exact sums over pairs of numbers, which are given as whole numbers of steps
//! ([`Steps`](super::steps::Steps)).

/// The sums over weighted pairs of whole numbers of steps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepSums {
    n: i128,
    x: i128,
    y: i128,
    xx: i128,
    yy: i128,
    xy: i128,
    /// The smallest and the largest number of steps of each of the two columns.
    ends: [(i64, i64); 2],
}

impl Default for StepSums {
    fn default() -> Self {
        Self {
            n: 0,
            x: 0,
            y: 0,
            xx: 0,
            yy: 0,
            xy: 0,
            ends: [(i64::MAX, i64::MIN); 2],
        }
    }
}

/// The sums over the weighted whole numbers of steps of one column.
#[derive(Debug, Clone, Copy)]
pub(super) struct ColumnSums {
    n: i128,
    sum: i128,
    squares: i128,
    ends: (i64, i64),
}

impl ColumnSums {
    /// Returns the sums over these numbers and their numbers of rows.
    pub(super) fn of(numbers: impl Iterator<Item = (i64, u64)>) -> Self {
        let mut sums = Self {
            n: 0,
            sum: 0,
            squares: 0,
            ends: (i64::MAX, i64::MIN),
        };
        for (x, rows) in numbers.filter(|(_, rows)| *rows > 0) {
            sums.ends = (sums.ends.0.min(x), sums.ends.1.max(x));
            let (x, rows) = (i128::from(x), i128::from(rows));
            sums.n += rows;
            sums.sum += x * rows;
            sums.squares += x * x * rows;
        }
        sums
    }
}

/// Sums of squares and products of distances from the means.
#[derive(Debug, Clone, Copy)]
struct Distances {
    /// The means, rounded to steps.
    means: [i128; 2],
    /// The sums of the squared distances from the rounded means, which are exact.
    squares: [i128; 2],
    /// The sums of the squared distances from the means.
    exact_squares: [f64; 2],
    /// The sum of the products of the distances from the means.
    products: f64,
}

impl StepSums {
    /// Returns the sums over pairs of two columns. Each row has a number in both columns.
    /// `products` is the sum of the products of the pairs.
    pub(super) fn of_columns([one, other]: [ColumnSums; 2], products: i128) -> Self {
        Self {
            n: one.n,
            x: one.sum,
            y: other.sum,
            xx: one.squares,
            yy: other.squares,
            xy: products,
            ends: [one.ends, other.ends],
        }
    }

    /// Adds a pair `count` times.
    pub(crate) fn add(&mut self, x: i64, y: i64, count: u64) {
        for ((low, high), x) in self.ends.iter_mut().zip([x, y]) {
            (*low, *high) = ((*low).min(x), (*high).max(x));
        }
        let (x, y) = (i128::from(x), i128::from(y));
        let times = |product: i128| match count {
            1 => product,
            count => product * i128::from(count),
        };
        self.n += i128::from(count);
        self.x += times(x);
        self.y += times(y);
        self.xx += times(x * x);
        self.yy += times(y * y);
        self.xy += times(x * y);
    }

    /// Adds other sums over pairs of the same columns.
    pub(crate) fn merge(&mut self, other: &Self) {
        for ((low, high), of) in self.ends.iter_mut().zip(other.ends) {
            (*low, *high) = ((*low).min(of.0), (*high).max(of.1));
        }
        self.n += other.n;
        self.x += other.x;
        self.y += other.y;
        self.xx += other.xx;
        self.yy += other.yy;
        self.xy += other.xy;
    }

    /// Returns the number of pairs.
    pub(crate) fn rows(&self) -> u64 {
        u64::try_from(self.n).unwrap_or(u64::MAX)
    }

    /// Returns Pearson's r; `None` if one of the two columns does not vary.
    pub(crate) fn correlation(&self) -> Option<f64> {
        let distances = self.distances();
        let [xx, yy] = distances.exact_squares;
        let varies = distances.squares.iter().all(|squares| *squares > 0);
        varies.then(|| (distances.products / (xx.sqrt() * yy.sqrt())).clamp(-1.0, 1.0))
    }

    /// Returns the standard deviation of the first column in steps; `None` if there are fewer than
    /// two pairs.
    pub(crate) fn deviation(&self) -> Option<f64> {
        let [xx, _] = self.distances().exact_squares;
        (self.n > 1).then(|| (xx.max(0.0) / (self.n - 1) as f64).sqrt())
    }

    /// Returns the number of rows that decide r. For each column, the sum of the squared distances
    /// from its mean is divided by the greatest of them. The smaller of the two results is this
    /// number: 1 if a single row differs from all others, and 0 if a column does not vary.
    pub(crate) fn deciding(&self) -> u64 {
        let Distances { means, squares, .. } = self.distances();
        let of = |column: usize| {
            let (low, high) = self.ends[column];
            let square = |end: i64| (i128::from(end) - means[column]).pow(2);
            // The rounding of the mean must not make a whole result slightly smaller.
            let sum = squares[column] + (squares[column] >> 30);
            sum.checked_div(square(low).max(square(high))).unwrap_or(0)
        };
        u64::try_from(of(0).min(of(1))).unwrap_or(u64::MAX)
    }

    /// Returns the sums around the means. With means rounded to steps, these sums are also exact.
    fn distances(&self) -> Distances {
        let mean = |sum: i128| sum.checked_div(self.n).unwrap_or(0);
        let (x, y) = (mean(self.x), mean(self.y));
        let xx = self.xx - 2 * x * self.x + self.n * x * x;
        let yy = self.yy - 2 * y * self.y + self.n * y * y;
        let xy = self.xy - x * self.y - y * self.x + self.n * x * y;
        let rest = (self.x - self.n * x, self.y - self.n * y);
        let centred = |sum: i128, x: i128, y: i128| sum as f64 - x as f64 * y as f64 / self.n as f64;
        Distances {
            means: [x, y],
            squares: [xx, yy],
            exact_squares: [centred(xx, rest.0, rest.0), centred(yy, rest.1, rest.1)],
            products: centred(xy, rest.0, rest.1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::utility::steps::Steps;

    /// Returns the sums over these whole numbers, each paired with its remainder by 7.
    fn sums(numbers: &[i128], steps: Steps) -> StepSums {
        let mut sums = StepSums::default();
        let other = |x: i128| i64::try_from(x.rem_euclid(7)).unwrap();
        numbers.iter().for_each(|x| sums.add(steps.whole(*x), other(*x), 1));
        sums
    }

    #[test]
    fn large_numbers_have_the_deviation_of_small_ones() {
        // The numbers 0, 2 and 4 have the mean 2 and the variance (4 + 0 + 4) / 2.
        for origin in [0i128, 1 << 60, u64::MAX.into(), -(1 << 120)] {
            let steps = Steps::of_whole((origin, origin + 4));
            let of = sums(&[origin, origin + 2, origin + 4], steps);
            assert_eq!(of.deviation().map(|deviation| deviation * steps.width()), Some(2.0));
        }
        let steps = Steps::of_floats((1e-200, 3e-200));
        let mut of = StepSums::default();
        assert_eq!(of.deviation(), None);
        for x in [1e-200, 2e-200, 3e-200] {
            of.add(steps.float(x), 0, 1);
        }
        let deviation = of.deviation().unwrap_or_default() * steps.width();
        assert!((deviation / 1e-200 - 1.0).abs() < 1e-12, "{deviation}");
    }

    #[test]
    fn parts_have_the_sums_of_the_whole() {
        let numbers: Vec<i128> = (0..100).map(|i| (1 << 62) + i * i).collect();
        let steps = Steps::of_whole((1 << 62, (1 << 62) + 99 * 99));
        let whole = sums(&numbers, steps);
        let mut parts = sums(&numbers[30..], steps);
        parts.merge(&sums(&numbers[..30], steps));
        parts.merge(&StepSums::default());
        let of = |sums: &StepSums| (sums.rows(), sums.deviation(), sums.correlation(), sums.deciding());
        assert_eq!(of(&parts), of(&whole));
    }

    #[test]
    fn sums_of_columns_are_those_of_their_pairs() {
        let pairs = [(-3, 1 << 45, 1), (7, -5, 3), (7, 0, 2), (1 << 46, 1, 1)];
        let mut added = StepSums::default();
        pairs.iter().for_each(|(x, y, rows)| added.add(*x, *y, *rows));
        let one = ColumnSums::of(pairs.iter().map(|(x, _, rows)| (*x, *rows)).chain([(i64::MAX, 0)]));
        let other = ColumnSums::of(pairs.iter().map(|(_, y, rows)| (*y, *rows)));
        let products = pairs
            .iter()
            .map(|(x, y, rows)| i128::from(*x) * i128::from(*y) * i128::from(*rows));
        let of_columns = StepSums::of_columns([one, other], products.sum());
        assert_eq!(format!("{of_columns:?}"), format!("{added:?}"));
    }

    #[test]
    fn the_steps_of_other_rows_do_not_change_a_whole_number_of_deciding_rows() {
        // 20 of 420 rows differ: 420 * (1 / 21) * (20 / 21) / (20 / 21)^2 = 21. The column also has
        // the number 1,000, in rows without a pair.
        let steps = Steps::of_whole((0, 1_000));
        for (most, few) in [(0, 1), (1, 0), (999, 1_000), (1_000, 999)] {
            let [most, few] = [most, few].map(|x| steps.whole(x));
            let mut of = StepSums::default();
            of.add(most, most, 400);
            of.add(few, few, 20);
            assert_eq!(of.deciding(), 21);
            assert!((of.correlation().unwrap_or_default() - 1.0).abs() < 1e-12);
        }
    }
}
