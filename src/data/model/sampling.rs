//! Samples that make a release differentially private: the share of rows that is drawn, and the
//! minimum number of drawn rows in a released class.
//!
//! Each row is drawn independently with probability beta, and a class is released if at least k of
//! its rows were drawn. How a row is generalized depends on the row alone. So if one of two tables
//! has one row more than the other, they differ in the size n of one class. Let f(j; n) be the
//! probability that j of the n rows in the class are drawn. Then f(j; n) / f(j; n - 1) is at most
//! e^epsilon if and only if j <= gamma n, with gamma = 1 - (1 - beta) e^-epsilon. If epsilon >=
//! -ln(1 - beta), the inverse ratio is always at most e^epsilon. So delta only has to cover the
//! draws of more than gamma n rows:
//!
//! d(k) = max over n >= k / gamma - 1 of the sum of f(j; n) over j > gamma n
//!
//! For smaller n, the sum starts at j = k and grows with n. So the bound for the largest of these n
//! covers all of them. The k for a given delta is the minimum k with d(k) <= delta.
//!
//! Beta is rounded down to a multiple of 2^-32, and gamma to a multiple of 2^-64. So a draw and the
//! comparison of j with gamma n are exact. A guarantee for a lower gamma or a lower epsilon is also
//! a guarantee for the requested gamma or epsilon. An allowance for every rounding error is added
//! to the probabilities.
//!
//! Li, Qardaji and Su, On sampling, anonymization, and differential privacy, ASIACCS 2012,
//! doi:10.1145/2414456.2414474. Bild, Kuhn and Prasser, SafePub, PoPETs 2018(1),
//! doi:10.1515/popets-2018-0004.

use crate::base::error::{Error, Result};

/// The allowed range of epsilon. Within the range, the minimum class size is found quickly. Above
/// the range, there is practically no protection.
pub const EPSILON: (f64, f64) = (0.01, 5.0);
/// The allowed range of delta.
pub const DELTA: (f64, f64) = (1e-15, 0.001);

/// The denominator of the shares of rows.
const WHOLE: u64 = 1 << 32;

/// The rule by which the rows of a differentially private release are drawn, and by which its
/// classes are released.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampling {
    /// The logarithm of the bound on the ratio of probabilities.
    pub epsilon: f64,
    /// The probability that is allowed beyond that bound.
    pub delta: f64,
    /// The probability with which a row is drawn, in units of 2^-32.
    pub share: u32,
    /// The minimum number of drawn rows in a released class.
    pub k: u64,
    /// The source of the draws.
    pub key: SampleKey,
}

/// The source of the draws of a sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SampleKey {
    /// Random bytes from the operating system, different in each run.
    Fresh,
    /// The secret at this location (`env:NAME` or `file:PATH`), together with the table itself: the
    /// same table always has the same sample.
    Secret(String),
    /// The given bytes. They do not depend on the table.
    #[cfg(test)]
    Given([u8; 32]),
}

impl Sampling {
    /// Returns the sampling for a budget. Without `beta`, the largest share that epsilon allows is
    /// drawn. Fails with a usage error if `beta` is larger than epsilon allows, or if a number is
    /// outside its allowed range.
    pub fn new(epsilon: f64, delta: f64, beta: Option<f64>) -> Result<Self> {
        let is_within = |x: f64, (low, high): (f64, f64)| low <= x && x <= high;
        if !is_within(epsilon, EPSILON) || !is_within(delta, DELTA) {
            return Err(Error::usage(format!(
                "differential_privacy: epsilon is a number from {} to {}, and delta from {} to {}",
                EPSILON.0, EPSILON.1, DELTA.0, DELTA.1
            )));
        }
        let most = most(epsilon);
        let share = match beta {
            None => most,
            Some(beta) => (beta * WHOLE as f64) as u64,
        };
        if share == 0 || share > most {
            let greatest = (most as f64 / WHOLE as f64 * 1e6).floor() / 1e6;
            return Err(Error::usage(format!(
                "differential_privacy: with epsilon {epsilon}, beta is above 0 and at most {greatest}; a larger sample tells \
                 too much of a row that is not in it"
            )));
        }
        let odds = Odds { share, most };
        Ok(Self {
            epsilon,
            delta,
            share: share as u32,
            k: odds.threshold(delta),
            key: SampleKey::Fresh,
        })
    }

    /// Returns the probability with which a row is drawn.
    pub fn beta(&self) -> f64 {
        f64::from(self.share) / WHOLE as f64
    }
}

/// Returns the largest share that epsilon allows, 1 - e^-epsilon. The share is rounded down by far
/// more than the error of the exponential function.
fn most(epsilon: f64) -> u64 {
    ((-(-epsilon).exp_m1() * WHOLE as f64) as u64).saturating_sub(1)
}

/// The two shares from which the minimum class size is computed.
#[derive(Debug, Clone, Copy)]
struct Odds {
    /// Beta, the share of rows that is drawn, in units of 2^-32.
    share: u64,
    /// 1 - e^-epsilon, the maximum beta, rounded down and in units of 2^-32.
    most: u64,
}

impl Odds {
    fn beta(&self) -> f64 {
        self.share as f64 / WHOLE as f64
    }

    /// Returns gamma in units of 2^-64.
    fn gamma(&self) -> u128 {
        (1 << 64) - u128::from(WHOLE - self.share) * u128::from(WHOLE - self.most)
    }

    /// Returns the smallest whole number of drawn rows that is more than gamma n.
    fn beyond(&self, n: u64) -> u64 {
        ((self.gamma() * u128::from(n)) >> 64) as u64 + 1
    }

    /// Returns the divergence of gamma from beta. The probability that more than gamma n of n rows
    /// are drawn is at most e^(-n divergence) (Chernoff), and this bound falls as n grows.
    fn divergence(&self) -> f64 {
        let (beta, most) = (self.beta(), self.most as f64 / WHOLE as f64);
        let excess = (1.0 - beta) * most;
        let gamma = beta + excess;
        gamma * (excess / beta).ln_1p() + (1.0 - gamma) * (-most).ln_1p()
    }

    /// Returns an upper bound on the probability that more than gamma n of n rows are drawn.
    fn tail(&self, n: u64) -> f64 {
        let (beta, first) = (self.beta(), self.beyond(n));
        let (missed, mut left) = (1.0 - beta, n - first);
        // The two loops multiply the factors of f(first; n). The product is kept near 1 while
        // factors above 1 and factors below 1 remain, so it overflows or becomes 0 only if the
        // whole product does.
        let mut term = 1.0;
        for i in 1..=first {
            term *= (n - first + i) as f64 / i as f64 * beta;
            while term > 1.0 && left > 0 {
                term *= missed;
                left -= 1;
            }
        }
        for _ in 0..left {
            term *= missed;
        }
        let (mut sum, mut steps) = (term, 0u64);
        for j in first..n {
            let ratio = (n - j) as f64 / (j + 1) as f64 * (beta / missed);
            term *= ratio;
            sum += term;
            steps += 1;
            // The ratios fall, so the remaining terms sum to less than a geometric series.
            if ratio < 1.0 && term * ratio <= sum * 1e-18 * (1.0 - ratio) {
                sum *= 1.0 + 1e-15;
                break;
            }
        }
        // The relative error of each operation is at most 2^-53.
        let operations = (4 * n + 8 * steps + 8) as f64;
        sum * (1.0 + operations * f64::EPSILON) + f64::MIN_POSITIVE
    }

    /// Returns k. Let n be the smallest number such that [`Self::tail`] is at most delta for n and
    /// for every greater number. Then k is [`Self::beyond`] of n.
    fn threshold(&self, delta: f64) -> u64 {
        let far = -delta.ln() / self.divergence();
        // From this n on, the Chernoff bound is below delta.
        let mut n = (far * (1.0 + 1e-9)).ceil() as u64 + 1;
        while n > 1 && self.tail(n - 1) <= delta {
            n -= 1;
        }
        self.beyond(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the probability of each number of drawn rows.
    fn binomial(n: u64, beta: f64) -> Vec<f64> {
        let mut drawn = vec![1.0];
        for _ in 0..n {
            let mut next = vec![0.0; drawn.len() + 1];
            for (j, p) in drawn.iter().enumerate() {
                next[j] += p * (1.0 - beta);
                next[j + 1] += p * beta;
            }
            drawn = next;
        }
        drawn
    }

    /// Returns the probability of each number of released rows in a class; 0 stands for a class
    /// that is not released.
    fn released(n: u64, beta: f64, k: u64) -> Vec<f64> {
        let mut released = binomial(n, beta);
        for j in 1..released.len().min(k as usize) {
            released[0] += std::mem::take(&mut released[j]);
        }
        released
    }

    /// Returns the maximum, over all sets of outcomes, of the probability for one table minus
    /// e^epsilon times the probability for the other table.
    fn excess(one: &[f64], other: &[f64], epsilon: f64) -> f64 {
        let of = |table: &[f64], j: usize| table.get(j).copied().unwrap_or(0.0);
        let outcomes = 0..one.len().max(other.len());
        outcomes
            .map(|j| (of(one, j) - epsilon.exp() * of(other, j)).max(0.0))
            .sum()
    }

    /// Returns the delta that is needed if a class is released with at least k drawn rows, for
    /// classes of up to `most` rows.
    fn needed(k: u64, sampling: &Sampling, most: u64) -> f64 {
        let releases: Vec<_> = (0..=most).map(|n| released(n, sampling.beta(), k)).collect();
        let pairs = releases.windows(2);
        let both = |pair: &[Vec<f64>]| {
            let (fewer, more) = (&pair[0], &pair[1]);
            excess(more, fewer, sampling.epsilon).max(excess(fewer, more, sampling.epsilon))
        };
        pairs.map(both).fold(0.0, f64::max)
    }

    /// Tests the minimum class size against values that another program computed with 60 decimal
    /// digits. If epsilon is ln 2, ln 3 or ln 1.5, the exact gamma is a short fraction (3/4, 8/9 or
    /// 5/9). Rounding gamma down then increases k by 2, 3 or 1. The values include this increase.
    #[test]
    fn the_least_class_is_that_of_exact_arithmetic() {
        for (epsilon, delta, k) in [
            (2f64.ln(), 1e-5, 55),
            (3f64.ln(), 1e-5, 65),
            (1.5f64.ln(), 1e-5, 51),
            (1.1f64.ln(), 1e-5, 49),
            (0.01, 1e-6, 60),
            (0.1, 1e-6, 60),
            (0.5, 1e-6, 63),
            (1.0, 1e-6, 74),
            (2.0, 1e-6, 131),
            (1.0, 1e-4, 47),
            (1.0, 1e-5, 61),
            (1.0, 1e-10, 131),
            (2.0, 1e-5, 113),
            (5.0, 1e-6, 2044),
        ] {
            let sampling = Sampling::new(epsilon, delta, None).unwrap();
            assert_eq!(sampling.k, k, "epsilon {epsilon}, delta {delta}");
            assert!((sampling.beta() + (-epsilon).exp_m1()).abs() < 1e-9);
        }
        for (beta, k) in [(0.1, 9), (0.01, 4)] {
            assert_eq!(Sampling::new(1.0, 1e-6, Some(beta)).unwrap().k, k, "beta {beta}");
        }
    }

    #[test]
    fn a_sample_is_no_larger_than_epsilon_allows() {
        for epsilon in [0.01, 0.5, 1.0, 3.0, 5.0] {
            let share = Sampling::new(epsilon, 1e-3, None).unwrap().beta();
            assert!(share < 1.0 - (-epsilon).exp() && share > (1.0 - (-epsilon).exp()) * 0.999_999);
        }
        let e = Sampling::new(1.0, 1e-6, Some(0.64)).unwrap_err().to_string();
        assert!(e.contains("beta is above 0 and at most 0.63212"), "{e}");
        assert!(Sampling::new(1.0, 1e-6, Some(1e-12)).is_err());
    }

    /// Tests that k is found at the limits of the allowed ranges, that smaller deltas need larger
    /// classes, and that values outside the ranges are rejected.
    #[test]
    fn all_budgets_have_a_least_class() {
        for epsilon in [EPSILON.0, 0.3, EPSILON.1] {
            let of = |delta| Sampling::new(epsilon, delta, None).unwrap().k;
            assert!(of(DELTA.1) < of(1e-9) && of(1e-9) < of(DELTA.0), "{epsilon}");
        }
        for (epsilon, delta) in [
            (0.009, 1e-6),
            (5.1, 1e-6),
            (1.0, 0.0),
            (1.0, 0.0011),
            (f64::NAN, 1e-6),
            (1.0, f64::NAN),
        ] {
            assert!(Sampling::new(epsilon, delta, None).is_err(), "{epsilon} {delta}");
        }
    }

    /// k is an upper bound: for small epsilons it is ten times the k that would suffice. Tests that
    /// half of k is too few in the cases here.
    #[test]
    fn half_of_the_least_class_is_too_few() {
        for (epsilon, delta) in [(0.1, 1e-6), (0.5, 1e-6), (1.0, 1e-4), (1.0, 1e-6), (2.0, 1e-5)] {
            let sampling = Sampling::new(epsilon, delta, None).unwrap();
            assert!(
                needed(sampling.k / 2, &sampling, 300) > delta,
                "epsilon {epsilon}, delta {delta}"
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// Tests the definition for classes of up to 500 rows and at most 2 m rows. m is the
        /// smallest class size at which every draw of more than gamma m rows has more than k rows.
        #[test]
        fn releases_are_differentially_private(epsilon in 0.05f64..2.5, digits in 3.0f64..7.0, part in 0.05f64..1.0, whole in any::<bool>()) {
            let delta = 10f64.powf(-digits);
            let beta = (!whole).then(|| part * (1.0 - (-epsilon).exp()) * 0.999);
            let sampling = Sampling::new(epsilon, delta, beta).unwrap();
            let odds = Odds { share: sampling.share.into(), most: most(epsilon) };
            let all = (1..).find(|n| odds.beyond(*n) > sampling.k).unwrap();
            let size = (2 * all).min(500);
            prop_assert!(needed(sampling.k, &sampling, size) <= delta * (1.0 + 1e-9));
            prop_assert!(needed(1, &sampling, size) > delta, "no threshold keeps no promise, so the check above can fail");
            // With k - 1 instead of k, the published bound exceeds delta.
            let below = (1..all).map(|n| {
                let from = odds.beyond(n).max(sampling.k - 1) as usize;
                binomial(n, sampling.beta())[from.min(n as usize + 1)..].iter().sum::<f64>()
            });
            prop_assert!(below.fold(0.0, f64::max) > delta * (1.0 - 1e-9));
        }

        /// Tests that the tail is an upper bound, and that it is close.
        #[test]
        fn tails_are_bounded_from_above(epsilon in 0.05f64..4.0, n in 1u64..300) {
            let most = most(epsilon);
            let odds = Odds { share: most, most };
            let exact: f64 = binomial(n, odds.beta())[odds.beyond(n) as usize..].iter().sum();
            let found = odds.tail(n);
            prop_assert!(found >= exact * (1.0 - 1e-12) && found <= exact * (1.0 + 1e-9) + 1e-300, "{found} {exact}");
            prop_assert!(found <= (-(n as f64) * odds.divergence()).exp() * (1.0 + 1e-9));
        }

        /// Tests every sample from a table of a few rows in three classes against every sample from
        /// the table with one row more.
        #[test]
        fn whole_tables_are_differentially_private(rows in prop::collection::vec(0usize..3, 0..9), more in 0usize..3, beta in 0.02f64..0.3) {
            let sampling = Sampling::new(0.6, 1e-3, Some(beta)).unwrap();
            let outcomes = |rows: &[usize]| {
                let mut outcomes = std::collections::BTreeMap::<[u64; 3], f64>::new();
                for sample in 0..1u32 << rows.len() {
                    let (mut counts, mut p) = ([0; 3], 1.0);
                    for (i, class) in rows.iter().enumerate() {
                        let drawn = sample >> i & 1 == 1;
                        counts[*class] += u64::from(drawn);
                        p *= if drawn { sampling.beta() } else { 1.0 - sampling.beta() };
                    }
                    *outcomes.entry(counts.map(|n| if n >= sampling.k { n } else { 0 })).or_default() += p;
                }
                outcomes
            };
            let larger: Vec<usize> = rows.iter().copied().chain([more]).collect();
            let (fewer, more) = (outcomes(&rows), outcomes(&larger));
            for (one, other) in [(&fewer, &more), (&more, &fewer)] {
                let beyond = one.iter().map(|(j, p)| (p - sampling.epsilon.exp() * other.get(j).unwrap_or(&0.0)).max(0.0));
                prop_assert!(beyond.sum::<f64>() <= sampling.delta * (1.0 + 1e-9));
            }
        }
    }
}
