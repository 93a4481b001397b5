//! Recursive (c, l)-diversity: a bound on the frequency of the most frequent sensitive value.
//!
//! Holds if and only if r_1 < c (r_l + ... + r_m) for every released equivalence class, where r_1,
//! ..., r_m are the counts of its sensitive values in descending order. So the most frequent value
//! occurs less than c times as often as the l-th most frequent value and all rarer values together.
//! A class with fewer than l values never satisfies the model. Monotone if nothing may be
//! suppressed: when classes merge, the highest count of the merged class is at most the sum of the
//! highest counts of its parts, and the sum of its counts without the l - 1 highest is at least the
//! total of these sums for its parts.
//!
//! **Interpretation**: c is a real number above 0, as in the paper, and equals the written number
//! exactly. `reached` is the maximum r_1 / (r_l + ... + r_m) over all classes, which must be below
//! c. It is infinite if a class has fewer than l values.
//!
//! Example: `recursive_l_diversity(4, 3) ON diagnosis`.
//!
//! Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam, l-Diversity: privacy beyond k-anonymity,
//! TKDD 2007, section 4.2, doi:10.1145/1217299.1217302.

use super::audit::{Audit, Comparison, Relation};
use super::exact::{Bound, Decimal};
use super::privacy_model::{Build, Class, Monotonicity, Predicate, PrivacyModel, Reads, Subject};
use super::sensitive::Distribution;
use crate::base::catalogue::{Entry, Info, Kind, Param};
use crate::base::error::Result;
use std::cmp::{Ordering, Reverse};

/// The maximum allowed value of the parameter c.
const LARGEST: f64 = 1e15;

#[derive(Debug, Clone, Copy)]
struct RecursiveLDiversity {
    c: Bound,
    l: u64,
}

impl PrivacyModel for RecursiveLDiversity {
    fn reads(&self) -> Reads {
        Reads::ATTRIBUTE
    }

    fn monotonicity(&self) -> Monotonicity {
        Monotonicity::WithoutSuppression
    }

    fn min_class_size(&self) -> u64 {
        self.l
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Predicate>> {
        let table = Distribution::of(subject, ENTRY.info.name)?;
        table.has_at_least(self.l, || format!("recursive_l_diversity({}, {})", self.c, self.l))?;
        Ok(Box::new(Prepared {
            c: self.c.exact(),
            l: usize::try_from(self.l).unwrap_or(usize::MAX),
        }))
    }

    fn audit(&self, relation: &Relation) -> Audit {
        let keys = relation.keys();
        Audit {
            sql: format!(
                "{} SELECT max(CASE WHEN tail > 0 THEN head / tail ELSE CAST('Infinity' AS DOUBLE) END) FROM \
                 (SELECT max(n) AS head, sum(CASE WHEN r >= {} THEN n ELSE 0.0 END) AS tail FROM \
                 (SELECT {keys}, n, row_number() OVER (PARTITION BY {keys} ORDER BY n DESC) AS r FROM audit_values) \
                 GROUP BY {keys})",
                relation.values(),
                self.l
            ),
            required: self.c.value,
            comparison: Comparison::Below,
        }
    }
}

#[derive(Debug)]
struct Prepared {
    c: Decimal,
    l: usize,
}

impl Predicate for Prepared {
    fn holds(&self, class: &Class) -> bool {
        if class.histogram.len() < self.l {
            return false;
        }
        let mut counts: Vec<u64> = class.histogram.iter().map(|(_, n)| *n).collect();
        let (greater, least, rest) = counts.select_nth_unstable_by_key(self.l - 1, |n| Reverse(*n));
        let head = greater.iter().copied().max().unwrap_or(*least);
        let tail = *least + rest.iter().sum::<u64>();
        self.c.compared_with(u128::from(head), u128::from(tail)) == Ordering::Less
    }
}

/// Returns the model for `l` and the maximum c. Its recount returns the maximum r_1 / (r_l + ... +
/// r_m) of a class.
pub fn weakest(l: u64) -> Box<dyn PrivacyModel> {
    Box::new(RecursiveLDiversity {
        c: Bound::of(LARGEST),
        l,
    })
}

/// The catalogue entry of the model `recursive_l_diversity`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "recursive_l_diversity",
        summary: "every class's most frequent sensitive value occurs less than c times the l-th and rarer together",
        params: &[
            Param {
                name: "c",
                summary: "the factor",
                kind: Kind::Real {
                    min: 0.0,
                    max: LARGEST,
                    open: true,
                },
                default: None,
            },
            Param {
                name: "l",
                summary: "the rank from which values count as rarer",
                kind: Kind::Integer { min: 1, max: i64::MAX },
                default: None,
            },
        ],
        example: "recursive_l_diversity(4, 3) ON diagnosis",
        reference: "Machanavajjhala et al., TKDD 2007, doi:10.1145/1217299.1217302",
    },
    build: |args| {
        Ok(Box::new(RecursiveLDiversity {
            c: Bound::given(args, "c")?,
            l: args.count("l")?,
        }))
    },
};
