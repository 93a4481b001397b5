//! Entropy l-diversity: a bound on the entropy of the sensitive values of every class.
//!
//! Holds if and only if exp(H) >= l for every released equivalence class, where H is the
//! natural-log entropy of its sensitive values. l may be a fraction. H is compared with ln l within
//! 1e-12, because a uniform class reaches the bound exactly but its floating-point logarithms do
//! not. Monotone if nothing may be suppressed: entropy is concave, so a mixture of distributions
//! satisfies the model if each distribution satisfies it. Two kinds of merged classes may violate
//! the model: a class that satisfies it merged with a class that would be suppressed, and classes
//! that share an entity.
//!
//! Example: `entropy_l_diversity(3) ON diagnosis`.
//!
//! Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam, l-Diversity: privacy beyond k-anonymity,
//! TKDD 2007, section 4.1, doi:10.1145/1217299.1217302.

use super::audit::{Audit, Comparison, Relation};
use super::privacy_model::{Build, Class, Monotonicity, Predicate, PrivacyModel, Reads, Subject};
use super::sensitive::{Distribution, total};
use crate::base::catalogue::{Entry, Info, Kind, Param};
use crate::base::error::Result;

#[derive(Debug, Clone, Copy)]
struct EntropyLDiversity {
    l: f64,
}

/// The rounding error allowed in an entropy.
const TOLERANCE: f64 = 1e-12;

impl EntropyLDiversity {
    /// Returns the minimum number of distinct values in a class that satisfies the model. It
    /// follows from l because exp(H) is at most the number of distinct values.
    fn least_values(&self) -> u64 {
        (self.l - TOLERANCE).ceil() as u64
    }
}

impl PrivacyModel for EntropyLDiversity {
    fn reads(&self) -> Reads {
        Reads::ATTRIBUTE
    }

    fn monotonicity(&self) -> Monotonicity {
        Monotonicity::WithoutSuppression
    }

    fn min_class_size(&self) -> u64 {
        self.least_values()
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Predicate>> {
        let table = Distribution::of(subject, ENTRY.info.name)?;
        table.has_at_least(self.least_values(), || format!("entropy_l_diversity({})", self.l))?;
        Ok(Box::new(Prepared { least: self.l.ln() }))
    }

    fn audit(&self, relation: &Relation) -> Audit {
        Audit {
            sql: format!(
                "{} SELECT min(l) FROM (SELECT exp(-sum(n / s * ln(n / s))) AS l FROM audit_values GROUP BY {})",
                relation.values(),
                relation.keys()
            ),
            required: self.l,
            comparison: Comparison::AtLeast,
        }
    }
}

#[derive(Debug)]
struct Prepared {
    /// The minimum entropy, ln l.
    least: f64,
}

impl Predicate for Prepared {
    fn holds(&self, class: &Class) -> bool {
        let size = total(class.histogram) as f64;
        let information = |n: u64| n as f64 * (n as f64).ln();
        let sum: f64 = class.histogram.iter().map(|(_, n)| information(*n)).sum();
        size.ln() - sum / size >= self.least - TOLERANCE
    }
}

/// Returns the model with l = 1. Every class satisfies it. Its recount returns the minimum exp(H)
/// of a class.
pub fn weakest() -> Box<dyn PrivacyModel> {
    Box::new(EntropyLDiversity { l: 1.0 })
}

/// The catalogue entry of the model `entropy_l_diversity`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "entropy_l_diversity",
        summary: "the entropy of every class's sensitive values is at least the entropy of l equally frequent values",
        params: &[Param {
            name: "l",
            summary: "the least effective number of values",
            kind: Kind::Real {
                min: 1.0,
                max: 1e15,
                open: false,
            },
            default: None,
        }],
        example: "entropy_l_diversity(3) ON diagnosis",
        reference: "Machanavajjhala et al., TKDD 2007, doi:10.1145/1217299.1217302",
    },
    build: |args| Ok(Box::new(EntropyLDiversity { l: args.real("l")? })),
};
