//! Refusals by the standards that a request follows, from names, types and promises alone. The
//! values of the columns are checked before the release is written.

use crate::error::{Error, Result};
use crate::job::Job;
use crate::standard::{Looked, Promised, Treated};
use crate::suggest::{Facts, Kind};

/// Refuses a request that violates one of its standards by names, types and promises alone.
pub(super) fn check(job: &Job) -> Result<()> {
    if job.standards.is_empty() {
        return Ok(());
    }
    let fields = job.source.rows.schema().fields().iter();
    let looked = fields.filter_map(|field| {
        Some(Looked {
            facts: Facts::of_name(field.name(), Kind::of(field.data_type())),
            treated: treated(job, field.name())?,
        })
    });
    let looked: Vec<Looked> = looked.collect();
    if job.sampling().is_some()
        && let Some(standard) = job.standards.iter().find(|standard| standard.reads_values())
    {
        return Err(Error::usage(format!(
            "FOLLOWING {}: it is refused by the values of a source, and a differentially private release tells nothing of \
             them; leave one of both out",
            standard.info.name
        )));
    }
    let columns = job.quasi_identifiers.len();
    let mut promised = vec![];
    for constraint in &job.constraints {
        // A promise ON all columns is a promise about whole classes, too.
        let is_whole = |subset: &Vec<usize>| subset.len() == columns;
        if constraint.scope.subsets(columns)?.iter().any(is_whole) {
            promised.push(Promised {
                class_size: match job.entity {
                    Some(_) => constraint.model.min_class_entities(),
                    None => constraint.model.min_class_size(),
                },
            });
        }
    }
    for standard in &job.standards {
        let mut found = standard.forbidden(&looked)?;
        found.extend(standard.missing(&promised));
        standard.refuse(&found)?;
    }
    Ok(())
}

/// Returns how a column will be released, as far as this is known before its values are read;
/// `None` if it is not released.
fn treated(job: &Job, column: &str) -> Option<Treated> {
    match job.mask(column) {
        Some(of) => Some(Treated::Masked(of.clause.kind)),
        None if !job.releases(column) => None,
        None if job.quasi_identifier(column).is_some() => Some(Treated::Unseen),
        // Lists are nested values, whether they are kept or generalized item by item.
        None => Some(Treated::Unchanged),
    }
}
