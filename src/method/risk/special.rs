//! Sums and ratios for the estimators, computed without loss of precision.
//!
//! The difference of two digammas, or of two log-gammas, of numbers near 10^9 loses its significant
//! digits. So the asymptotic series are subtracted term by term instead. Abramowitz and Stegun,
//! Handbook of Mathematical Functions, 6.1.40 and 6.3.18.

/// The minimum number at which the asymptotic series have the precision of a double.
const LARGE: f64 = 25.0;

/// Returns the sum of 1 / (x + i) over i in 0..terms, for x > 0: digamma(x + terms) - digamma(x).
pub(super) fn harmonic(x: f64, terms: f64) -> f64 {
    let (mut sum, mut done) = (0.0, 0.0);
    while done < terms && x + done < LARGE {
        sum += 1.0 / (x + done);
        done += 1.0;
    }
    if done < terms {
        let (from, to) = (x + done, x + terms);
        sum += ((terms - done) / from).ln_1p() + digamma_tail(to) - digamma_tail(from);
    }
    sum
}

/// Returns digamma(x) - ln x.
fn digamma_tail(x: f64) -> f64 {
    let y = 1.0 / (x * x);
    -0.5 / x - y * (1.0 / 12.0 - y * (1.0 / 120.0 - y / 252.0))
}

/// Returns ln(gamma(a) / gamma(b)), for a, b > 0.
pub(super) fn ln_gamma_ratio(a: f64, b: f64) -> f64 {
    let (a, low) = raised(a);
    let (b, high) = raised(b);
    let apart = a - b;
    let main = apart * a.ln() + (b - 0.5) * (apart / b).ln_1p() - apart;
    main + stirling_tail(a) - stirling_tail(b) + high - low
}

/// Returns the smallest x + n that is at least [`LARGE`], where n is a whole number. Also returns
/// ln(gamma(x + n) / gamma(x)).
fn raised(mut x: f64) -> (f64, f64) {
    let mut logs = 0.0;
    while x < LARGE {
        logs += x.ln();
        x += 1.0;
    }
    (x, logs)
}

/// Returns ln gamma(x) - ((x - 1/2) ln x - x + ln(2 pi) / 2).
fn stirling_tail(x: f64) -> f64 {
    let y = 1.0 / (x * x);
    (1.0 / 12.0 - y * (1.0 / 360.0 - y / 1260.0)) / x
}

/// Returns the point between `low` and `high` at which `f` changes its sign, found by `steps`
/// bisection steps. `positive_low` must be true if `f` is positive at `low`.
pub(super) fn bisect(
    mut low: f64,
    mut high: f64,
    steps: u32,
    positive_low: bool,
    mut f: impl FnMut(f64) -> f64,
) -> f64 {
    for _ in 0..steps {
        let middle = low + (high - low) / 2.0;
        if (f(middle) > 0.0) == positive_low {
            low = middle;
        } else {
            high = middle;
        }
    }
    low + (high - low) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmonic_sums_agree_with_term_by_term() {
        for x in [1e-3, 0.3, 1.0, 24.9, 30.5, 1e6] {
            for terms in [0, 1, 2, 30, 5000] {
                let naive: f64 = (0..terms).rev().map(|i| 1.0 / (x + f64::from(i))).sum();
                let got = harmonic(x, f64::from(terms));
                assert!(
                    (got - naive).abs() <= 1e-13 * naive.max(1e-300),
                    "{x} {terms}: {got} {naive}"
                );
            }
        }
    }

    #[test]
    fn gamma_ratios_agree_with_products() {
        for b in [0.25, 1.0, 7.5, 40.0, 1e6] {
            for steps in [0, 1, 5, 200] {
                let naive: f64 = (0..steps).map(|i| (b + f64::from(i)).ln()).sum();
                let got = ln_gamma_ratio(b + f64::from(steps), b);
                assert!(
                    (got - naive).abs() <= 1e-11 * naive.abs().max(1.0),
                    "{b} {steps}: {got} {naive}"
                );
                assert!((ln_gamma_ratio(b, b + f64::from(steps)) + naive).abs() <= 1e-11 * naive.abs().max(1.0));
            }
        }
    }

    #[test]
    fn the_digits_of_large_arguments_are_kept() {
        // gamma(x + 1) / gamma(x) = x
        assert!((ln_gamma_ratio(1e15 + 1.0, 1e15) - 1e15f64.ln()).abs() < 1e-12);
    }
}
