//! Average re-identification risk of the entire release (marketer risk).
//!
//! Holds if and only if classes / released rows <= r. The quotient is the mean of 1 / f over
//! released rows, where f is the size of a row's class. A release without rows satisfies the model.
//! Under ENTITY the denominator is the sum of the class sizes. The comparison uses exact fractions.
//! Monotone if nothing may be suppressed: classes only merge, and the number of rows does not
//! change. If another model suppresses classes, a merge can release rows in small classes and so
//! raise the mean.
//!
//! Example: `average_risk(0.05)`.
//!
//! El Emam, Guide to the de-identification of personal health information, CRC Press 2013, chapter
//! 16, doi:10.1201/b14764.

use super::audit::{Audit, Comparison, Relation};
use super::exact::{Bound, Decimal};
use super::privacy_model::{Build, Class, Monotonicity, Overall, Predicate, PrivacyModel, Subject};
use crate::base::catalogue::{Entry, Info, Kind, Param};
use crate::base::error::Result;
use std::cmp::Ordering;

#[derive(Debug, Clone, Copy)]
struct AverageRisk {
    risk: Bound,
}

impl PrivacyModel for AverageRisk {
    fn monotonicity(&self) -> Monotonicity {
        Monotonicity::WithoutSuppression
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Predicate>> {
        let risk = self.risk.exact();
        subject.has_at_least(risk.reciprocal_ceiling(), || format!("average_risk({})", self.risk))?;
        Ok(Box::new(Prepared { risk }))
    }

    fn audit(&self, relation: &Relation) -> Audit {
        let (size, released, group_by) = (relation.size(), &relation.released, relation.group_by());
        Audit {
            sql: format!(
                "SELECT count(*) / sum(f) FROM (SELECT CAST({size} AS DOUBLE) AS f FROM {released} {group_by})"
            ),
            required: self.risk.value,
            comparison: Comparison::AtMost,
        }
    }
}

#[derive(Debug)]
struct Prepared {
    risk: Decimal,
}

impl Predicate for Prepared {
    fn holds(&self, _: &Class) -> bool {
        true
    }

    fn holds_overall(&self, release: &Overall) -> bool {
        self.risk
            .compared_with(u128::from(release.classes), u128::from(release.size))
            != Ordering::Greater
    }
}

/// The catalogue entry of the model `average_risk`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "average_risk",
        summary: "the mean re-identification risk over all released rows, classes / released rows, is at most r",
        params: &[Param {
            name: "r",
            summary: "the greatest mean risk",
            kind: Kind::Real {
                min: 0.0,
                max: 1.0,
                open: true,
            },
            default: None,
        }],
        example: "average_risk(0.05)",
        reference: "El Emam, CRC Press 2013, doi:10.1201/b14764",
    },
    build: |args| {
        Ok(Box::new(AverageRisk {
            risk: Bound::given(args, "r")?,
        }))
    },
};
