//! A parsed RISK OF as plain data, which can be printed as SQL.

use crate::base::catalogue::Value;
use crate::base::error::Result;
use crate::base::quoting::ident;
use crate::language::sql::clause::list as clause;
use crate::language::sql::clause::{QuasiIdentifierClause, SensitiveClause, SourceClause, options, roles, source};
use crate::language::sql::cursor::Cursor;
use crate::language::sql::name::names;
use std::fmt;

/// `RISK OF ...`
#[derive(Debug, Clone, PartialEq)]
pub struct RiskSpec {
    /// The table, path or query that is measured.
    pub source: SourceClause,
    /// QUASI IDENTIFIERS: the columns that form classes.
    pub quasi_identifiers: Vec<QuasiIdentifierClause>,
    /// SENSITIVE: the sensitive attributes.
    pub sensitive: Vec<SensitiveClause>,
    /// ENTITY: the column that identifies a person.
    pub entity: Option<String>,
    /// POPULATION: the table of all people, of whom the measured table contains a sample.
    pub population: Option<SourceClause>,
    /// WEIGHT: the column of sampling weights.
    pub weight: Option<String>,
    /// KEEP: the source columns that PER ROW returns beside the figures.
    pub keep: Vec<String>,
    /// PER ROW: whether the statement returns figures for each row.
    pub per_row: bool,
    /// WITH: the options, such as threshold and sampling fraction.
    pub options: Vec<(String, Value)>,
}

/// Parses the rest of the statement after RISK OF.
pub(super) fn read(c: &mut Cursor) -> Result<RiskSpec> {
    let source = source::read(c)?;
    let allowed = [
        &clause::QUASI,
        &clause::SENSITIVE,
        &clause::ENTITY,
        &clause::POPULATION,
        &clause::WEIGHT,
        &clause::KEEP,
        &clause::PER_ROW,
        &clause::WITH,
    ];
    let s = clause::read(c, "RISK OF", &allowed, &[&clause::QUASI])?;
    s.policy.without_masks("RISK OF")?;
    Ok(RiskSpec {
        source,
        quasi_identifiers: s.policy.quasi_identifiers,
        sensitive: s.policy.sensitive,
        entity: s.policy.entity,
        population: s.policy.population,
        weight: s.weight,
        keep: roles::columns(&s.policy.keep),
        per_row: s.per_row,
        options: s.policy.options,
    })
}

impl fmt::Display for RiskSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "RISK OF {} {}",
            self.source,
            roles::quasi_identifiers(&self.quasi_identifiers)
        )?;
        write!(f, "{}", roles::sensitives(&self.sensitive, " "))?;
        if let Some(entity) = &self.entity {
            write!(f, " ENTITY ({})", ident(entity))?;
        }
        if let Some(population) = &self.population {
            write!(f, " POPULATION {population}")?;
        }
        if let Some(weight) = &self.weight {
            write!(f, " WEIGHT ({})", ident(weight))?;
        }
        if !self.keep.is_empty() {
            write!(f, " KEEP ({})", names(&self.keep))?;
        }
        if self.per_row {
            f.write_str(" PER ROW")?;
        }
        write!(f, "{}", options::written_with(&self.options, " "))
    }
}
