//! Delta-presence: bounds on the believed probability that a person of a population is in the
//! table.
//!
//! Holds if and only if min <= n / N <= max for every class of the population table, generalized as
//! in the release. N is the number of rows of the class in the population, and n the number of its
//! released rows (distinct entities under ENTITY, where a row of the population is one person). An
//! attacker who knows the population believes with probability n / N that a person in the class is
//! in the table. **Interpretation**: the paper requires these bounds for every person in the
//! population. So a class of the population without a released row has n / N = 0 and violates any
//! min above 0, even if its rows were suppressed. A person with a value that the hierarchy does not
//! map also violates any min above 0. The comparison uses exact fractions. A check has two numbers:
//! the maximum share is `reached`, and the minimum share is checked separately. Monotone if nothing
//! may be suppressed: the n / N of a merged class is between the values of n / N of its parts.
//!
//! Example: `delta_presence(0.05, 0.5)`.
//!
//! Nergiz, Atzori and Clifton, Hiding the presence of individuals from shared databases, SIGMOD
//! 2007, definition 3, doi:10.1145/1247480.1247554.

use super::audit::{Audit, Comparison, Relation};
use super::exact::{Bound, Decimal};
use super::privacy_model::{Build, Class, Monotonicity, Overall, Predicate, PrivacyModel, Reads, Subject};
use crate::base::catalogue::{Entry, Info, Kind, Param};
use crate::base::error::{Error, Result};
use std::cmp::Ordering;

#[derive(Debug, Clone, Copy)]
struct DeltaPresence {
    min: Bound,
    max: Bound,
}

impl PrivacyModel for DeltaPresence {
    fn reads(&self) -> Reads {
        Reads {
            population: true,
            ..Reads::default()
        }
    }

    fn monotonicity(&self) -> Monotonicity {
        Monotonicity::WithoutSuppression
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Predicate>> {
        let base = subject.base;
        let Some(people) = base.people() else {
            return Err(Error::usage(
                "delta_presence needs a population table that has the quasi-identifiers of the table",
            ));
        };
        let people = people + base.unmapped_people;
        let prepared = Prepared {
            min: self.min.exact(),
            max: self.max.exact(),
        };
        let cannot = |why: String| {
            Err(Error::infeasible(format!(
                "delta_presence({}, {}) cannot hold: {why}",
                self.min, self.max
            )))
        };
        if self.min.value > 0.0 && base.unmapped_people > 0 {
            return cannot(format!(
                "{} rows of the population have a value that its hierarchy does not contain, so they are in no \
                 released class; complete the hierarchy, write ON UNMAPPED TOP, or ask for min 0",
                base.unmapped_people
            ));
        }
        // The size of a class is at most its number of rows, and the mean share over all classes is
        // the share of the table.
        if people > 0 && prepared.min.compared_with(u128::from(base.rows), u128::from(people)) == Ordering::Less {
            return cannot(format!(
                "the table is {} of the {people} rows of the population",
                base.rows
            ));
        }
        Ok(Box::new(prepared))
    }

    fn audit(&self, relation: &Relation) -> Audit {
        Audit {
            sql: format!("SELECT max(share) FROM ({} HAVING sum(n) > 0)", shares(relation)),
            required: self.max.value,
            comparison: Comparison::AtMost,
        }
    }

    fn second_audit(&self, relation: &Relation) -> Option<(&'static str, Audit)> {
        let audit = Audit {
            sql: format!("SELECT min(share) FROM ({})", shares(relation)),
            required: self.min.value,
            comparison: Comparison::AtLeast,
        };
        (self.min.value > 0.0).then_some(("the least share", audit))
    }
}

/// Returns a query for the released share of each class of the population. The query ends in GROUP
/// BY, so that a HAVING can follow.
fn shares(relation: &Relation) -> String {
    let keys = relation.keys();
    let rows = relation.renamed(&relation.released, &[(relation.entity.as_ref(), "e")]);
    // Without a population table, every class has 0 people.
    let people = relation.population.as_ref().map_or(String::new(), |population| {
        let rows = relation.renamed(population, &[]);
        format!(" UNION ALL SELECT {keys}, 0 AS n, count(*) AS people FROM ({rows}) GROUP BY {keys}")
    });
    format!(
        "SELECT CAST(sum(n) AS DOUBLE) / CAST(sum(people) AS DOUBLE) AS share FROM \
         (SELECT {keys}, {} AS n, 0 AS people FROM ({rows}) GROUP BY {keys}{people}) GROUP BY {keys}",
        relation.renamed_size()
    )
}

#[derive(Debug)]
struct Prepared {
    min: Decimal,
    max: Decimal,
}

impl Predicate for Prepared {
    fn holds(&self, class: &Class) -> bool {
        let (n, people) = (u128::from(class.size), u128::from(class.population));
        self.min.compared_with(n, people) != Ordering::Less && self.max.compared_with(n, people) != Ordering::Greater
    }

    /// Returns false if a person is outside the released classes and min is above 0, because this
    /// person is present with probability 0.
    fn holds_overall(&self, release: &Overall) -> bool {
        release.outside == 0 || self.min.compared_with(0, 1) != Ordering::Less
    }
}

/// The catalogue entry of the model `delta_presence`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "delta_presence",
        summary: "the believed probability that a person of the population is in the table is from min to max",
        params: &[
            Param {
                name: "min",
                summary: "the least share of a class of the population that is released",
                kind: SHARE,
                default: None,
            },
            Param {
                name: "max",
                summary: "the greatest share of a class of the population that is released",
                kind: SHARE,
                default: None,
            },
        ],
        example: "delta_presence(0.05, 0.5)",
        reference: "Nergiz, Atzori and Clifton, SIGMOD 2007, doi:10.1145/1247480.1247554",
    },
    build: |args| {
        let (min, max) = (Bound::given(args, "min")?, Bound::given(args, "max")?);
        match min.value <= max.value {
            true => Ok(Box::new(DeltaPresence { min, max })),
            false => Err(Error::usage(format!(
                "delta_presence: min {min} is above max {max}; example: {}",
                ENTRY.info.example
            ))),
        }
    },
};

const SHARE: Kind = Kind::Real {
    min: 0.0,
    max: 1.0,
    open: false,
};
