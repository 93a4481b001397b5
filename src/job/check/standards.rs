//! Refusals of the standards that a request follows, as far as names, types and promises tell. The
//! values of the columns are looked at before the release is written.

use crate::error::Result;
use crate::job::{Job, Scope};
use crate::standard::{Looked, Promised, Treated};
use crate::suggest::{Facts, Kind};

/// Refuses what a standard of the request does not allow by the names, types and promises alone.
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
    let of_classes = job.constraints.iter().filter(|c| matches!(c.scope, Scope::All));
    let promised: Vec<Promised> = of_classes
        .map(|c| Promised {
            class_size: c.model.min_class_size(),
        })
        .collect();
    for standard in &job.standards {
        let mut found = standard.forbidden(&looked)?;
        found.extend(standard.missing(&promised));
        standard.refuse(&found)?;
    }
    Ok(())
}

/// Returns how a column is released before its values are known; `None` if it is not released.
fn treated(job: &Job, column: &str) -> Option<Treated> {
    match job.mask(column) {
        Some(of) => Some(Treated::Masked(of.clause.kind.noun)),
        None if !job.releases(column) => None,
        None if job.quasi_identifier(column).is_some() || job.item_set(column).is_some() => Some(Treated::Unseen),
        None => Some(Treated::Unchanged),
    }
}
