//! A parsed VERIFY as plain data that prints back as SQL.

use crate::error::Result;
use crate::quoting::ident;
use crate::sql::clause::list as clause;
use crate::sql::clause::{ConstraintClause, QuasiIdentifierClause, SensitiveClause, SourceClause, constraint, roles};
use crate::sql::cursor::Cursor;
use std::fmt;

/// `VERIFY ...`
#[derive(Debug, Clone, PartialEq)]
pub(in crate::session) struct Verify {
    /// The table, path or query that is checked.
    pub(in crate::session) source: SourceClause,
    /// QUASI IDENTIFIERS: the columns that form classes.
    pub(in crate::session) quasi_identifiers: Vec<QuasiIdentifierClause>,
    /// SENSITIVE: the sensitive attributes.
    pub(in crate::session) sensitive: Vec<SensitiveClause>,
    /// ENTITY: the column that identifies a person.
    pub(in crate::session) entity: Option<String>,
    /// SATISFYING: the constraints that are checked.
    pub(in crate::session) satisfying: Vec<ConstraintClause>,
    /// AGAINST: the data that the table was released from.
    pub(in crate::session) against: Option<SourceClause>,
    /// POPULATION: the table in which models such as k_map count.
    pub(in crate::session) population: Option<SourceClause>,
}

impl fmt::Display for Verify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quasi_identifiers = roles::quasi_identifiers(&self.quasi_identifiers);
        write!(f, "VERIFY {} {quasi_identifiers}", self.source)?;
        write!(f, "{}", roles::sensitives(&self.sensitive, " "))?;
        if let Some(entity) = &self.entity {
            write!(f, " ENTITY ({})", ident(entity))?;
        }
        write!(f, " {}", constraint::written(&self.satisfying))?;
        if let Some(against) = &self.against {
            write!(f, " AGAINST {against}")?;
        }
        if let Some(population) = &self.population {
            write!(f, " POPULATION {population}")?;
        }
        Ok(())
    }
}

/// Parses what follows the word VERIFY and the source.
pub(super) fn read(c: &mut Cursor, source: SourceClause) -> Result<Verify> {
    let allowed = [
        &clause::QUASI,
        &clause::SENSITIVE,
        &clause::ENTITY,
        &clause::SATISFYING,
        &clause::AGAINST,
        &clause::POPULATION,
    ];
    let s = clause::read(c, "VERIFY", &allowed, &[&clause::QUASI, &clause::SATISFYING])?;
    Ok(Verify {
        source,
        quasi_identifiers: s.quasi_identifiers,
        sensitive: s.sensitive,
        entity: s.entity,
        satisfying: s.satisfying,
        against: s.against,
        population: s.population,
    })
}
