//! Population uniques by Pitman's sampling formula.
//!
//! Of n sampled rows in u classes, s_j classes have the size j. The parameters 0 < alpha < 1 and
//! theta > 0 maximize
//!
//! ```text
//! L = sum_{i=1}^{u-1} ln(theta + i alpha) - sum_{i=1}^{n-1} ln(theta + i) + sum_j s_j sum_{i=1}^{j-1} ln(i - alpha)
//! ```
//!
//! and the uniques of a population of N rows are gamma(theta + 1) / gamma(theta + alpha) * N^alpha.
//! Both derivatives are zero at the maximum. Bisection finds this maximum (theta for each alpha,
//! then alpha), so no start value is needed. The formula has no solution if every row is unique or
//! all rows are in one class.
//!
//! If L falls as alpha rises from 0, its maximum would be at a negative alpha. With a negative
//! alpha, the formula is a distribution only if the number of classes is limited. Ewens' formula is
//! then used instead. It is the limit at alpha = 0 and has only the parameter theta: theta solves u
//! = sum_{i=0}^{n-1} theta / (theta + i), and the expected uniques are theta N / (theta + N - 1).
//!
//! Hoshino, Applying Pitman's sampling formula to microdata disclosure risk assessment, Journal of
//! Official Statistics 17(4), 2001; Pitman, Exchangeable and partially exchangeable random
//! partitions, doi:10.1007/BF01213386; Ewens, The sampling theory of selectively neutral alleles,
//! Theoretical Population Biology 3, 1972, doi:10.1016/0040-5809(72)90035-4.

use super::Histogram;
use super::special::{bisect, harmonic, ln_gamma_ratio};

/// The alpha below which the derivative has no significant digits. The formula then becomes Ewens'
/// formula with one parameter.
const LEAST_ALPHA: f64 = 1e-4;
const MOST_ALPHA: f64 = 1.0 - 1e-9;
/// The search range of ln theta.
const LN_THETA: (f64, f64) = (-20.0, 35.0);
/// The number of bisection steps. The last interval is below the precision of a double.
const STEPS: u32 = 64;

/// The expected uniques of a population, with the formula used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ExpectedUniques {
    pub(super) uniques: f64,
    /// Whether Ewens' formula was used, because Pitman's likelihood peaks below alpha = 0.
    pub(super) is_ewens: bool,
}

/// Returns the expected uniques of a population of `population` rows; `None` if the likelihood has
/// no maximum.
pub(super) fn uniques(histogram: &Histogram, population: f64) -> Option<ExpectedUniques> {
    let sample = Sample {
        histogram,
        classes: histogram.classes() as f64,
        rows: histogram.rows() as f64,
    };
    if sample.classes < 2.0 || sample.by_alpha(MOST_ALPHA) >= 0.0 {
        return None;
    }
    let is_ewens = sample.by_alpha(LEAST_ALPHA) <= 0.0;
    let uniques = match is_ewens {
        true => {
            let theta = sample.ewens();
            theta * population / (theta + population - 1.0)
        }
        false => {
            let alpha = bisect(LEAST_ALPHA, MOST_ALPHA, STEPS, true, |alpha| sample.by_alpha(alpha));
            let theta = sample.theta(alpha)?;
            (ln_gamma_ratio(theta + 1.0, theta + alpha) + alpha * population.ln()).exp()
        }
    };
    let is_possible = uniques.is_finite() && uniques > 0.0 && uniques <= population;
    is_possible.then_some(ExpectedUniques { uniques, is_ewens })
}

struct Sample<'a> {
    histogram: &'a Histogram,
    classes: f64,
    rows: f64,
}

impl Sample<'_> {
    /// Returns the theta of Ewens' formula at which the expected number of classes equals the
    /// number of classes in the sample.
    fn ewens(&self) -> f64 {
        let (low, high) = LN_THETA;
        let more = |theta: f64| self.classes - theta * harmonic(theta, self.rows);
        bisect(low, high, STEPS, true, |theta| more(theta.exp())).exp()
    }

    /// Returns dL / d theta.
    fn by_theta(&self, theta: f64, alpha: f64) -> f64 {
        self.occupied(theta, alpha) - harmonic(theta + 1.0, self.rows - 1.0)
    }

    /// Returns the sum of 1 / (theta + i alpha) over i in 1..u.
    fn occupied(&self, theta: f64, alpha: f64) -> f64 {
        harmonic(theta / alpha + 1.0, self.classes - 1.0) / alpha
    }

    /// Returns the best theta for this alpha; `None` if it is outside the range.
    fn theta(&self, alpha: f64) -> Option<f64> {
        let (low, high) = LN_THETA;
        let inside = self.by_theta(low.exp(), alpha) > 0.0 && self.by_theta(high.exp(), alpha) < 0.0;
        inside.then(|| self.nearest_theta(alpha))
    }

    /// Returns the best theta for this alpha, or the nearest limit of the range.
    fn nearest_theta(&self, alpha: f64) -> f64 {
        let (low, high) = LN_THETA;
        bisect(low, high, STEPS, true, |theta| self.by_theta(theta.exp(), alpha)).exp()
    }

    /// Returns dL / d alpha at the best theta for this alpha.
    fn by_alpha(&self, alpha: f64) -> f64 {
        let theta = self.nearest_theta(alpha);
        let classes = (self.classes - 1.0 - theta * self.occupied(theta, alpha)) / alpha;
        let sizes = self.histogram.iter();
        let rows: f64 = sizes
            .map(|(size, count)| count as f64 * harmonic(1.0 - alpha, size as f64 - 1.0))
            .sum();
        classes - rows
    }
}
