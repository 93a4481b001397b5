//! What VERIFY found, and what it could not check.

use super::check::says;
use crate::error::Result;
use crate::folder::{Check, Manifest};
use crate::hierarchy::Hierarchy;
use std::sync::Arc;

/// What VERIFY found.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> anonsql::error::Result<()> {
/// # let anon = anonsql::AnonContext::new(Default::default());
/// anon.sql("CREATE TABLE people AS VALUES (31, 'flu'), (31, 'cold'), (34, 'flu')").await?;
/// let verification = anon.verify("VERIFY people QUASI IDENTIFIERS (column1) SATISFYING k_anonymity(2)").await?;
/// assert!(!verification.holds());
/// assert_eq!((verification.checks[0].required, verification.checks[0].reached), (2.0, Some(1.0)));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
#[must_use = "a verification that fails says so only to whoever asks `holds`"]
pub struct Verification {
    /// Every check, in the order of VERIFY's rows.
    pub checks: Vec<Check>,
    /// What could not be checked, and why.
    pub unchecked: Vec<String>,
}

impl Verification {
    /// Whether every check holds. What could not be checked is no failure.
    pub fn holds(&self) -> bool {
        self.checks.iter().all(|check| check.ok)
    }

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
