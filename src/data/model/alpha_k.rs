//! (alpha, k)-anonymity in its general form: a minimum class size and a maximum share of every
//! value.
//!
//! Holds if and only if every released equivalence class has at least k rows and no sensitive value
//! has a share above alpha of these rows. Shares are compared as exact
//! fractions. **Interpretation**: under ENTITY the share of a value is the share of the class's
//! persons with the value. The shares in a class then add up to more than 1 if a person has several
//! values. A check has two numbers: the maximum share is `reached`, and the size of the smallest
//! class is checked separately. Monotone if nothing may be suppressed: the size never falls, and
//! the share of a value in a mixture is at most the maximum share in the parts.
//!
//! Example: `alpha_k(0.4, 5) ON diagnosis`.
//!
//! Wong, Li, Fu and Wang, (alpha, k)-anonymity: an enhanced k-anonymity model for privacy
//! preserving data publishing, KDD 2006, doi:10.1145/1150402.1150499.

use super::audit::{Audit, Comparison, Relation};
use super::exact::{Bound, Decimal};
use super::privacy_model::{Build, Class, Monotonicity, Predicate, PrivacyModel, Reads, Subject};
use super::sensitive::Distribution;
use crate::base::catalogue::{Entry, Info, Kind, Param};
use crate::base::error::Result;
use std::cmp::Ordering;

#[derive(Debug, Clone, Copy)]
struct AlphaK {
    alpha: Bound,
    k: u64,
}

impl PrivacyModel for AlphaK {
    fn reads(&self) -> Reads {
        Reads::ATTRIBUTE
    }

    fn monotonicity(&self) -> Monotonicity {
        Monotonicity::WithoutSuppression
    }

    fn min_class_size(&self) -> u64 {
        self.k
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Predicate>> {
        let name = || format!("alpha_k({}, {})", self.alpha, self.k);
        let alpha = self.alpha.exact();
        let table = Distribution::of(subject, ENTRY.info.name)?;
        table.has_at_least(alpha.reciprocal_ceiling(), name)?;
        subject.has_at_least(self.k, name)?;
        Ok(Box::new(Prepared { alpha, k: self.k }))
    }

    fn audit(&self, relation: &Relation) -> Audit {
        let keys = relation.keys();
        Audit {
            sql: format!(
                "{} SELECT max(n / f) FROM \
                 (SELECT max(n) AS n, max(f) AS f FROM (SELECT {keys}, n, CAST(NULL AS BIGINT) AS f FROM audit_values \
                 UNION ALL SELECT {keys}, CAST(NULL AS DOUBLE), {} FROM audit_rows GROUP BY {keys}) GROUP BY {keys})",
                relation.values(),
                relation.renamed_size()
            ),
            required: self.alpha.value,
            comparison: Comparison::AtMost,
        }
    }

    fn second_audit(&self, relation: &Relation) -> Option<(&'static str, Audit)> {
        let (size, released, group_by) = (relation.size(), &relation.released, relation.group_by());
        let audit = Audit {
            sql: format!("SELECT min(f) FROM (SELECT {size} AS f FROM {released} {group_by})"),
            required: self.k as f64,
            comparison: Comparison::AtLeast,
        };
        Some(("the size of the smallest class", audit))
    }
}

#[derive(Debug)]
struct Prepared {
    alpha: Decimal,
    k: u64,
}

impl Predicate for Prepared {
    fn holds(&self, class: &Class) -> bool {
        let most = class.histogram.iter().map(|(_, n)| *n).max().unwrap_or(0);
        class.size >= self.k && self.alpha.compared_with(u128::from(most), u128::from(class.size)) != Ordering::Greater
    }
}

/// Returns the model with alpha = 1 and k = 1. Every class satisfies it. Its recount returns the
/// maximum share of a value in a class.
pub fn weakest() -> Box<dyn PrivacyModel> {
    Box::new(AlphaK {
        alpha: Bound::of(1.0),
        k: 1,
    })
}

/// The catalogue entry of the model `alpha_k`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "alpha_k",
        summary: "every class has at least k rows, and no sensitive value more than the share alpha of them",
        params: &[
            Param {
                name: "alpha",
                summary: "the greatest share of a value",
                kind: Kind::Real {
                    min: 0.0,
                    max: 1.0,
                    open: true,
                },
                default: None,
            },
            Param {
                name: "k",
                summary: "the least number of rows of a class",
                kind: Kind::Integer { min: 1, max: i64::MAX },
                default: None,
            },
        ],
        example: "alpha_k(0.4, 5) ON diagnosis",
        reference: "Wong, Li, Fu and Wang, KDD 2006, doi:10.1145/1150402.1150499",
    },
    build: |args| {
        Ok(Box::new(AlphaK {
            alpha: Bound::given(args, "alpha")?,
            k: args.count("k")?,
        }))
    },
};
