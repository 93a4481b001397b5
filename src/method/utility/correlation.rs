//! Pearson's correlation of two columns of numbers.

/// Returns Pearson's r of the weighted pairs. `None` if one of the two columns does not vary.
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

#[cfg(test)]
mod tests {
    use super::*;

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
