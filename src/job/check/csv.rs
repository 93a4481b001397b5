//! Refusals of columns that a CSV file cannot have.

use crate::error::{Error, Result};
use crate::job::Job;
use crate::quoting::ident;

/// Refuses released columns of lists, structs, maps and unions, for which CSV has no text. A mask
/// never has such a type, whatever the type of its column.
pub(super) fn check(job: &Job) -> Result<()> {
    let fields = job.input.source.rows.schema().fields().iter();
    let mut kept = fields.filter(|field| job.roles.releases(field.name()) && job.roles.mask(field.name()).is_none());
    match kept.find(|field| field.data_type().is_nested()) {
        None => Ok(()),
        Some(field) => Err(Error::usage(format!(
            "column {}: CSV cannot hold values of type {}; write STORED AS PARQUET, or select their parts in a query",
            ident(field.name()),
            field.data_type()
        ))),
    }
}
