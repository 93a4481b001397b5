//! Binds the privacy models of SATISFYING, each with its attribute and columns.

use crate::base::error::{Error, Result};
use crate::base::quoting::{ident, quote};
use crate::data::model::{PrivacyModel, PromiseAttribute};
use crate::language::session::registry::Registry;
use crate::language::sql::clause::{ConstraintClause, ScopeClause, SensitiveClause};
use crate::release::job::{Constraint, ItemSet, QuasiIdentifier, Scope};

/// Binds the constraints of SATISFYING.
pub(in crate::language::session) fn constraints(
    registry: &Registry,
    constraints: &[ConstraintClause],
    (quasi_identifiers, item_sets): (&[QuasiIdentifier], &[ItemSet]),
    sensitive: &[SensitiveClause],
) -> Result<Vec<Constraint>> {
    let columns = Columns {
        quasi_identifiers,
        item_sets,
        sensitive,
    };
    constraints.iter().map(|c| columns.constraint(registry, c)).collect()
}

/// The columns that a model can be about.
struct Columns<'a> {
    quasi_identifiers: &'a [QuasiIdentifier],
    item_sets: &'a [ItemSet],
    sensitive: &'a [SensitiveClause],
}

impl Columns<'_> {
    /// Binds one constraint of SATISFYING.
    fn constraint(&self, registry: &Registry, c: &ConstraintClause) -> Result<Constraint> {
        let (model, meaning) = registry.model(&c.model)?;
        let attribute = model.about().kind().attribute;
        let only = match (attribute, self.sensitive) {
            (PromiseAttribute::OnlySensitive, [only]) => Some(only.column.clone()),
            _ => None,
        };
        match attribute {
            PromiseAttribute::ItemSet => {
                is_of_items(c, c.sensitive.as_ref(), self.quasi_identifiers, self.item_sets)?;
            }
            PromiseAttribute::Sensitive | PromiseAttribute::OnlySensitive => {
                self.check_attribute(c, model.as_ref(), only.is_some())?;
            }
        }
        if model.reads().labels && c.scope != ScopeClause::All {
            return Err(Error::usage(format!(
                "{} is about whole records; leave out the list of columns after ON",
                c.model
            )));
        }
        let scope = match &c.scope {
            ScopeClause::All => Scope::All,
            ScopeClause::Columns(columns) => {
                let positions = columns.iter().map(|name| self.position(c, name));
                Scope::Columns(positions.collect::<Result<_>>()?)
            }
            ScopeClause::Any(size) => Scope::Any(*size),
        };
        scope.subsets(self.quasi_identifiers.len())?;
        Ok(Constraint {
            call: c.model.clone(),
            model,
            meaning,
            attribute: c.sensitive.clone().or(only),
            scope,
        })
    }

    /// Fails with a usage error if ON names a column that the model cannot use or that is not in
    /// SENSITIVE, or if the model needs a sensitive attribute and ON names none. `is_known` is true
    /// if ON may be omitted, because the model is about the only sensitive attribute.
    fn check_attribute(&self, c: &ConstraintClause, model: &dyn PrivacyModel, is_known: bool) -> Result<()> {
        let is_sensitive = |name: &str| self.sensitive.iter().any(|s| s.column == name);
        match &c.sensitive {
            Some(name) if self.item_sets.iter().any(|s| s.column == *name) => Err(in_no_class(c, name)),
            Some(name) if !model.reads().attribute => Err(Error::usage(format!(
                "{} is about class sizes and has no sensitive attribute; after ON, it takes only a list of \
                 quasi-identifiers in parentheses: ON ({name})",
                c.model
            ))),
            Some(name) if !is_sensitive(name) => Err(not_sensitive(name, self.sensitive).context(&c.model)),
            None if model.reads().attribute && !is_known => Err(Error::usage(format!(
                "{} needs the sensitive attribute it is about: {} ON column, with the column in SENSITIVE (...)",
                c.model, c.model
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the index of a quasi-identifier that the scope of a model names. Fails with a usage
    /// error if `name` is not a quasi-identifier.
    fn position(&self, c: &ConstraintClause, name: &str) -> Result<usize> {
        if self.item_sets.iter().any(|s| s.column == name) {
            return Err(in_no_class(c, name));
        }
        let known = self.quasi_identifiers.iter().map(|q| q.column.as_str());
        let found = known.clone().position(|column| column == name);
        found.ok_or_else(|| Error::unknown("quasi-identifier", name, known))
    }
}

/// Returns the error for a model about classes that is applied ON a column of lists.
fn in_no_class(c: &ConstraintClause, column: &str) -> Error {
    Error::usage(format!(
        "{} is about classes, and the lists of column {column} do not belong to classes; write km_anonymity(5, 2) ON \
         {column}",
        c.model
    ))
}

/// Fails with a usage error unless the model of `c`, which is about sets of items, is applied ON
/// exactly one column of lists.
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

/// Returns the error for a column in ON that SENSITIVE does not contain.
pub(in crate::language::session) fn not_sensitive(name: &str, sensitive: &[SensitiveClause]) -> Error {
    if sensitive.is_empty() {
        return Error::usage(format!(
            "{name:?} is not a sensitive column; name it in SENSITIVE (...)"
        ));
    }
    Error::unknown("sensitive column", name, sensitive.iter().map(|s| s.column.as_str()))
}
