//! What was found, and what could not be checked.

use super::check::says;
use crate::error::Result;
use crate::folder::{Check, Manifest};
use crate::hierarchy::Hierarchy;
use std::sync::Arc;

/// What was found.
#[derive(Default)]
pub(crate) struct Findings {
    /// The checks.
    pub(crate) checks: Vec<Check>,
    /// What was not checked, and why.
    pub(crate) unchecked: Vec<String>,
}

impl Findings {
    /// The hierarchy that is named for a column, where it is the manifest's; else a failed check.
    pub(super) fn same(
        &mut self,
        manifest: &Manifest,
        column: &str,
        hierarchy: Arc<Hierarchy>,
    ) -> Result<Option<Arc<Hierarchy>>> {
        let is_same = manifest.used(column, &hierarchy)?;
        let what = format!("hierarchy {} of {column}", hierarchy.name());
        self.checks.push(says(&what, Some(1), Some(u64::from(is_same))));
        Ok(is_same.then_some(hierarchy))
    }
}
