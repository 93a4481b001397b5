//! `RISK OF`: how exposed the people in a table are.

use super::{Entry, Statement};
use crate::sql::ast::Risk;
use crate::sql::clause;

pub(super) const ENTRY: Entry = Entry {
    name: "RISK OF",
    starts: &["RISK OF"],
    summary: "measures prosecutor, journalist and marketer risk, uniqueness and class sizes",
    syntax: "RISK OF { table | 'path' | ( query ) } QUASI IDENTIFIERS (c [USING hierarchy], ...)
  [SENSITIVE (c [USING hierarchy], ...)] [ENTITY (c)] [POPULATION { table | 'path' | ( query ) }]
  [WITH (sampling_fraction = f, threshold = t, k = 5, subset_size = 3, histogram = sizes | bands,
         snb_classes = peer | haas_stokes)]",
    example: "RISK OF people QUASI IDENTIFIERS (age, zip) POPULATION census",
    parse: |c, _| {
        let source = clause::source(c)?;
        let allowed = [
            &clause::QUASI,
            &clause::SENSITIVE,
            &clause::ENTITY,
            &clause::POPULATION,
            &clause::WITH,
        ];
        let s = clause::read(c, "RISK OF", &allowed, &[&clause::QUASI])?;
        Ok(Statement::Risk(Risk {
            source,
            quasi_identifiers: s.quasi_identifiers,
            sensitive: s.sensitive,
            entity: s.entity,
            population: s.population,
            options: s.options,
        }))
    },
};
