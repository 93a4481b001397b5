//! A parsed VERIFY as plain data, which can be printed as SQL.

use crate::base::error::Result;
use crate::base::quoting::{ident, literal};
use crate::language::sql::clause::list as clause;
use crate::language::sql::clause::{
    ConstraintClause, QuasiIdentifierClause, SensitiveClause, SourceClause, constraint, roles,
};
use crate::language::sql::cursor::Cursor;
use std::fmt;

/// `VERIFY ...`
#[derive(Debug, Clone, PartialEq)]
pub(in crate::language::session) struct Verify {
    /// The table, path or query that is checked.
    pub(in crate::language::session) source: SourceClause,
    /// The claim about the source; `None` to check the promises of the signed manifest.
    pub(in crate::language::session) claimed: Option<Claimed>,
    /// AGAINST: the source of the release.
    pub(in crate::language::session) against: Option<SourceClause>,
    /// POPULATION: the table in which models such as k_map count people.
    pub(in crate::language::session) population: Option<SourceClause>,
    /// SIGNED BY: the path of the file with the public key.
    pub(in crate::language::session) signed_by: Option<String>,
}

/// The roles of columns and the promises about them.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::language::session) struct Claimed {
    /// QUASI IDENTIFIERS: the columns that form classes.
    pub(in crate::language::session) quasi_identifiers: Vec<QuasiIdentifierClause>,
    /// SENSITIVE: the sensitive attributes.
    pub(in crate::language::session) sensitive: Vec<SensitiveClause>,
    /// ENTITY: the column that identifies a person.
    pub(in crate::language::session) entity: Option<String>,
    /// SATISFYING: the constraints that are checked.
    pub(in crate::language::session) satisfying: Vec<ConstraintClause>,
}

impl fmt::Display for Verify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VERIFY {}", self.source)?;
        if let Some(claimed) = &self.claimed {
            write!(f, " {claimed}")?;
        }
        if let Some(against) = &self.against {
            write!(f, " AGAINST {against}")?;
        }
        if let Some(population) = &self.population {
            write!(f, " POPULATION {population}")?;
        }
        match &self.signed_by {
            Some(key) => write!(f, " SIGNED BY {}", literal(key)),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Claimed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", roles::quasi_identifiers(&self.quasi_identifiers))?;
        write!(f, "{}", roles::sensitives(&self.sensitive, " "))?;
        if let Some(entity) = &self.entity {
            write!(f, " ENTITY ({})", ident(entity))?;
        }
        write!(f, " {}", constraint::written(&self.satisfying))
    }
}

/// Parses the rest of the statement after VERIFY and the source.
pub(super) fn read(c: &mut Cursor, source: SourceClause) -> Result<Verify> {
    let of_evidence = [&clause::AGAINST, &clause::POPULATION, &clause::SIGNED];
    let of_claim = [&clause::QUASI, &clause::SENSITIVE, &clause::ENTITY, &clause::SATISFYING];
    let mut ahead = c.clone();
    let signed = clause::read(&mut ahead, "VERIFY", &of_evidence, &[&clause::SIGNED]);
    if let Ok(s) = signed {
        *c = ahead;
        return Ok(Verify {
            source,
            claimed: None,
            against: s.against,
            population: s.policy.population,
            signed_by: s.signed_by,
        });
    }
    let allowed = [&of_claim[..], &of_evidence].concat();
    let s = clause::read(c, "VERIFY", &allowed, &[&clause::QUASI, &clause::SATISFYING])?;
    s.policy.without_masks("VERIFY")?;
    Ok(Verify {
        source,
        claimed: Some(Claimed {
            quasi_identifiers: s.policy.quasi_identifiers,
            sensitive: s.policy.sensitive,
            entity: s.policy.entity,
            satisfying: s.policy.satisfying,
        }),
        against: s.against,
        population: s.policy.population,
        signed_by: s.signed_by,
    })
}
