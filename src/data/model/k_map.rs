//! k-map: every released class has at least k rows in a population table.
//!
//! Holds if and only if, for every released equivalence class, at least k rows of the given
//! population table have the quasi-identifier values of the class, generalized in the same way.
//! Even under ENTITY, the model counts the rows of the population, not its entities. Monotone, even
//! if rows are suppressed: the groups in the population merge in the same way as the classes.
//!
//! Example: `k_map(20)`.
//!
//! Sweeney, Computational disclosure control: a primer on data privacy protection, PhD thesis, MIT
//! 2001, section 4.3; El Emam and Dankar, Protecting privacy using k-anonymity, JAMIA 2008,
//! doi:10.1197/jamia.M2716.

use super::audit::{Audit, Comparison, Relation};
use super::privacy_model::{Build, Class, Monotonicity, Predicate, PrivacyModel, Reads, Subject};
use crate::base::catalogue::{Entry, Info, Kind, Param};
use crate::base::error::{Error, Result};

#[derive(Debug, Clone, Copy)]
struct KMap {
    k: u64,
}

impl PrivacyModel for KMap {
    fn reads(&self) -> Reads {
        Reads {
            population: true,
            ..Reads::default()
        }
    }

    fn monotonicity(&self) -> Monotonicity {
        Monotonicity::Always
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Predicate>> {
        let Some(people) = subject.base.people() else {
            return Err(Error::usage(
                "k_map needs a population table that has the quasi-identifiers of the table",
            ));
        };
        if subject.base.rows > 0 && people < self.k {
            return Err(Error::infeasible(format!(
                "k_map({}) cannot hold: the population has {people} rows",
                self.k
            )));
        }
        Ok(Box::new(*self))
    }

    fn audit(&self, relation: &Relation) -> Audit {
        let keys = relation.keys();
        // Without a population table, every class has 0 people.
        let people = relation.population.as_ref().map_or(String::new(), |population| {
            let rows = relation.renamed(population, &[]);
            format!(" UNION ALL SELECT {keys}, 0 AS n, count(*) AS people FROM ({rows}) GROUP BY {keys}")
        });
        Audit {
            sql: format!(
                "SELECT min(people) FROM (SELECT sum(people) AS people FROM (SELECT {keys}, count(*) AS n, 0 AS people \
                 FROM ({}) GROUP BY {keys}{people}) GROUP BY {keys} HAVING sum(n) > 0)",
                relation.renamed(&relation.released, &[])
            ),
            required: self.k as f64,
            comparison: Comparison::AtLeast,
        }
    }
}

impl Predicate for KMap {
    fn holds(&self, class: &Class) -> bool {
        class.population >= self.k
    }
}

/// The catalogue entry of the model `k_map`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "k_map",
        summary: "every class's values are the values of at least k rows of the population table",
        params: &[Param {
            name: "k",
            summary: "the least number of rows of the population",
            kind: Kind::Integer { min: 1, max: i64::MAX },
            default: None,
        }],
        example: "k_map(20)",
        reference: "Sweeney, PhD thesis, MIT 2001; El Emam and Dankar, JAMIA 2008, doi:10.1197/jamia.M2716",
    },
    build: |args| Ok(Box::new(KMap { k: args.count("k")? })),
};
