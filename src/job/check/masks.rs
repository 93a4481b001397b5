//! Refusals of masks of values that they do not take.

use crate::error::{Error, Result};
use crate::job::Job;
use crate::masks::has_text;
use crate::quoting::ident;

/// Refuses a mask of a type that it does not take, and one by a column that is not there.
pub(super) fn check(job: &Job) -> Result<()> {
    let columns = job.source.columns();
    for (column, of) in job.masks() {
        let field = job.source.rows.schema().field_with_unqualified_name(column)?;
        let named = |e: Error| e.context(format!("column {}", ident(column)));
        of.mask.data_type(field.data_type()).map_err(named)?;
        let Some(entity) = of.clause.entity() else {
            continue;
        };
        if !columns.contains(&entity) {
            return Err(named(Error::unknown("column", entity, columns.iter().copied())));
        }
        let field = job.source.rows.schema().field_with_unqualified_name(entity)?;
        has_text(of.clause.kind.clause.start, field.data_type())
            .map_err(|e| e.context(format!("column {}", ident(entity))))?;
    }
    Ok(())
}
