//! Binds the privacy models of SATISFYING, each with its attribute and columns.

use crate::error::{Error, Result};
use crate::job::{Constraint, ItemSet, QuasiIdentifier, Scope};
use crate::model::About;
use crate::quoting::{ident, quote};
use crate::session::registry::Registry;
use crate::sql::clause::{ConstraintClause, ScopeClause, SensitiveClause};

/// Binds the constraints of SATISFYING.
pub(in crate::session) fn constraints(
    registry: &Registry,
    constraints: &[ConstraintClause],
    (quasi_identifiers, item_sets): (&[QuasiIdentifier], &[ItemSet]),
    sensitive: &[SensitiveClause],
) -> Result<Vec<Constraint>> {
    // This is one function because it is a list of checks, followed by the bound constraint.
    let one = |c: &ConstraintClause| {
        let (model, meaning) = registry.model(&c.model)?;
        let subset = |name: &String| {
            if item_sets.iter().any(|s| s.column == *name) {
                return Err(in_no_class(c, name));
            }
            quasi_identifiers.iter().position(|q| q.column == *name).ok_or_else(|| {
                Error::unknown(
                    "quasi-identifier",
                    name,
                    quasi_identifiers.iter().map(|q| q.column.as_str()),
                )
            })
        };
        let is_sensitive = |name: &str| sensitive.iter().any(|s| s.column == name);
        // A model with an individual limit for each row applies to the sensitive attribute, if
        // there is exactly one.
        let only = match (model.about(), sensitive) {
            (About::Rows { .. }, [only]) => Some(only.column.clone()),
            (About::Rows { .. } | About::Classes | About::Items(_) | About::Sample(_), _) => None,
        };
        match model.about() {
            About::Items(_) => is_of_items(c, c.sensitive.as_ref(), quasi_identifiers, item_sets)?,
            About::Classes | About::Rows { .. } | About::Sample(_) => match &c.sensitive {
                Some(name) if item_sets.iter().any(|s| s.column == *name) => return Err(in_no_class(c, name)),
                Some(name) if !model.reads().attribute => {
                    return Err(Error::usage(format!(
                        "{} is about class sizes and has no sensitive attribute; after ON, it takes only a list of \
                         quasi-identifiers in parentheses: ON ({name})",
                        c.model
                    )));
                }
                Some(name) if !is_sensitive(name) => {
                    return Err(not_sensitive(name, sensitive).context(&c.model));
                }
                None if model.reads().attribute && only.is_none() => {
                    return Err(Error::usage(format!(
                        "{} needs the sensitive attribute it is about: {} ON column, with the column in SENSITIVE (...)",
                        c.model, c.model
                    )));
                }
                _ => {}
            },
        }
        if model.reads().labels && c.scope != ScopeClause::All {
            return Err(Error::usage(format!(
                "{} is about whole records; leave out the list of columns after ON",
                c.model
            )));
        }
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

/// Returns the error for a model about classes that is applied ON a column of lists.
fn in_no_class(c: &ConstraintClause, column: &str) -> Error {
    Error::usage(format!(
        "{} is about classes, and the lists of column {column} do not belong to classes; write km_anonymity(5, 2) ON \
         {column}",
        c.model
    ))
}

/// Fails with a usage error unless a model about sets of items is applied ON exactly one column of
/// lists.
fn is_of_items(
    c: &ConstraintClause,
    column: Option<&String>,
    quasi_identifiers: &[QuasiIdentifier],
    item_sets: &[ItemSet],
) -> Result<()> {
    let (true, Some(column)) = (c.scope == ScopeClause::All, column) else {
        return Err(Error::usage(format!(
            "{0} is about one column of lists: {0} ON column, with the column in QUASI IDENTIFIERS (...)",
            c.model
        )));
    };
    if item_sets.iter().any(|s| s.column == *column) {
        return Ok(());
    }
    if quasi_identifiers.iter().any(|q| q.column == *column) {
        let (name, text) = (ident(column), quote(column));
        return Err(Error::usage(format!(
            "{} is about a column of lists, and column {column} holds single values; if they are lists written as text, \
             divide them in a query: FROM (SELECT string_to_array({text}, ';') AS {name}, ... FROM ...)",
            c.model
        )));
    }
    if item_sets.is_empty() {
        return Err(Error::usage(format!(
            "{}: {column:?} is not a column of lists in QUASI IDENTIFIERS (...)",
            c.model
        )));
    }
    let named = item_sets.iter().map(|s| s.column.as_str());
    Err(Error::unknown("column of lists", column, named))
}

/// Returns the error for a column that ON names, but that is not in SENSITIVE.
pub(in crate::session) fn not_sensitive(name: &str, sensitive: &[SensitiveClause]) -> Error {
    if sensitive.is_empty() {
        return Error::usage(format!(
            "{name:?} is not a sensitive column; name it in SENSITIVE (...)"
        ));
    }
    Error::unknown("sensitive column", name, sensitive.iter().map(|s| s.column.as_str()))
}
