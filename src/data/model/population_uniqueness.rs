//! Population uniqueness: a bound on the estimated share of released rows that are unique in the
//! population.
//!
//! Holds if and only if the estimated share of released rows (entities under ENTITY) whose
//! generalized quasi-identifiers are unique in the population is at most the threshold. The
//! estimate is the one that RISK OF returns by Dankar's rule. The rule chooses Pitman's, Zayatz' or
//! the slide negative binomial estimator by the sampling fraction. If no released row is alone in
//! its class, the estimate is 0. A release without rows satisfies the model. **Interpretation**: in
//! a random sample, the expected share of rows that are unique in the population equals the share
//! of uniques in the population, which the estimators return. The sampling fraction is the released
//! fraction of the population. It is given, or computed as released rows / population. Not
//! monotone: the estimators use different formulas for different class sizes. The recount counts
//! the class sizes by SQL and estimates from these sizes. The estimators are tested against
//! published numbers.
//!
//! Example: `population_uniqueness(0.01, sampling_fraction => 0.1)`.
//!
//! Dankar, El Emam, Neisa and Roffey, Estimating the re-identification risk of clinical data sets,
//! BMC Medical Informatics and Decision Making 12:66, 2012, doi:10.1186/1472-6947-12-66.

use super::audit::{Audit, Comparison, Relation};
use super::privacy_model::{Build, Class, Monotonicity, Overall, Predicate, PrivacyModel, Reads, Subject};
use crate::base::catalogue::{Entry, Info, Kind, Param};
use crate::base::error::{Error, Result};
use crate::method::risk::{ClassEstimate, Histogram, Uniqueness};

#[derive(Debug, Clone, Copy)]
struct PopulationUniqueness {
    threshold: f64,
    sample: Sample,
}

/// The sampling, given by its fraction or by the size of the population.
#[derive(Debug, Clone, Copy)]
enum Sample {
    /// The released share of the population.
    Fraction(f64),
    /// The number of rows in the population.
    Of(u64),
}

impl PopulationUniqueness {
    /// Returns the estimated share of rows that are unique in the population; infinite if no
    /// estimate is possible.
    fn share(&self, sizes: &Histogram) -> f64 {
        let fraction = match self.sample {
            Sample::Fraction(fraction) => fraction,
            // A person in several classes counts in each class, but a sample cannot be larger than
            // its population.
            Sample::Of(population) => (sizes.rows() as f64 / population as f64).min(1.0),
        };
        let estimate = Uniqueness::of(sizes, fraction, ClassEstimate::default()).dankar;
        // Without an estimate, the release satisfies no threshold.
        estimate.map_or(f64::INFINITY, |estimate| estimate.share)
    }
}

impl PrivacyModel for PopulationUniqueness {
    fn reads(&self) -> Reads {
        Reads {
            sizes: true,
            ..Reads::default()
        }
    }

    fn monotonicity(&self) -> Monotonicity {
        Monotonicity::Never
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Predicate>> {
        match self.sample {
            Sample::Of(population) if population < subject.everyone() => Err(Error::usage(format!(
                "population_uniqueness: a population of {population} is smaller than the table, which has {}; write \
                 the number of people from which the table was sampled",
                subject.everyone()
            ))),
            _ => Ok(Box::new(*self)),
        }
    }

    fn audit(&self, relation: &Relation) -> Audit {
        let (size, released, group_by) = (relation.size(), &relation.released, relation.group_by());
        Audit {
            sql: format!("SELECT {size} AS f FROM {released} {group_by}"),
            required: self.threshold,
            comparison: Comparison::AtMost,
        }
    }

    fn of_sizes(&self, sizes: &Histogram) -> Option<f64> {
        (sizes.classes() > 0).then(|| self.share(sizes))
    }
}

impl Predicate for PopulationUniqueness {
    fn holds(&self, _: &Class) -> bool {
        true
    }

    fn holds_overall(&self, release: &Overall) -> bool {
        self.share(&release.sizes) <= self.threshold
    }
}

/// The catalogue entry of the model `population_uniqueness`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "population_uniqueness",
        summary: "the estimated share of released rows that are unique in the population is at most the threshold",
        params: &[
            Param {
                name: "threshold",
                summary: "the greatest estimated share",
                kind: Kind::Real {
                    min: 0.0,
                    max: 1.0,
                    open: false,
                },
                default: None,
            },
            Param {
                name: "sampling_fraction",
                summary: "the released share of the population; this or population is required",
                kind: Kind::Real {
                    min: 0.0,
                    max: 1.0,
                    open: true,
                },
                default: Some(""),
            },
            Param {
                name: "population",
                summary: "the number of people in the population",
                kind: Kind::Integer { min: 1, max: i64::MAX },
                default: Some(""),
            },
        ],
        example: "population_uniqueness(0.01, sampling_fraction => 0.1)",
        reference: "Dankar, El Emam, Neisa and Roffey, BMC MIDM 2012, doi:10.1186/1472-6947-12-66",
    },
    build: |args| {
        let fraction = args.given("sampling_fraction", |a, name| a.real(name))?;
        let sample = match (fraction, args.given("population", |a, name| a.count(name))?) {
            (Some(fraction), None) => Sample::Fraction(fraction),
            (None, Some(population)) => Sample::Of(population),
            _ => {
                return Err(Error::usage(format!(
                    "population_uniqueness needs either sampling_fraction or population, the number of people; example: {}",
                    ENTRY.info.example
                )));
            }
        };
        let threshold = args.real("threshold")?;
        Ok(Box::new(PopulationUniqueness { threshold, sample }))
    },
};
