//! The mutual information of a column and the class label.

/// Returns the mutual information in bits of the values and classes counted in `joint`: the sum
/// over cells of p(v, c) log2(p(v, c) / (p(v) p(c))).
pub(super) fn mutual_information(joint: &[f64], classes: usize) -> f64 {
    let all: f64 = joint.iter().sum();
    let mut of_class = vec![0.0; classes];
    for cells in joint.chunks(classes) {
        of_class.iter_mut().zip(cells).for_each(|(sum, n)| *sum += n);
    }
    let mut bits = 0.0;
    for cells in joint.chunks(classes) {
        let of_value: f64 = cells.iter().sum();
        for (n, of_class) in cells.iter().zip(&of_class).filter(|(n, _)| **n > 0.0) {
            bits += n / all * (n * all / (of_value * of_class)).log2();
        }
    }
    bits.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn information_by_hand() {
        // If the value determines the class, one bit. If the value is independent of the class,
        // none.
        assert_eq!(mutual_information(&[4.0, 0.0, 0.0, 4.0], 2), 1.0);
        assert_eq!(mutual_information(&[2.0, 2.0, 2.0, 2.0], 2), 0.0);
        assert_eq!(mutual_information(&[0.0, 0.0], 2), 0.0);
        // H(C) - H(C | V) = 1 - (3 / 4) H(2 / 3).
        let conditional = 0.75 * -(2.0 / 3.0 * (2.0f64 / 3.0).log2() + 1.0 / 3.0 * (1.0f64 / 3.0).log2());
        let found = mutual_information(&[2.0, 1.0, 0.0, 1.0], 2);
        assert!((found - (1.0 - conditional)).abs() < 1e-12, "{found}");
    }
}
