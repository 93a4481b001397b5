//! The result of VERIFY.

use super::check::says;
use crate::error::Result;
use crate::folder::{Check, Manifest};
use crate::hierarchy::Hierarchy;
use std::sync::Arc;

/// The result of VERIFY: its checks, and what could not be checked.
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
    /// What could not be checked, with the reason.
    pub unchecked: Vec<String>,
    /// Of what could not be checked, the promises, labels and files that more information would
    /// check: a hierarchy of the release, its manifest, or its source. A strict VERIFY does not
    /// pass with them.
    pub gaps: Vec<String>,
    /// How many files were read, if no manifest says how many there are: a pattern may match fewer
    /// than was meant.
    pub files_read: Option<u64>,
    /// What was counted and checks nothing, with the number; `None` if there is nothing to count.
    pub told: Vec<(String, Option<f64>)>,
    /// Of the gaps, the promises that only the source can decide (AGAINST), with what the released
    /// rows alone reach. `ok` is false, because nothing was shown.
    pub undecided: Vec<Check>,
}

impl Verification {
    /// Returns true if every check holds. What could not be checked does not count as a failure.
    pub fn holds(&self) -> bool {
        self.checks.iter().all(|check| check.ok)
    }

    /// Notes what could not be checked, and would be with more information.
    pub(super) fn gap(&mut self, what: String) {
        self.gaps.push(what.clone());
        self.unchecked.push(what);
    }

    /// Adds a check that the hierarchy of a column is the one of the manifest. Returns the
    /// hierarchy if it is.
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
