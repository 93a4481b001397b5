//! delta-disclosure privacy: a bound on the ratio between the share of every sensitive value in a
//! class and its share in the table.
//!
//! Holds if and only if |log2(p / q)| < d for every released equivalence class and every sensitive
//! value of the table. p is the share of the value in the class. q is its share in the whole table,
//! including suppressed rows. A class that lacks a value violates the model. If d is a whole number
//! of at most 100, p / q is compared exactly with 2^d and 2^-d. Any other d is compared in floating
//! point without a tolerance: 2^d is then irrational or too large, and no class reaches it.
//! Monotone if nothing may be suppressed: the p / q of a mixture is between the values of p / q of
//! its parts.
//!
//! **Interpretation**: the paper writes log without a base. The base is 2 here, as in ARX, so d
//! counts bits: d = 1 allows half to twice the share. The values are all values of the whole table.
//! If a class lacks a value, p = 0 and its logarithm is minus infinity, so the class violates the
//! model for every d, and `reached` is infinite. ARX and pycanon ignore values that a class lacks.
//! `delta_disclosure(d, present)` is their model, which is not monotone. pycanon prints the natural
//! logarithm, 0.6931 times the number of bits.
//!
//! Example: `delta_disclosure(2) ON diagnosis`.
//!
//! Brickell and Shmatikov, The cost of privacy: destruction of data-mining utility in anonymized
//! data publishing, KDD 2008, doi:10.1145/1401890.1401904.

use super::audit::{Audit, Comparison, Relation};
use super::exact::Decimal;
use super::privacy_model::{Build, Class, Monotonicity, Predicate, PrivacyModel, Reads, Subject};
use super::sensitive::{Distribution, total};
use crate::base::catalogue::{Entry, Info, Kind, Param};
use crate::base::error::Result;
use std::cmp::Ordering;

#[derive(Debug, Clone, Copy)]
struct DeltaDisclosure {
    d: f64,
    /// True if a class that lacks a value of the table violates the model.
    absent_fails: bool,
}

/// The maximum allowed value of the parameter d.
const LARGEST: f64 = 1e6;

const ALL: &str = "all";
const PRESENT: &str = "present";

/// The maximum d at which 2^d times a product of counts is compared exactly.
const LARGEST_EXACT: f64 = 100.0;

impl PrivacyModel for DeltaDisclosure {
    fn reads(&self) -> Reads {
        Reads::WHOLE
    }

    /// If absent values are ignored, a class without a value satisfies the model, and so does a
    /// class with the table's share of the value. Merged, the two classes may have only half of
    /// that share.
    fn monotonicity(&self) -> Monotonicity {
        match self.absent_fails {
            true => Monotonicity::WithoutSuppression,
            false => Monotonicity::Never,
        }
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Predicate>> {
        let exact = self.d.fract() == 0.0 && self.d <= LARGEST_EXACT;
        Ok(Box::new(Prepared {
            d: self.d,
            absent_fails: self.absent_fails,
            power: exact.then(|| Decimal::whole(1 << self.d as u32)),
            table: Distribution::of(subject, ENTRY.info.name)?,
        }))
    }

    fn audit(&self, relation: &Relation) -> Audit {
        let distance = match self.absent_fails {
            true => "CASE WHEN present < (SELECT count(*) FROM audit_whole) THEN CAST('Infinity' AS DOUBLE) ELSE d END",
            false => "d",
        };
        Audit {
            sql: format!(
                "{} SELECT max({distance}) FROM (SELECT count(*) AS present, max(abs(log2((n * t) / (c * s)))) AS d \
                 FROM audit_shares GROUP BY {})",
                relation.shares(),
                relation.keys()
            ),
            required: self.d,
            comparison: Comparison::Below,
        }
    }
}

#[derive(Debug)]
struct Prepared {
    d: f64,
    absent_fails: bool,
    /// 2^d, if d is a whole number of at most [`LARGEST_EXACT`].
    power: Option<Decimal>,
    table: Distribution,
}

impl Predicate for Prepared {
    fn holds(&self, class: &Class) -> bool {
        if self.absent_fails && (class.histogram.len() as u64) < self.table.distinct {
            return false;
        }
        let size = u128::from(total(class.histogram));
        class.histogram.iter().all(|(code, n)| {
            let p = u128::from(*n) * u128::from(self.table.total);
            let q = u128::from(self.table.counts[*code as usize]) * size;
            match self.power {
                Some(power) => {
                    power.compared_with(p, q) == Ordering::Less && power.compared_with(q, p) == Ordering::Less
                }
                None => (p as f64 / q as f64).log2().abs() < self.d,
            }
        })
    }
}

/// Returns the model that ignores absent values, with the maximum d. Its recount returns the
/// maximum |log2(p / q)| of a class.
pub fn weakest() -> Box<dyn PrivacyModel> {
    Box::new(DeltaDisclosure {
        d: LARGEST,
        absent_fails: false,
    })
}

/// The catalogue entry of the model `delta_disclosure`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "delta_disclosure",
        summary: "no sensitive value's share of a class differs from its share of the table by a factor of 2^d or more",
        params: &[
            Param {
                name: "d",
                summary: "the distance in bits, which no value may reach",
                kind: Kind::Real {
                    min: 0.0,
                    max: LARGEST,
                    open: true,
                },
                default: None,
            },
            Param {
                name: "values",
                summary: "the values counted in a class: all of the table, or only those present (ARX, pycanon)",
                kind: Kind::Word(&[ALL, PRESENT]),
                default: Some(ALL),
            },
        ],
        example: "delta_disclosure(2) ON diagnosis",
        reference: "Brickell and Shmatikov, KDD 2008, doi:10.1145/1401890.1401904",
    },
    build: |args| {
        Ok(Box::new(DeltaDisclosure {
            d: args.real("d")?,
            absent_fails: args.word("values")? == ALL,
        }))
    },
};
