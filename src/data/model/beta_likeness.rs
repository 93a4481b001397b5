//! Basic beta-likeness: a bound on the relative gain of every sensitive value's share in a class.
//!
//! Holds if and only if (p - q) / q <= b for every released equivalence class and every sensitive
//! value with p > q. p is the share of the value in the class. q is its share in the whole table,
//! including suppressed rows. The comparison uses exact fractions. Monotone if nothing may be
//! suppressed: the model bounds p by (1 + b) q, and the p of a mixture is at most the maximum p of
//! its parts.
//!
//! Example: `beta_likeness(2) ON diagnosis`.
//!
//! Cao and Karras, Publishing microdata with a robust privacy guarantee, PVLDB 5(11) 2012,
//! definition 2, doi:10.14778/2350229.2350255.

use super::audit::{Audit, Comparison, Relation};
use super::exact::{Bound, Decimal};
use super::privacy_model::{Build, Class, Monotonicity, Predicate, PrivacyModel, Reads, Subject};
use super::sensitive::{Distribution, total};
use crate::base::catalogue::{Entry, Info, Kind, Param};
use crate::base::error::Result;
use std::cmp::Ordering;

/// The basic or the enhanced model. `name` is its name in statements.
#[derive(Debug, Clone, Copy)]
pub(super) struct BetaLikeness {
    pub(super) name: &'static str,
    pub(super) beta: Bound,
    /// True if the gain of a value is also bounded by -ln q.
    pub(super) enhanced: bool,
}

/// The maximum allowed value of the parameter b.
const LARGEST: f64 = 1e15;

/// The rounding error allowed in a gain when it is compared with a logarithm.
const TOLERANCE: f64 = 1e-12;

impl PrivacyModel for BetaLikeness {
    fn reads(&self) -> Reads {
        Reads::WHOLE
    }

    fn monotonicity(&self) -> Monotonicity {
        Monotonicity::WithoutSuppression
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Predicate>> {
        let table = Distribution::of(subject, self.name)?;
        let logarithm = |count: &u64| -(*count as f64 / table.total as f64).ln();
        let bounds = table.counts.iter().map(|count| {
            let logarithm = logarithm(count);
            (self.enhanced && logarithm < self.beta.value).then_some(logarithm)
        });
        Ok(Box::new(Prepared {
            beta: self.beta.exact(),
            logarithms: bounds.collect(),
            counts: table.counts,
            total: table.total,
        }))
    }

    fn audit(&self, relation: &Relation) -> Audit {
        // No b allows a gain above -ln q, so such a gain counts as infinite.
        let gain = match self.enhanced {
            true => format!(
                "CASE WHEN (n * t - c * s) / (c * s) > -ln(c / t) + {TOLERANCE:?} THEN CAST('Infinity' AS DOUBLE) \
                 ELSE (n * t - c * s) / (c * s) END"
            ),
            false => "(n * t - c * s) / (c * s)".to_string(),
        };
        Audit {
            sql: format!(
                "{} SELECT max(CASE WHEN n * t > c * s THEN {gain} ELSE 0.0 END) FROM audit_shares",
                relation.shares()
            ),
            required: self.beta.value,
            comparison: Comparison::AtMost,
        }
    }
}

#[derive(Debug)]
struct Prepared {
    beta: Decimal,
    /// For each value: -ln q, if it is less than b.
    logarithms: Vec<Option<f64>>,
    counts: Vec<u64>,
    total: u64,
}

impl Predicate for Prepared {
    fn holds(&self, class: &Class) -> bool {
        let size = u128::from(total(class.histogram));
        class.histogram.iter().all(|(code, n)| {
            let p = u128::from(*n) * u128::from(self.total);
            let q = u128::from(self.counts[*code as usize]) * size;
            let gain = p.saturating_sub(q);
            match self.logarithms[*code as usize] {
                Some(logarithm) => gain == 0 || gain as f64 / q as f64 <= logarithm + TOLERANCE,
                None => self.beta.compared_with(gain, q) != Ordering::Greater,
            }
        })
    }
}

/// The parameter of the basic and the enhanced model.
pub(super) const PARAMS: &[Param] = &[Param {
    name: "b",
    summary: "the greatest relative gain of a value's share",
    kind: Kind::Real {
        min: 0.0,
        max: LARGEST,
        open: true,
    },
    default: None,
}];

/// Returns the basic model with the maximum b. Its recount returns the maximum relative gain of a
/// value.
pub fn weakest() -> Box<dyn PrivacyModel> {
    Box::new(BetaLikeness {
        name: ENTRY.info.name,
        beta: Bound::of(LARGEST),
        enhanced: false,
    })
}

/// The catalogue entry of the model `beta_likeness`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "beta_likeness",
        summary: "no sensitive value's share of a class is more than 1 + b times its share of the table",
        params: PARAMS,
        example: "beta_likeness(2) ON diagnosis",
        reference: "Cao and Karras, PVLDB 2012, doi:10.14778/2350229.2350255",
    },
    build: |args| {
        Ok(Box::new(BetaLikeness {
            name: "beta_likeness",
            beta: Bound::given(args, "b")?,
            enhanced: false,
        }))
    },
};
