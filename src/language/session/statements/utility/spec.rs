//! A parsed UTILITY OF as plain data, which can be printed as SQL.

use crate::base::error::Result;
use crate::base::quoting::ident;
use crate::language::sql::clause::list as clause;
use crate::language::sql::clause::{FileClause, QuasiIdentifierClause, SourceClause, roles, source};
use crate::language::sql::cursor::Cursor;
use std::fmt;

/// `UTILITY OF ... AGAINST ...`
#[derive(Debug, Clone, PartialEq)]
pub(in crate::language::session) struct UtilitySpec {
    /// The release that is measured.
    pub(in crate::language::session) release: SourceClause,
    /// AGAINST: the source of the release.
    pub(in crate::language::session) source: SourceClause,
    /// QUASI IDENTIFIERS: the columns whose hierarchies are not given by the manifest.
    pub(in crate::language::session) quasi_identifiers: Vec<QuasiIdentifierClause>,
    /// CLASS: the class label.
    pub(in crate::language::session) class: Option<String>,
    /// TESTING ON: the original rows on which classifiers are tested.
    pub(in crate::language::session) testing: Option<SourceClause>,
    /// REPORT TO: the file of the report.
    pub(in crate::language::session) report: Option<FileClause>,
}

/// Parses the rest of the statement after UTILITY OF.
pub(super) fn read(c: &mut Cursor) -> Result<UtilitySpec> {
    let release = source::read(c)?;
    let allowed = [
        &clause::AGAINST,
        &clause::QUASI,
        &clause::CLASS,
        &clause::TESTING,
        &clause::REPORT,
    ];
    let s = clause::read(c, "UTILITY OF", &allowed, &[&clause::AGAINST])?;
    if s.testing.is_some() && s.policy.class.is_none() {
        return Err(c.error("TESTING ON needs CLASS (c): the class label that classifiers are trained to find"));
    }
    let Some(source) = s.against else {
        return Err(c.error("UTILITY OF needs AGAINST; example: AGAINST people"));
    };
    Ok(UtilitySpec {
        release,
        source,
        quasi_identifiers: s.policy.quasi_identifiers,
        class: s.policy.class,
        testing: s.testing,
        report: s.report,
    })
}

impl fmt::Display for UtilitySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UTILITY OF {} AGAINST {}", self.release, self.source)?;
        if !self.quasi_identifiers.is_empty() {
            write!(f, " {}", roles::quasi_identifiers(&self.quasi_identifiers))?;
        }
        if let Some(class) = &self.class {
            write!(f, " CLASS ({})", ident(class))?;
        }
        if let Some(testing) = &self.testing {
            write!(f, " TESTING ON {testing}")?;
        }
        match &self.report {
            Some(report) => write!(f, " REPORT TO {report}"),
            None => Ok(()),
        }
    }
}
