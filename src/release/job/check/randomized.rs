//! Checks the permutations of sensitive columns.

use super::check_counted;
use crate::base::error::{Error, Result};
use crate::release::job::{Job, Randomization};

/// Fails if a permutation is impossible or would break a promise.
pub(super) fn check(job: &Job) -> Result<()> {
    for sensitive in &job.roles.sensitive {
        let (column, Some(randomization)) = (&sensitive.column, &sensitive.randomization) else {
            continue;
        };
        let data_type = job
            .input
            .source
            .rows
            .schema()
            .field_with_unqualified_name(column)?
            .data_type();
        if data_type.is_nested() {
            return Err(Error::usage(format!(
                "column {column} is nested ({data_type}) and cannot be RANDOMIZED; select its parts in a query first"
            )));
        }
        let stays_in_class = matches!(randomization, Randomization::Class);
        let constraint = job
            .guarantees
            .constraints
            .iter()
            .find(|c| c.attribute.as_deref() == Some(column));
        if let Some(constraint) = constraint.filter(|_| !stays_in_class || job.input.entity.is_some()) {
            return Err(Error::usage(format!(
                "{} is a promise about the values of {column} in each class, and permuting them {} breaks it; {}, or leave \
                 out the promise or RANDOMIZED",
                constraint.describe(&job.roles.quasi_identifiers),
                if stays_in_class {
                    "between entities"
                } else {
                    "across classes"
                },
                if stays_in_class {
                    "leave out ENTITY"
                } else {
                    "permute WITHIN CLASS"
                },
            )));
        }
        let is_measured =
            job.goal.metric.reads().attribute && job.roles.sensitive.first().is_some_and(|s| s.column == *column);
        if is_measured && !stays_in_class {
            return Err(Error::usage(format!(
                "{} measures {column} in each class, and permuting it across classes changes that; permute WITHIN CLASS, \
                 or minimize another metric",
                job.goal.metric_name
            )));
        }
        if let Randomization::Columns(columns) = randomization {
            check_groups(job, column, columns)?;
        }
    }
    Ok(())
}

/// Fails unless all columns in `within` are released, not nested, and neither randomized nor
/// masked. The permutation stays within the groups of rows with equal values in these columns.
fn check_groups(job: &Job, column: &str, within: &[String]) -> Result<()> {
    let is_randomized = |name: &str| {
        job.roles
            .sensitive
            .iter()
            .any(|s| s.column == name && s.randomization.is_some())
    };
    let fields = job.input.source.rows.schema().fields();
    let known = || {
        let names = fields.iter().map(|f| f.name().as_str());
        names.filter(|n| job.roles.releases(n) && !is_randomized(n) && job.roles.mask(n).is_none())
    };
    check_counted(job.input.source.rows.schema(), within.iter())?;
    for name in within {
        if !known().any(|n| n == name) {
            return Err(Error::unknown("released column to permute within", name, known())
                .context(format!("{column} RANDOMIZED WITHIN ({})", within.join(", "))));
        }
        if job
            .input
            .source
            .rows
            .schema()
            .field_with_unqualified_name(name)?
            .data_type()
            .is_nested()
        {
            return Err(Error::usage(format!(
                "column {name} is nested; values are permuted within groups of flat columns"
            )));
        }
    }
    Ok(())
}
