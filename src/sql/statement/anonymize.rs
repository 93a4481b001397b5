//! `ANONYMIZE`: releases a table so that privacy models hold, with the least loss.

use super::{Entry, Statement};
use crate::error::Result;
use crate::sql::ast::Anonymize;
use crate::sql::clause::{self, Clause, Clauses};
use crate::sql::cursor::Cursor;

pub(super) const ENTRY: Entry = Entry {
    name: "ANONYMIZE",
    starts: &["ANONYMIZE"],
    summary: "releases a table so that the privacy models hold, with the least loss",
    syntax: "ANONYMIZE { table | 'path, glob or url' | ( query ) }
  [TO 'target' [STORED AS PARQUET | CSV] [PARTITIONED BY (c, ...)] [OVERWRITE | IF NOT EXISTS] [OPTIONS (...)]]
  [IDENTIFIERS (c [HASH WITH SECRET 'env:NAME'], ...)]
  QUASI IDENTIFIERS (c [USING hierarchy] [LEVELS a TO b] [WEIGHT w], ...)
  [SENSITIVE (c [USING hierarchy] [RANDOMIZED], ...)] [CLASS (c)] [KEEP (c, ...)] [ENTITY (c)] [POPULATION table]
  SATISFYING model [ON column | ON (c, ...)] [AND ...]
  [SUPPRESSING AT MOST 1 PERCENT | n ROWS] [SUPPRESSED ROWS DROPPED | STARRED]
  [MINIMIZING metric] [SEARCH USING algorithm [(option => value, ...)] | AT NODE (c level, ...) | USING MANIFEST 'path']
  [WITH (option = value, ...)] [REPORT TO 'report.html']",
    example: "ANONYMIZE people TO 'released' QUASI IDENTIFIERS (age USING age, zip) SATISFYING k_anonymity(5)",
    parse: |c, _| {
        let (anonymize, clauses) = read(c, "ANONYMIZE", &[clause::TO, clause::REPORT], true)?;
        single(c, &clauses)?;
        Ok(Statement::Anonymize(Box::new(anonymize)))
    },
};

const BASE: &[Clause] = &[
    clause::IDENTIFIERS,
    clause::QUASI,
    clause::SENSITIVE,
    clause::CLASS,
    clause::KEEP,
    clause::ENTITY,
    clause::POPULATION,
    clause::SATISFYING,
    clause::SUPPRESSING,
    clause::SUPPRESSED,
    clause::MINIMIZING,
    clause::SEARCH,
    clause::NODE,
    clause::MANIFEST,
    clause::WITH,
];

/// Reads what follows the word ANONYMIZE: the clauses common to all its forms and those of `more`. What `more` and a
/// list of searches said stays in the clauses.
pub(super) fn read(c: &mut Cursor, what: &str, more: &[Clause], satisfying: bool) -> Result<(Anonymize, Clauses)> {
    let source = clause::source(c)?;
    let allowed: Vec<&Clause> = BASE.iter().chain(more).collect();
    let mut required = vec![&clause::QUASI];
    if satisfying {
        required.push(&clause::SATISFYING);
    }
    let mut s = clause::read(c, what, &allowed, &required)?;
    let anonymize = Anonymize {
        source,
        target: s.target.take(),
        identifiers: std::mem::take(&mut s.identifiers),
        quasi_identifiers: std::mem::take(&mut s.quasi_identifiers),
        sensitive: std::mem::take(&mut s.sensitive),
        class: s.class.take(),
        keep: std::mem::take(&mut s.keep),
        entity: s.entity.take(),
        population: s.population.take(),
        satisfying: std::mem::take(&mut s.satisfying),
        limit: s.limit,
        starred: s.starred,
        minimizing: std::mem::take(&mut s.minimizing),
        choice: std::mem::take(&mut s.choice),
        options: std::mem::take(&mut s.options),
        report: s.report.take(),
    };
    Ok((anonymize, s))
}

/// Fails when several searches are named: only COMPARE takes them.
pub(super) fn single(c: &Cursor, clauses: &Clauses) -> Result<()> {
    if clauses.searches.is_empty() {
        return Ok(());
    }
    Err(c.error("a list of searches stands only in COMPARE ANONYMIZE; name one: SEARCH USING flash"))
}
