//! Refusals of target folders.

use crate::error::{Error, Result};
use crate::folder;
use crate::job::{Existing, Job, SourceTable, Target, target_exists};
use std::fs::symlink_metadata;
use std::io::ErrorKind;

/// Refuses a target that cannot name its folders, that contains files that the job reads, or that exists and may not
/// be replaced.
pub(super) fn check(job: &Job, target: &Target) -> Result<()> {
    let path = &target.path;
    for column in &target.partitioned_by {
        if !job.releases(column) {
            let released = job
                .source
                .rows
                .schema()
                .fields()
                .iter()
                .map(|f| f.name().as_str())
                .filter(|n| job.releases(n));
            return Err(Error::unknown("released column to partition by", column, released));
        }
        let field = job.source.rows.schema().field_with_unqualified_name(column)?;
        folder::check_partition_column(column, field.data_type())?;
    }
    if let Some(column) = target.partitioned_by.iter().find(|c| job.randomization(c).is_some()) {
        return Err(Error::usage(format!(
            "rows are partitioned by what they are, and the values of {column} are put into random order: PARTITIONED BY \
             another column"
        )));
    }
    if let Ok(own) = path.canonicalize() {
        let held = |source: &SourceTable| {
            source
                .files
                .iter()
                .any(|f| f.canonicalize().is_ok_and(|f| f.starts_with(&own)))
        };
        let read = [("source", Some(&job.source)), ("POPULATION", job.population.as_ref())];
        if let Some((what, _)) = read.into_iter().find(|(_, source)| source.is_some_and(held)) {
            return Err(Error::usage(format!(
                "the target {} holds the {what}; write to another folder",
                path.display()
            )));
        }
    }
    match (target.existing, symlink_metadata(path)) {
        (_, Err(e)) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(()),
        (_, Err(e)) => Err(Error::io(format!("cannot read {}", path.display()), e)),
        (Existing::Skip, Ok(_)) if path.is_dir() => Ok(()),
        (Existing::Fail, Ok(_)) if path.is_dir() => Err(target_exists(path)),
        // For a target that is not a folder, the error says what it is, whatever was requested.
        (_, Ok(_)) => folder::check_replaceable(path),
    }
}
