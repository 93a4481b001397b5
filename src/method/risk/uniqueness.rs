//! The expected number of rows that are unique in the population from which the table was sampled.

use super::class_estimate::ClassEstimate;
use super::{Histogram, pitman, snb, zayatz};
use serde::Serialize;

/// An estimate of the population uniques.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The expected number of members of the population that are unique in their quasi-identifiers.
    pub uniques: f64,
    /// The share of the uniques in the population, from 0 to 1.
    pub share: f64,
}

/// An estimator of population uniques.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Estimator {
    /// Pitman's sampling formula (Hoshino 2001).
    Pitman,
    /// Conditional probability (Zayatz 1991).
    Zayatz,
    /// Slide negative binomial (Chen and Keller-McNulty 1998).
    Snb,
}

impl Estimator {
    /// Returns the name of the estimator, as displayed.
    pub fn name(self) -> &'static str {
        match self {
            Estimator::Pitman => "pitman",
            Estimator::Zayatz => "zayatz",
            Estimator::Snb => "snb",
        }
    }
}

/// The estimates of population uniqueness by each estimator. An estimate is `None` if the estimator
/// has no solution for the sample.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Uniqueness {
    /// f, the share of the population that is in the table.
    pub sampling_fraction: f64,
    /// N = rows / f, the size of the population.
    pub population: f64,
    /// The estimate from Pitman's sampling formula.
    pub pitman: Option<Estimate>,
    /// True if the estimate in `pitman` was computed with Ewens' formula, the limit of Pitman's
    /// formula at alpha = 0, because the likelihood has its maximum below alpha = 0.
    pub pitman_is_ewens: bool,
    /// The estimate from Zayatz' conditional probability.
    pub zayatz: Option<Estimate>,
    /// The estimate from the slide negative binomial model.
    pub snb: Option<Estimate>,
    /// The estimate by the decision rule of Dankar, El Emam, Neisa and Roffey, Estimating the
    /// re-identification risk of clinical data sets, BMC Medical Informatics and Decision Making
    /// 12:66, 2012, doi:10.1186/1472-6947-12-66. Up to f = 0.1, the rule chooses Pitman, or Zayatz
    /// if Pitman has no solution. Above f = 0.1, the rule chooses the lower estimate of Zayatz and
    /// SNB, or Zayatz if SNB has no solution. **Interpretation**: Ewens' formula does not count as
    /// a solution of Pitman's, because the rule was derived from samples whose Pitman likelihood
    /// has its maximum inside the range.
    pub dankar: Option<Estimate>,
    /// The estimator that the decision rule chose; `None` if the sample has no uniques.
    pub dankar_chose: Option<Estimator>,
}

/// The maximum sampling fraction at which the decision rule prefers Pitman.
const SMALL_FRACTION: f64 = 0.1;

impl Uniqueness {
    /// Returns the estimates for a sample with the sampling fraction `fraction` (above 0, at most
    /// 1). For a sample without uniques, every estimate is 0.
    pub(crate) fn of(histogram: &Histogram, fraction: f64, classes: ClassEstimate) -> Self {
        let population = histogram.rows() as f64 / fraction;
        let estimate = |uniques: f64| Estimate {
            uniques,
            share: if population > 0.0 { uniques / population } else { 0.0 },
        };
        let mut found = Self {
            sampling_fraction: fraction,
            population,
            pitman: Some(estimate(0.0)),
            pitman_is_ewens: false,
            zayatz: Some(estimate(0.0)),
            snb: Some(estimate(0.0)),
            dankar: Some(estimate(0.0)),
            dankar_chose: None,
        };
        if histogram.uniques() > 0 {
            let pitman = pitman::uniques(histogram, population);
            found.pitman = pitman.map(|expected| estimate(expected.uniques));
            found.pitman_is_ewens = pitman.is_some_and(|expected| expected.is_ewens);
            found.zayatz = Some(estimate(zayatz::uniques(histogram, population, fraction)));
            found.snb = snb::uniques(histogram, fraction, classes).map(estimate);
            let chosen = found.rule();
            found.dankar_chose = chosen;
            found.dankar = chosen.and_then(|estimator| found.by(estimator));
        }
        found
    }

    /// Returns the estimate of one estimator; `None` if it has no solution.
    pub fn by(&self, estimator: Estimator) -> Option<Estimate> {
        match estimator {
            Estimator::Pitman => self.pitman,
            Estimator::Zayatz => self.zayatz,
            Estimator::Snb => self.snb,
        }
    }

    fn rule(&self) -> Option<Estimator> {
        if self.sampling_fraction <= SMALL_FRACTION {
            let has_pitman = self.pitman.is_some() && !self.pitman_is_ewens;
            return Some(if has_pitman {
                Estimator::Pitman
            } else {
                Estimator::Zayatz
            });
        }
        match (self.zayatz, self.snb) {
            (Some(zayatz), Some(snb)) if snb.uniques <= zayatz.uniques => Some(Estimator::Snb),
            (zayatz, _) => zayatz.map(|_| Estimator::Zayatz),
        }
    }
}
