//! Checks the roles: every column has one role, and every column with a role exists.

use crate::base::error::{Error, Result};
use crate::base::quoting::ident;
use crate::release::job::Job;

/// Fails if a column has no role or two roles, if a name in the request is not a column, if two
/// columns have the same name, or if no column forms classes.
pub(super) fn check(job: &Job) -> Result<()> {
    let columns = job.input.source.columns();
    for (i, column) in columns.iter().enumerate() {
        if columns[..i].contains(column) {
            return Err(Error::usage(format!(
                "{} has two columns called {column:?}",
                job.input.source.name
            )));
        }
    }
    let roles = roles(job);
    for (i, (column, role)) in roles.iter().enumerate() {
        if !columns.contains(column) {
            return Err(Error::unknown("column", column, columns.iter().copied()));
        }
        if let Some((_, other)) = roles[..i].iter().find(|(c, _)| c == column) {
            return Err(Error::usage(match other == role {
                true => format!("column {column:?} is named twice in {role}; once is enough"),
                false => format!("column {column:?} has two roles, {other} and {role}; every column has exactly one"),
            }));
        }
    }
    if let Some(entity) = job.input.entity.as_deref().filter(|e| !columns.contains(e)) {
        return Err(Error::unknown("column", entity, columns.iter().copied()));
    }
    if let Some(accepted) = job.guarantees.accepted.iter().find(|a| !columns.contains(&a.as_str())) {
        return Err(Error::unknown("column", accepted, columns.iter().copied()));
    }
    let classified = |c: &&str| roles.iter().any(|(r, _)| r == c) || job.input.entity.as_deref() == Some(*c);
    let forgotten = columns.iter().copied().filter(|c| !classified(c));
    let forgotten: Vec<String> = forgotten.map(|column| ident(column).to_string()).collect();
    if !forgotten.is_empty() {
        return Err(Error::usage(format!(
            "no role was given to {0}; name each in IDENTIFIERS, QUASI IDENTIFIERS, SENSITIVE, CLASS or KEEP, so \
             that nothing is released by being forgotten: IDENTIFIERS ({0}) drops them",
            forgotten.join(", ")
        )));
    }
    if job.roles.quasi_identifiers.is_empty() {
        return Err(Error::usage(match &job.roles.item_sets[..] {
            [] => "QUASI IDENTIFIERS names no column".to_string(),
            [set, ..] => no_values(&set.column),
        }));
    }
    Ok(())
}

fn roles(job: &Job) -> Vec<(&str, &str)> {
    let mut roles: Vec<(&str, &str)> = vec![];
    roles.extend(job.roles.identifiers.iter().map(|i| (i.as_str(), "IDENTIFIERS")));
    roles.extend(
        job.roles
            .quasi_identifiers
            .iter()
            .map(|q| (q.column.as_str(), "QUASI IDENTIFIERS")),
    );
    roles.extend(
        job.roles
            .item_sets
            .iter()
            .map(|s| (s.column.as_str(), "QUASI IDENTIFIERS")),
    );
    roles.extend(job.roles.sensitive.iter().map(|s| (s.column.as_str(), "SENSITIVE")));
    roles.extend(job.roles.class_label.iter().map(|c| (c.as_str(), "CLASS")));
    roles.extend(job.roles.keep.iter().map(|k| (k.as_str(), "KEEP")));
    let of_rows = job.guarantees.of_rows();
    roles.extend(of_rows.and_then(|c| Some((c.limit()?, c.call.name.as_str()))));
    roles
}

/// Returns the error text if all quasi-identifiers are columns of lists, from which classes cannot
/// be formed. `column` is one of them, for the example.
pub(crate) fn no_values(column: &str) -> String {
    format!(
        "QUASI IDENTIFIERS names only columns of lists, and classes need a column of values; if there is none, make one that \
         is the same for all rows: FROM (SELECT 1 AS everyone, {} FROM ...)",
        ident(column)
    )
}
