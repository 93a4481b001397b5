//! `LATTICE OF ANONYMIZE`: every node with k, suppressed rows, classes and the metrics.

use super::{Entry, Statement, anonymize};

pub(super) const ENTRY: Entry = Entry {
    name: "LATTICE OF",
    starts: &["LATTICE OF ANONYMIZE"],
    summary: "lists every node with k, suppressed rows, classes and the metrics",
    syntax: "LATTICE OF ANONYMIZE ...",
    example: "LATTICE OF ANONYMIZE people QUASI IDENTIFIERS (age) SATISFYING k_anonymity(5)",
    parse: |c, _| {
        let (anonymize, clauses) = anonymize::read(c, "LATTICE OF ANONYMIZE", &[], true)?;
        anonymize::single(c, &clauses)?;
        Ok(Statement::Lattice(Box::new(anonymize)))
    },
};
