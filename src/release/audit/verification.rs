//! The result of VERIFY.

use super::check::says;
use crate::base::error::Result;
use crate::data::folder::{Check, Manifest};
use crate::method::hierarchy::Hierarchy;
use std::sync::Arc;

/// The result of VERIFY: its checks, and the claims that could not be checked.
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
#[must_use = "a failed verification is not an error: call `holds`"]
pub struct Verification {
    /// Every check, in the order of VERIFY's rows.
    pub checks: Vec<Check>,
    /// The claims that could not be checked, each with the reason.
    pub unchecked: Vec<String>,
    /// The promises, labels and files among `unchecked` that could be checked with more
    /// information: a hierarchy of the release, its manifest, or its source. A strict VERIFY does
    /// not pass if there are any.
    pub gaps: Vec<String>,
    /// The number of files read, if no manifest states how many there are. A pattern may match
    /// fewer files than intended.
    pub files_read: Option<u64>,
    /// Counts that are reported and not checked, each with its description. A count is `None` if
    /// there is nothing to count.
    pub told: Vec<(String, Option<f64>)>,
    /// The promises among the gaps that only the source can decide (AGAINST), with the value that
    /// the released rows alone reach. `ok` is false, because the promise was not shown to hold.
    pub undecided: Vec<Check>,
}

impl Verification {
    /// Returns true if every check holds. A claim that could not be checked does not count as a
    /// failure.
    pub fn holds(&self) -> bool {
        self.checks.iter().all(|check| check.ok)
    }

    /// Records a claim that could be checked with more information.
    pub(super) fn gap(&mut self, what: String) {
        self.gaps.push(what.clone());
        self.unchecked.push(what);
    }

    /// Adds a check that the given hierarchy of a column is the hierarchy in the manifest. Returns
    /// the hierarchy if the check holds, and `None` otherwise.
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
