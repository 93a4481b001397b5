//! (epsilon, delta)-differential privacy by sampling and a minimum class size.
//!
//! Holds under three conditions. Each row of the source was drawn independently with probability
//! beta. Each drawn row was generalized independently of the others. Every released class has at
//! least the k drawn rows that follow from epsilon, delta and beta
//! (`crate::data::model::sampling`). Then take any two tables that differ in one additional row of
//! one table, and any set of releases. The probability that the release of one table is in the set
//! is at most e^epsilon times the probability for the other table, plus delta.
//!
//! The sample is drawn before any check. All later decisions, measures, output and reports follow
//! from the released classes of the sample alone. A recount finds the size of the smallest class,
//! but cannot check the drawing of the rows. **Interpretation**: the statement gives the levels.
//! SafePub also chooses the levels, by an exponential mechanism that uses a part of the budget.
//!
//! Example: `differential_privacy(1, 0.000001)`.
//!
//! Bild, Kuhn and Prasser, SafePub: a truthful data anonymization algorithm with strong privacy
//! guarantees, PoPETs 2018(1), doi:10.1515/popets-2018-0004. Li, Qardaji and Su, ASIACCS 2012,
//! doi:10.1145/2414456.2414474.

use super::about::About;
use super::audit::{Audit, Comparison, Relation};
use super::privacy_model::{Build, Class, Monotonicity, Predicate, PrivacyModel, Subject};
use super::sampling::{DELTA, EPSILON, SampleKey, Sampling};
use crate::base::catalogue::{Arguments, Entry, Info, Kind, Param};
use crate::base::error::Result;

#[derive(Debug, Clone)]
struct DifferentialPrivacy {
    sampling: Sampling,
}

impl PrivacyModel for DifferentialPrivacy {
    fn about(&self) -> About<'_> {
        About::Sample(&self.sampling)
    }

    fn monotonicity(&self) -> Monotonicity {
        Monotonicity::Always
    }

    fn min_class_size(&self) -> u64 {
        self.sampling.k
    }

    fn min_class_entities(&self) -> u64 {
        self.sampling.k
    }

    fn prepare(&self, _: &Subject) -> Result<Box<dyn Predicate>> {
        Ok(Box::new(self.clone()))
    }

    fn audit(&self, relation: &Relation) -> Audit {
        let (size, released, group_by) = (relation.size(), &relation.released, relation.group_by());
        Audit {
            sql: format!("SELECT min(f) FROM (SELECT {size} AS f FROM {released} {group_by})"),
            required: self.sampling.k as f64,
            comparison: Comparison::AtLeast,
        }
    }
}

impl Predicate for DifferentialPrivacy {
    fn holds(&self, class: &Class) -> bool {
        class.size >= self.sampling.k
    }

    fn least_size(&self) -> Option<u64> {
        Some(self.sampling.k)
    }
}

/// Returns the model for `sampling`, which may have any key.
#[cfg(test)]
pub(crate) fn of(sampling: Sampling) -> Box<dyn PrivacyModel> {
    Box::new(DifferentialPrivacy { sampling })
}

/// The catalogue entry of the model `differential_privacy`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "differential_privacy",
        summary: "one row more or less in the source changes the probability of any release by at most a factor e^epsilon, plus delta",
        params: &[
            Param {
                name: "epsilon",
                summary: "the greatest change of a probability, as the logarithm of a factor",
                kind: Kind::Real {
                    min: EPSILON.0,
                    max: EPSILON.1,
                    open: false,
                },
                default: None,
            },
            Param {
                name: "delta",
                summary: "the probability beyond that; far below one in the number of rows",
                kind: Kind::Real {
                    min: DELTA.0,
                    max: DELTA.1,
                    open: false,
                },
                default: None,
            },
            Param {
                name: "beta",
                summary: "the probability with which a row is drawn; without it the greatest, 1 - e^-epsilon",
                kind: Kind::Real {
                    min: 0.0,
                    max: 1.0,
                    open: true,
                },
                default: Some(""),
            },
            Param {
                name: "secret",
                summary: "'env:NAME' or 'file:PATH' of a secret, with which the same source has the same sample; without it each \
                          run draws another",
                kind: Kind::Name,
                default: Some(""),
            },
        ],
        example: "differential_privacy(1, 0.000001)",
        reference: "Bild, Kuhn and Prasser, PoPETs 2018, doi:10.1515/popets-2018-0004",
    },
    build: |args| {
        let beta = args.given("beta", Arguments::real)?;
        let mut sampling = Sampling::new(args.real("epsilon")?, args.real("delta")?, beta)?;
        if let Some(name) = args.given("secret", Arguments::word)? {
            sampling.key = SampleKey::Secret(name.into());
        }
        Ok(Box::new(DifferentialPrivacy { sampling }))
    },
};
