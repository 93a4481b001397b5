//! Whether IF NOT EXISTS keeps what stands in the target: a whole release of the kind that the
//! statement would make.

use super::append::{compared, role};
use crate::error::{Error, ErrorKind, Result};
use crate::folder::{self, Manifest, Role};
use crate::job::{Constraint, Existing, Format, Job, Target};
use crate::lake::Layout;
use std::cmp::Ordering;

impl Job {
    /// Returns true if the target has a release that the statement keeps. Fails with
    /// `ErrorKind::TargetExists` if it has anything else, and says what.
    pub(crate) fn keeps_target(&self) -> Result<bool> {
        let Some(target) = self.target.as_ref().filter(|target| target.existing == Existing::Skip) else {
            return Ok(false);
        };
        let whole = match &target.stored {
            // It was looked at when the request was bound.
            Some(stored) => stored.standing.as_ref().map(|standing| standing.manifest.clone()),
            None => folder::whole(&target.path)?,
        };
        match whole {
            None => Ok(false),
            Some(manifest) => match other_kind(self, target, &manifest) {
                None => Ok(true),
                Some(found) => Err(Error::new(
                    ErrorKind::TargetExists,
                    format!(
                        "{} has a release of another kind: {found}; IF NOT EXISTS keeps only what the statement would make. Choose \
                         another target, or ask for the same",
                        target.path.display()
                    ),
                )),
            },
        }
    }
}

/// Returns in what a release is of another kind than the statement's, if it is.
fn other_kind(job: &Job, target: &Target, manifest: &Manifest) -> Option<String> {
    let is_csv = manifest.output.iter().any(|file| file.name.ends_with(".csv"));
    match (is_csv, target.format == Format::Csv) {
        (true, false) => return Some("it is stored as CSV".into()),
        (false, true) => return Some("it is not stored as CSV".into()),
        _ => {}
    }
    let layout = target.stored.as_ref().map(|stored| stored.layout);
    match (layout, &manifest.run) {
        (Some(Layout::Plain), Some(_)) => return Some("it has the layout 'runs'".into()),
        (Some(Layout::Runs), None) => return Some("it has the layout 'plain'".into()),
        _ => {}
    }
    if manifest.partitioned_by != target.partitioned_by {
        return Some(format!("it is PARTITIONED BY ({})", manifest.partitioned_by.join(", ")));
    }
    let fields = job.source.rows.schema().fields().iter().map(|f| f.name());
    let released = fields.filter(|name| job.releases(name));
    let asked: Vec<(&str, Role)> = released.map(|name| (name.as_str(), role(job, name))).collect();
    let has: Vec<(&str, Role)> = manifest.columns.iter().map(|c| (c.name.as_str(), c.role)).collect();
    let is_there = |column: &str| has.iter().any(|(name, _)| *name == column);
    if let Some((column, _)) = asked.iter().find(|column| !has.contains(column)) {
        return Some(match is_there(column) {
            true => format!("column {column:?} has another role in it"),
            false => format!("it does not have the column {column:?}"),
        });
    }
    if let Some((column, _)) = has.iter().find(|column| !asked.contains(column)) {
        return Some(format!(
            "it has the column {column:?}, which the statement does not release"
        ));
    }
    let is_recounted = |c: &&Constraint| {
        c.model.sampling().is_none() && c.model.limit_column().is_none() && c.model.item_bound().is_none()
    };
    let is_held = |c: &Constraint| {
        let held = |check| matches!(compared(job, c, check), Some(Ordering::Equal | Ordering::Less));
        manifest.checks.iter().any(held)
    };
    let missing = job.constraints.iter().filter(is_recounted).find(|c| !is_held(c));
    if let Some(missing) = missing {
        let promise = missing.describe(&job.quasi_identifiers);
        return Some(format!("it does not promise {promise}"));
    }
    let draws = job.sampling().is_some();
    match (draws, manifest.differential_privacy.is_some()) {
        (true, false) => Some("it is not differentially private".into()),
        (false, true) => Some("it is differentially private".into()),
        _ => None,
    }
}
