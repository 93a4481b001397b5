//! Distinct l-diversity: every released class has at least l distinct sensitive values.
//!
//! Holds if and only if every released equivalence class has at least l distinct sensitive values.
//! NULL is a value. Monotone, even if rows are suppressed, for entities as well as for rows: a
//! merged class has every value of its parts.
//!
//! Example: `l_diversity(3) ON diagnosis`.
//!
//! Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam, l-Diversity: privacy beyond k-anonymity,
//! TKDD 2007, doi:10.1145/1217299.1217302.

use super::audit::{Audit, Comparison, Relation};
use super::privacy_model::{Build, Class, Monotonicity, Predicate, PrivacyModel, Reads, Subject};
use super::sensitive::Distribution;
use crate::base::catalogue::{Entry, Info, Kind, Param};
use crate::base::error::Result;

/// The model "at least `least` distinct values". `name` is its name in statements.
#[derive(Debug, Clone, Copy)]
pub(super) struct Distinct {
    pub(super) name: &'static str,
    pub(super) least: u64,
}

impl PrivacyModel for Distinct {
    fn reads(&self) -> Reads {
        Reads::ATTRIBUTE
    }

    fn monotonicity(&self) -> Monotonicity {
        Monotonicity::Always
    }

    fn min_class_size(&self) -> u64 {
        self.least
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Predicate>> {
        let table = Distribution::of(subject, self.name)?;
        table.has_at_least(self.least, || format!("{}({})", self.name, self.least))?;
        Ok(Box::new(*self))
    }

    fn audit(&self, relation: &Relation) -> Audit {
        Audit {
            sql: format!(
                "{} SELECT min(l) FROM (SELECT count(*) AS l FROM audit_values GROUP BY {})",
                relation.values(),
                relation.keys()
            ),
            required: self.least as f64,
            comparison: Comparison::AtLeast,
        }
    }
}

impl Predicate for Distinct {
    fn holds(&self, class: &Class) -> bool {
        class.histogram.len() as u64 >= self.least
    }

    fn reached(&self, class: &Class) -> Option<f64> {
        Some(class.histogram.len() as f64)
    }
}

/// Returns the model with l = 1. Every class satisfies it. Its recount returns the minimum number
/// of distinct values in a class.
pub fn weakest() -> Box<dyn PrivacyModel> {
    Box::new(Distinct {
        name: ENTRY.info.name,
        least: 1,
    })
}

/// The catalogue entry of the model `l_diversity`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "l_diversity",
        summary: "every class has at least l distinct sensitive values",
        params: &[Param {
            name: "l",
            summary: "the least number of distinct values of a class",
            kind: Kind::Integer { min: 1, max: i64::MAX },
            default: None,
        }],
        example: "l_diversity(3) ON diagnosis",
        reference: "Machanavajjhala et al., TKDD 2007, doi:10.1145/1217299.1217302",
    },
    build: |args| {
        Ok(Box::new(Distinct {
            name: "l_diversity",
            least: args.count("l")?,
        }))
    },
};
