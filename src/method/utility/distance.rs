//! Distances between the distribution `q` of a column in the release and its distribution `p` in
//! the source.

/// Returns the total variation: half the sum of the absolute differences, from 0 to 1.
pub(super) fn total_variation(p: &[f64], q: &[f64]) -> f64 {
    p.iter().zip(q).map(|(p, q)| (p - q).abs()).sum::<f64>() / 2.0
}

/// Returns the Kullback-Leibler divergence in bits: the sum of p log2(p / q); infinite if a value
/// of the source has no share in the release.
pub(super) fn kullback_leibler(p: &[f64], q: &[f64]) -> f64 {
    let there = p.iter().zip(q).filter(|(p, _)| **p > 0.0);
    // Rounding may leave the divergence of equal distributions slightly below 0.
    there.map(|(p, q)| p * (p / q).log2()).sum::<f64>().max(0.0)
}

/// Returns the earth mover's distance of ordered values: the mean of the absolute running sum of
/// p - q over the steps between adjacent values.
pub(super) fn earth_mover(p: &[f64], q: &[f64]) -> f64 {
    let steps = p.len().saturating_sub(1);
    let running = p.iter().zip(q).take(steps).scan(0.0, |sum, (p, q)| {
        *sum += p - q;
        Some(f64::abs(*sum))
    });
    let moved: f64 = running.sum();
    if steps == 0 { 0.0 } else { moved / steps as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_by_hand() {
        let (p, q) = ([0.5, 0.25, 0.25, 0.0], [0.25, 0.25, 0.25, 0.25]);
        assert_eq!(total_variation(&p, &q), 0.25);
        // 0.5 * log2(2) = 0.5.
        assert_eq!(kullback_leibler(&p, &q), 0.5);
        assert_eq!(kullback_leibler(&q, &p), f64::INFINITY);
        // A quarter is moved over three steps.
        assert_eq!(earth_mover(&p, &q), 0.25);
        assert_eq!((earth_mover(&[1.0], &[1.0]), earth_mover(&[], &[])), (0.0, 0.0));
        assert_eq!(kullback_leibler(&p, &p), 0.0);
    }
}
