//! Population uniques by the slide negative binomial model.
//!
//! A population class has 1 + X rows. X has a negative binomial distribution with parameters
//! alpha > 0 and 0 < beta < 1, so K classes contain K beta^alpha uniques. With a sampling fraction
//! f and D = (1 - f)(1 - beta), the expected sample has
//!
//! ```text
//! s_1 = K f (beta / (1 - D))^alpha (1 + alpha D / (1 - D))
//! s_2 = K f^2 alpha (1 - beta) beta^alpha (2 - (1 - alpha) D) / (2 (1 - D)^(alpha + 2))
//! ```
//!
//! classes of one and of two rows. alpha and beta are chosen so that these numbers equal the
//! sample's own. The second equation is evaluated along the solutions of the first over a fixed
//! grid of beta, and the crossings are refined, so the work does not depend on the data. If there
//! are several solutions, the one with the most uniques is used. This is the cautious choice. The
//! model has no solution if no alpha and beta give both numbers.
//!
//! K is Shlosser's estimator of the number of population classes ([`ClassEstimate`]).
//!
//! Chen and Keller-McNulty, Estimation of identification disclosure risk in microdata, Journal of
//! Official Statistics 14(1), 1998; Haas and Stokes, Estimating the number of classes in a finite
//! population, JASA 93(444), 1998, doi:10.1080/01621459.1998.10473807.

use super::Histogram;
use super::class_estimate::ClassEstimate;
use super::special::bisect;

/// The search range of ln(beta / (1 - beta)): from minus to plus this number.
const LOGIT: f64 = 30.0;
/// The number of steps in that range.
const STEPS: u32 = 2400;
const HALVINGS: u32 = 64;

/// Returns the expected uniques of the population; `None` if the model has no solution.
pub(super) fn uniques(histogram: &Histogram, fraction: f64, estimate: ClassEstimate) -> Option<f64> {
    let classes = population_classes(histogram, fraction, estimate);
    if !(classes.is_finite() && classes > 0.0) {
        return None;
    }
    let system = System {
        classes,
        fraction,
        singles: histogram.uniques() as f64,
        pairs: histogram.count(2) as f64,
    };
    let rising = system.solutions(Side::Rising);
    let uniques = rising.chain(system.solutions(Side::Falling)).max_by(f64::total_cmp)?;
    let population = histogram.rows() as f64 / fraction;
    (uniques > 0.0 && uniques <= population).then_some(uniques)
}

/// Returns K, the number of classes of the population.
fn population_classes(histogram: &Histogram, fraction: f64, estimate: ClassEstimate) -> f64 {
    let (mut squared, mut seen, mut missed, mut single) = (0.0, 0.0, 0.0, 0.0);
    for (size, count) in histogram.iter() {
        let (i, count) = (size as f64, count as f64);
        let twice = fraction * fraction;
        squared += i * twice * (1.0 - twice).powf(i - 1.0) * count;
        seen += match estimate {
            ClassEstimate::Peer => (1.0 - twice).powf(i) * count - 1.0,
            ClassEstimate::HaasStokes => ((1.0 - twice).powf(i) - (1.0 - fraction).powf(i)) * count,
        };
        missed += (1.0 - fraction).powf(i) * count;
        single += i * fraction * (1.0 - fraction).powf(i - 1.0) * count;
    }
    histogram.classes() as f64 + histogram.uniques() as f64 * (squared / seen) * (missed / single).powi(2)
}

/// The side of the peak. For a given beta, s_1 rises with alpha to a peak and then falls. The first
/// equation has at most one solution on each side.
#[derive(Clone, Copy)]
enum Side {
    Rising,
    Falling,
}

struct System {
    classes: f64,
    fraction: f64,
    singles: f64,
    pairs: f64,
}

impl System {
    /// Returns the uniques of every solution on one side of the peak.
    fn solutions(&self, side: Side) -> impl Iterator<Item = f64> {
        let step = 2.0 * LOGIT / f64::from(STEPS);
        let at = move |i: u32| -LOGIT + step * f64::from(i);
        let excess = move |logit: f64| Some(self.pairs_of(logit, self.alpha(logit, side)?) - self.pairs);
        (0..STEPS).filter_map(move |i| {
            let (low, high) = (at(i), at(i + 1));
            let (first, last) = (excess(low)?, excess(high)?);
            if (first > 0.0) == (last > 0.0) {
                return None;
            }
            let logit = bisect(low, high, HALVINGS, first > 0.0, |x| excess(x).unwrap_or(first));
            let (beta, _) = shares(logit);
            Some(self.classes * beta.powf(self.alpha(logit, side)?))
        })
    }

    /// Returns beta, 1 - beta and D for these log-odds of beta.
    fn beta(&self, logit: f64) -> (f64, f64, f64) {
        let (beta, rest) = shares(logit);
        (beta, rest, (1.0 - self.fraction) * rest)
    }

    /// Returns the alpha on `side` that gives the uniques of the sample; `None` if no alpha does.
    fn alpha(&self, logit: f64, side: Side) -> Option<f64> {
        let (beta, _, d) = self.beta(logit);
        let odds = d / (1.0 - d);
        let ln_ratio = (beta / (1.0 - d)).ln();
        let target = (self.singles / (self.classes * self.fraction)).ln();
        let excess = |alpha: f64| alpha * ln_ratio + (alpha * odds).ln_1p() - target;
        let peak = (-1.0 / ln_ratio - 1.0 / odds).max(0.0);
        if peak.is_nan() || peak.is_infinite() || excess(peak) < 0.0 {
            return None;
        }
        match side {
            Side::Rising if peak == 0.0 || excess(0.0) > 0.0 => None,
            Side::Rising => Some(bisect(0.0, peak, HALVINGS, false, excess)),
            Side::Falling => {
                let far = (0..200)
                    .map(|i| peak + 2f64.powi(i - 50))
                    .find(|alpha| excess(*alpha) < 0.0)?;
                Some(bisect(peak, far, HALVINGS, true, excess))
            }
        }
    }

    /// Returns the expected number of classes of two rows under these parameters.
    fn pairs_of(&self, logit: f64, alpha: f64) -> f64 {
        let (beta, rest, d) = self.beta(logit);
        let scale = (alpha * beta.ln() - (alpha + 2.0) * (1.0 - d).ln()).exp();
        self.classes * self.fraction * self.fraction * alpha * rest * scale * (2.0 - (1.0 - alpha) * d) / 2.0
    }
}

/// Returns the share with these log-odds, and one minus the share.
fn shares(logit: f64) -> (f64, f64) {
    (1.0 / (1.0 + (-logit).exp()), 1.0 / (1.0 + logit.exp()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The method recovers the parameters from the expected sample of K classes.
    #[test]
    fn the_parameters_of_an_expected_sample_are_found() {
        for (alpha, logit, fraction) in [(0.16, -2.0, 0.1), (2.0, 0.5, 0.05), (0.7, -4.0, 0.3)] {
            let made = System {
                classes: 1e6,
                fraction,
                singles: 0.0,
                pairs: 0.0,
            };
            let (beta, _, d) = made.beta(logit);
            let singles = 1e6 * fraction * (beta / (1.0 - d)).powf(alpha) * (1.0 + alpha * d / (1.0 - d));
            let system = System {
                singles,
                pairs: made.pairs_of(logit, alpha),
                ..made
            };
            let uniques = 1e6 * beta.powf(alpha);
            let found: Vec<f64> = system
                .solutions(Side::Rising)
                .chain(system.solutions(Side::Falling))
                .collect();
            assert!(
                found.iter().any(|u| (u / uniques - 1.0).abs() < 1e-6),
                "{alpha} {logit}: {uniques} {found:?}"
            );
        }
    }
}
