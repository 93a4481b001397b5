//! `COMPARE ANONYMIZE`: one row per search, measured on the release of each.

use super::{Entry, Statement, anonymize};
use crate::sql::ast::Choice;

pub(super) const ENTRY: Entry = Entry {
    name: "COMPARE",
    starts: &["COMPARE ANONYMIZE"],
    summary: "sets the releases of several searches side by side",
    syntax: "COMPARE ANONYMIZE ... SEARCH USING (algorithm [(option => value, ...)], ...)",
    example: "COMPARE ANONYMIZE people QUASI IDENTIFIERS (age) SATISFYING k_anonymity(5) SEARCH USING (flash, mondrian)",
    parse: |c, _| {
        let (mut anonymize, s) = anonymize::read(c, "COMPARE ANONYMIZE", &[], true)?;
        let mut searches = s.searches;
        if let Choice::Search(one) = std::mem::take(&mut anonymize.choice) {
            searches.push(one);
        }
        if searches.is_empty() {
            return Err(c.error("COMPARE needs the searches; example: SEARCH USING (flash, mondrian)"));
        }
        Ok(Statement::Compare {
            anonymize: Box::new(anonymize),
            searches,
        })
    },
};
