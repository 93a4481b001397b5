//! Binds the privacy models of SATISFYING, each with its attribute and columns.

use crate::error::{Error, Result};
use crate::job::{Constraint, QuasiIdentifier, Scope};
use crate::session::registry::Registry;
use crate::sql::clause::{ConstraintClause, ScopeClause, SensitiveClause};

/// Binds the constraints of SATISFYING.
pub(in crate::session) fn constraints(
    registry: &Registry,
    constraints: &[ConstraintClause],
    quasi_identifiers: &[QuasiIdentifier],
    sensitive: &[SensitiveClause],
) -> Result<Vec<Constraint>> {
    let one = |c: &ConstraintClause| {
        let (model, meaning) = registry.model(&c.model)?;
        let subset = |name: &String| {
            quasi_identifiers.iter().position(|q| q.column == *name).ok_or_else(|| {
                Error::unknown(
                    "quasi-identifier",
                    name,
                    quasi_identifiers.iter().map(|q| q.column.as_str()),
                )
            })
        };
        let is_sensitive = |name: &str| sensitive.iter().any(|s| s.column == name);
        match &c.sensitive {
            Some(name) if !model.reads().attribute => {
                return Err(Error::usage(format!(
                    "{} is about class sizes and reads no sensitive attribute; {name} after ON can only be a list of \
                     quasi-identifiers in parentheses: ON ({name})",
                    c.model
                )));
            }
            Some(name) if !is_sensitive(name) => {
                return Err(not_sensitive(name, sensitive).context(&c.model));
            }
            None if model.reads().attribute && !(model.limit_column().is_some() && sensitive.len() == 1) => {
                return Err(Error::usage(format!(
                    "{} needs the sensitive attribute it is about: {} ON column, with the column in SENSITIVE (...)",
                    c.model, c.model
                )));
            }
            _ => {}
        }
        if model.reads().labels && c.scope != ScopeClause::All {
            return Err(Error::usage(format!(
                "{} is about whole records; leave out the list of columns after ON",
                c.model
            )));
        }
        // A model that gives each row its own limit is about the only sensitive attribute, if there is just one.
        let only = match sensitive {
            [only] if model.limit_column().is_some() => Some(only.column.clone()),
            _ => None,
        };
        let scope = match &c.scope {
            ScopeClause::All => Scope::All,
            ScopeClause::Columns(columns) => Scope::Columns(columns.iter().map(subset).collect::<Result<_>>()?),
            ScopeClause::Any(size) => Scope::Any(*size),
        };
        scope.subsets(quasi_identifiers.len())?;
        Ok(Constraint {
            call: c.model.clone(),
            model,
            meaning,
            attribute: c.sensitive.clone().or(only),
            scope,
        })
    };
    constraints.iter().map(one).collect()
}

/// Returns the error for a column after ON that is not in SENSITIVE.
pub(in crate::session) fn not_sensitive(name: &str, sensitive: &[SensitiveClause]) -> Error {
    if sensitive.is_empty() {
        return Error::usage(format!("{name:?} is no sensitive column; name it in SENSITIVE (...)"));
    }
    Error::unknown("sensitive column", name, sensitive.iter().map(|s| s.column.as_str()))
}
