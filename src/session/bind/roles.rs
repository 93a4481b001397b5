//! Binds the roles of columns: replaces the names of hierarchies by the hierarchies.

use crate::error::{Error, Result};
use crate::hierarchy::Hierarchy;
use crate::job::{Identifier, QuasiIdentifier, Randomization, Secret, Sensitive};
use crate::session::context::AnonContext;
use crate::session::sources::repeatable::check_repeatable;
use crate::sql::clause::{IdentifierClause, QuasiIdentifierClause, RandomizeClause, SecretClause, SensitiveClause};
use std::path::PathBuf;

impl AnonContext {
    /// Returns the quasi-identifiers with their hierarchies. A column without USING gets a hierarchy that only
    /// suppresses.
    pub(in crate::session) fn quasi_identifiers(
        &self,
        columns: &[QuasiIdentifierClause],
    ) -> Result<Vec<QuasiIdentifier>> {
        let one = |q: &QuasiIdentifierClause| {
            let hierarchy = match &q.hierarchy {
                Some(name) => self.hierarchy(name)?,
                None => Hierarchy::suppression_of(&q.column)?,
            };
            let levels = q
                .levels
                .map(|(low, high)| Ok::<_, Error>((level(low, &q.column)?, level(high, &q.column)?)))
                .transpose()?;
            let weight = q.weight.unwrap_or(1.0);
            if !(weight.is_finite() && weight > 0.0) {
                return Err(Error::usage(format!(
                    "column {}: WEIGHT must be a number above 0",
                    q.column
                )));
            }
            Ok(QuasiIdentifier {
                column: q.column.clone(),
                hierarchy,
                levels,
                weight,
                labels: q.labels.unwrap_or_default(),
            })
        };
        columns.iter().map(one).collect()
    }

    /// Returns the sensitive attributes with their hierarchies and their randomization.
    pub(super) async fn sensitive(&self, columns: &[SensitiveClause]) -> Result<Vec<Sensitive>> {
        let mut bound = vec![];
        for s in columns {
            let hierarchy = s.hierarchy.as_ref().map(|h| self.hierarchy(h)).transpose()?;
            let randomization = match &s.randomized {
                None => None,
                Some(RandomizeClause::Table) => Some(Randomization::Table),
                Some(RandomizeClause::Class) => Some(Randomization::Class),
                Some(RandomizeClause::Columns(columns)) => Some(Randomization::Columns(columns.clone())),
                Some(RandomizeClause::Matrix(table)) => {
                    let (name, rows) = (table.to_string(), self.session.table(table.reference()).await?);
                    check_repeatable(&name, &rows)?;
                    Some(Randomization::Matrix { name, rows })
                }
            };
            bound.push(Sensitive {
                column: s.column.clone(),
                hierarchy,
                randomization,
            });
        }
        Ok(bound)
    }
}

/// Converts an identifier clause: an identifier is dropped, or hashed with a secret.
pub(super) fn identifier(identifier: &IdentifierClause) -> Identifier {
    let secret = identifier.hash.as_ref().map(|secret| match secret {
        SecretClause::Env(name) => Secret::Environment(name.clone()),
        SecretClause::File(path) => Secret::File(PathBuf::from(path)),
    });
    Identifier {
        column: identifier.column.clone(),
        secret,
    }
}

/// Converts a level of a column to the `u8` that lattices use. Fails if the level is too large.
pub(super) fn level(level: u32, column: &str) -> Result<u8> {
    u8::try_from(level).map_err(|_| Error::usage(format!("column {column}: there is no level {level}")))
}
