//! `VERIFY`: checks that privacy models hold on data, released by anonsql or not.

use super::{Entry, Statement};
use crate::sql::ast::Verify;
use crate::sql::clause;

pub(super) const ENTRY: Entry = Entry {
    name: "VERIFY",
    starts: &["VERIFY"],
    summary: "checks that the privacy models hold on a table or file, one row per check",
    syntax:
        "VERIFY { table | 'path' | ( query ) } QUASI IDENTIFIERS (...) [SENSITIVE (...)] [ENTITY (c)] SATISFYING ...
  [AGAINST source] [POPULATION table]",
    example: "VERIFY 'released' QUASI IDENTIFIERS (age, zip) SATISFYING k_anonymity(5) AGAINST people",
    parse: |c, _| {
        let source = clause::source(c)?;
        let allowed = [
            &clause::QUASI,
            &clause::SENSITIVE,
            &clause::ENTITY,
            &clause::SATISFYING,
            &clause::AGAINST,
            &clause::POPULATION,
        ];
        let s = clause::read(c, "VERIFY", &allowed, &[&clause::QUASI, &clause::SATISFYING])?;
        Ok(Statement::Verify(Verify {
            source,
            quasi_identifiers: s.quasi_identifiers,
            sensitive: s.sensitive,
            entity: s.entity,
            satisfying: s.satisfying,
            against: s.against,
            population: s.population,
        }))
    },
};
