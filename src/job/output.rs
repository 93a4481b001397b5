//! Where the release of a job goes, and what is recorded with it.

use super::report_file::ReportFile;
use super::target::Target;
use crate::folder::{Manifest, PolicySummary};

/// Where a release goes, and the statement and the policy that are recorded with it.
pub struct Output {
    /// The statement in canonical form, as the manifest may contain it. It contains no secret.
    pub statement: String,
    /// SHA-256 of the full statement.
    pub statement_sha256: String,
    /// The policy that the statement used.
    pub policy: Option<PolicySummary>,
    /// The folder of the release; `None` if the statement returns the rows.
    pub target: Option<Target>,
    /// The file for the report of the release.
    pub report: Option<ReportFile>,
}

impl Output {
    /// Returns the release that the rows are added to, if there is one (APPEND).
    pub(crate) fn grows(&self) -> Option<&Manifest> {
        self.target.as_ref()?.grows.as_deref()
    }

    /// Returns true if the job is under a policy, and a release is not under a policy with the same
    /// digest. `standing` is the policy of the release.
    pub(crate) fn is_under_another_policy(&self, standing: Option<&PolicySummary>) -> bool {
        let own = self.policy.as_ref().map(|policy| &policy.sha256);
        own.is_some() && own != standing.map(|policy| &policy.sha256)
    }
}
