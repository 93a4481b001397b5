//! Checks a request against the standards that it follows, using only names, types and promises.
//! The values of the columns are checked later, before the release is written.

use crate::base::error::{Error, Result};
use crate::method::standard::{Looked, Promised, Treated};
use crate::method::suggest::{Facts, ValueKind};
use crate::release::job::{Job, Roles};

/// Fails if names, types and promises alone show that the request violates one of its standards.
pub(super) fn check(job: &Job) -> Result<()> {
    if job.guarantees.standards.is_empty() {
        return Ok(());
    }
    let fields = job.input.source.rows.schema().fields().iter();
    let looked = fields.filter_map(|field| {
        Some(Looked {
            facts: Facts::of_name(field.name(), ValueKind::of(field.data_type())),
            treated: treated(&job.roles, field.name())?,
        })
    });
    let looked: Vec<Looked> = looked.collect();
    if job.guarantees.sampling().is_some()
        && let Some(standard) = job.guarantees.standards.iter().find(|standard| standard.reads_values())
    {
        return Err(Error::usage(format!(
            "FOLLOWING {}: it is refused by the values of a source, and a differentially private release tells nothing of \
             them; leave one of both out",
            standard.info.name
        )));
    }
    let columns = job.roles.quasi_identifiers.len();
    let mut promised = vec![];
    for constraint in &job.guarantees.constraints {
        // A model that holds ON all quasi-identifiers also holds for whole classes.
        let is_whole = |subset: &Vec<usize>| subset.len() == columns;
        if constraint.scope.subsets(columns)?.iter().any(is_whole) {
            promised.push(Promised {
                class_size: match job.input.entity {
                    Some(_) => constraint.model.min_class_entities(),
                    None => constraint.model.min_class_size(),
                },
            });
        }
    }
    for standard in &job.guarantees.standards {
        let mut found = standard.forbidden(&looked)?;
        found.extend(standard.missing(&promised));
        standard.refuse(&found)?;
    }
    Ok(())
}

/// Returns how a column will be released, as far as this is known before its values are read;
/// `None` if the column is not released.
fn treated(roles: &Roles, column: &str) -> Option<Treated> {
    match roles.mask(column) {
        Some(of) => Some(Treated::Masked(of.clause.kind)),
        None if !roles.releases(column) => None,
        None if roles.quasi_identifier(column).is_some() => Some(Treated::Unseen),
        // Lists are nested values, whether they are kept or generalized item by item.
        None => Some(Treated::Unchanged),
    }
}
