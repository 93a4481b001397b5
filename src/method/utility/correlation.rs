//! Pearson's correlation of two columns of numbers, and the number of rows that decide it.

/// Returns Pearson's r of the weighted pairs; `None` if one of the two columns does not vary.
pub(super) fn pearson(pairs: impl Iterator<Item = (f64, f64, u64)> + Clone) -> Option<f64> {
    let (mut n, mut x, mut y) = (0.0, 0.0, 0.0);
    for (a, b, count) in pairs.clone() {
        let count = count as f64;
        n += count;
        x += a * count;
        y += b * count;
    }
    let (x, y) = (x / n, y / n);
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    let (mut varies_x, mut varies_y) = (false, false);
    let first = pairs.clone().next()?;
    for (a, b, count) in pairs {
        varies_x |= a != first.0;
        varies_y |= b != first.1;
        let (a, b, count) = (a - x, b - y, count as f64);
        xx += a * a * count;
        yy += b * b * count;
        xy += a * b * count;
    }
    (varies_x && varies_y).then(|| (xy / (xx.sqrt() * yy.sqrt())).clamp(-1.0, 1.0))
}

/// Returns the number of rows that decide Pearson's r of the weighted pairs. For each column, this
/// is the sum of the squared distances from its mean, divided by the greatest of them. Returns the
/// smaller of the two numbers: 1 if a single row differs from all others, and 0 if a column does
/// not vary.
pub(super) fn deciding(pairs: impl Iterator<Item = (f64, f64, u64)> + Clone) -> u64 {
    let of_x = spread(pairs.clone().map(|(x, _, count)| (x, count)));
    of_x.min(spread(pairs.map(|(_, y, count)| (y, count))))
}

/// Returns the sum of the squared distances of weighted values from their mean, divided by the
/// greatest of them. Returns 0 if all values are equal.
fn spread(values: impl Iterator<Item = (f64, u64)> + Clone) -> u64 {
    let (mut n, mut sum) = (0.0, 0.0);
    for (value, count) in values.clone() {
        let count = count as f64;
        n += count;
        sum += value * count;
    }
    let mean = sum / n;
    let (mut squares, mut greatest) = (0.0, 0.0_f64);
    for (value, count) in values {
        let distance = value - mean;
        let square = distance * distance;
        squares += square * count as f64;
        greatest = greatest.max(square);
    }
    // The conversion of NaN is 0.
    (squares / greatest) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

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
