//! `EXPLAIN [ANALYZE] ANONYMIZE`: what a request would do, or did.

use super::{Entry, Statement, anonymize};
use crate::sql::clause;

pub(super) const ENTRY: Entry = Entry {
    name: "EXPLAIN ANONYMIZE",
    starts: &["EXPLAIN ANONYMIZE", "EXPLAIN ANALYZE ANONYMIZE"],
    summary: "shows roles, lattice, what prunes and the queries; ANALYZE adds what ran",
    syntax: "EXPLAIN [ANALYZE] ANONYMIZE ...",
    example: "EXPLAIN ANALYZE ANONYMIZE people QUASI IDENTIFIERS (age) SATISFYING k_anonymity(5)",
    parse: |c, form| {
        let (anonymize, clauses) = anonymize::read(c, "EXPLAIN ANONYMIZE", &[clause::TO, clause::REPORT], true)?;
        anonymize::single(c, &clauses)?;
        Ok(Statement::Explain {
            analyze: form == 1,
            anonymize: Box::new(anonymize),
        })
    },
};
