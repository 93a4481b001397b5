//! Population uniques by Zayatz' conditional probability.
//!
//! With the hypergeometric probability h(i) = i * C(N - i, n - 1) / C(N, n), a sample of n out of N
//! rows contains exactly one row of a population class of size i. The class sizes of the sample
//! approximate the class sizes of the population. So a sample unique is a population unique with
//! probability p = (s_1 / u) h(1) / sum_i (s_i / u) h(i), and the uniques are s_1 * p / f with f =
//! n / N. A solution always exists.
//!
//! Zayatz, Estimation of the number of unique population elements using a sample, US Bureau of the
//! Census, Statistical Research Division report 91/08, 1991.

use super::Histogram;
use super::special::ln_gamma_ratio;

/// Returns the expected uniques of a population of `population` rows. `fraction` is the sampling
/// fraction.
pub(super) fn uniques(histogram: &Histogram, population: f64, fraction: f64) -> f64 {
    let singles = histogram.uniques() as f64;
    let rows = histogram.rows() as f64;
    let leave_one: f64 = histogram
        .iter()
        .map(|(size, count)| count as f64 * one_of(size as f64, rows, population))
        .sum();
    singles * (singles * one_of(1.0, rows, population) / leave_one) / fraction
}

/// Returns the probability that a sample of `rows` out of `population` contains exactly one row of
/// a class of `size`.
fn one_of(size: f64, rows: f64, population: f64) -> f64 {
    let others = population - rows;
    // The other rows of the class must all be outside the sample.
    if size - 1.0 > others {
        return 0.0;
    }
    let outside = ln_gamma_ratio(others + 1.0, others - size + 2.0);
    let ways = ln_gamma_ratio(population + 1.0, population - size + 1.0);
    (size.ln() + rows.ln() + outside - ways).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_those_of_an_urn() {
        // A class has 2 of 5 rows, and 3 rows are drawn: C(2,1) C(3,2) / C(5,3) = 6 / 10.
        assert!((one_of(2.0, 3.0, 5.0) - 0.6).abs() < 1e-12);
        // A class has 4 of 6 rows, and 4 rows are drawn: at least 2 are rows of the class.
        assert_eq!(one_of(4.0, 4.0, 6.0), 0.0);
    }
}
