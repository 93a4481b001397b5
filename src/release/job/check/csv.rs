//! Checks that the released columns can be written as CSV.

use crate::base::error::{Error, Result};
use crate::base::quoting::ident;
use crate::release::job::Job;

/// Fails if a released column contains lists, structs, maps or unions, which cannot be written as
/// CSV. A masked column is never nested, whatever the type of the original column.
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
