//! k-anonymity: every released class has at least k rows.
//!
//! Holds if and only if every released equivalence class has at least k rows (k distinct entities
//! under ENTITY). Monotone, even if rows are suppressed: classes only grow as values are
//! generalized, so a class that satisfies the model becomes part of a class that satisfies it.
//!
//! Sweeney, k-anonymity: a model for protecting privacy, IJUFKS 2002,
//! doi:10.1142/S0218488502001648.

use super::audit::{Audit, Comparison, Relation};
use super::privacy_model::{Build, Class, Monotonicity, Predicate, PrivacyModel, Subject};
use crate::base::catalogue::{Entry, Info, Kind, Param};
use crate::base::error::Result;

#[derive(Debug, Clone, Copy)]
struct KAnonymity {
    k: u64,
}

impl PrivacyModel for KAnonymity {
    fn monotonicity(&self) -> Monotonicity {
        Monotonicity::Always
    }

    fn min_class_size(&self) -> u64 {
        self.k
    }

    fn min_class_entities(&self) -> u64 {
        self.k
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Predicate>> {
        subject.has_at_least(self.k, || format!("k_anonymity({})", self.k))?;
        Ok(Box::new(*self))
    }

    fn audit(&self, relation: &Relation) -> Audit {
        let (size, released, group_by) = (relation.size(), &relation.released, relation.group_by());
        Audit {
            sql: format!("SELECT min(f) FROM (SELECT {size} AS f FROM {released} {group_by})"),
            required: self.k as f64,
            comparison: Comparison::AtLeast,
        }
    }
}

impl Predicate for KAnonymity {
    fn holds(&self, class: &Class) -> bool {
        class.size >= self.k
    }

    fn least_size(&self) -> Option<u64> {
        Some(self.k)
    }
}

/// The catalogue entry of the model `k_anonymity`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "k_anonymity",
        summary: "every class has at least k rows (k entities with ENTITY)",
        params: &[Param {
            name: "k",
            summary: "the least number of rows of a class",
            kind: Kind::Integer { min: 1, max: i64::MAX },
            default: None,
        }],
        example: "k_anonymity(5)",
        reference: "Sweeney, IJUFKS 2002, doi:10.1142/S0218488502001648",
    },
    build: |args| Ok(Box::new(KAnonymity { k: args.count("k")? })),
};
