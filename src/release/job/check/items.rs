//! Checks requests with sets of items.

use crate::base::error::{Error, Result};
use crate::release::job::{Format, Job, Output};

/// Fails if no model is about a column of sets, if all models are about sets and none about the
/// other quasi-identifiers, or if the request contains something that cannot be combined with sets.
pub(super) fn check(job: &Job) -> Result<()> {
    for set in &job.roles.item_sets {
        let column = &set.column;
        let mut about = job.guarantees.constraints.iter().filter(|c| c.is_about_items());
        if !about.any(|c| c.attribute.as_ref() == Some(column)) {
            return Err(Error::usage(format!(
                "column {column} holds lists, which are in no class of the other models: SATISFYING ... AND km_anonymity(5, \
                 2) ON {column} protects them, or leave the column out"
            )));
        }
        if let Some((low, high)) = set
            .levels
            .filter(|(low, high)| low > high || *high > set.hierarchy.height())
        {
            return Err(Error::usage(format!(
                "column {column}: LEVELS {low} TO {high} is not within the levels 0 to {} of hierarchy {}",
                set.hierarchy.height(),
                set.hierarchy.name()
            )));
        }
        is_written(&job.output, column)?;
    }
    let Some(constraint) = job.guarantees.constraints.iter().find(|c| c.is_about_items()) else {
        return Ok(());
    };
    let name = constraint.describe(&job.roles.quasi_identifiers);
    if job.guarantees.constraints.iter().all(|c| c.is_about_items()) {
        return Err(Error::usage(format!(
            "{name} is about the lists alone, and the other quasi-identifiers would be released as they are; add a model of \
             their classes, such as k_anonymity(5)"
        )));
    }
    if let Some(entity) = &job.input.entity {
        return Err(Error::usage(format!(
            "{name} counts rows, and a person with several rows of {entity} would be counted several times; put the items of \
             a person into one row first: FROM (SELECT {entity}, array_agg(item ORDER BY item) AS items, ... GROUP BY ...), without ENTITY"
        )));
    }
    if let Some(of_rows) = job.guarantees.of_rows() {
        return Err(Error::usage(format!(
            "{} suppresses rows after {name} has counted them; use one of the two",
            of_rows.describe(&job.roles.quasi_identifiers)
        )));
    }
    Ok(())
}

/// Fails if the target cannot contain lists in this column.
fn is_written(output: &Output, column: &str) -> Result<()> {
    let Some(target) = &output.target else {
        return Ok(());
    };
    if target.format == Format::Csv {
        return Err(Error::usage(format!(
            "column {column}: CSV cannot hold lists; write STORED AS PARQUET"
        )));
    }
    match target.partitioned_by.iter().any(|c| c == column) {
        true => Err(Error::usage(format!(
            "column {column}: a list cannot be the name of a folder; PARTITIONED BY another column"
        ))),
        false => Ok(()),
    }
}
