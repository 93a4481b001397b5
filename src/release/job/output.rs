//! The target of a job's release, and what is recorded with it.

use super::report_file::ReportFile;
use super::target::Target;
use crate::data::folder::{Manifest, PolicySummary};

/// The target of a release, and the statement and the policy that are recorded with it.
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
    /// Returns the release to which the rows are added (APPEND); `None` if there is none.
    pub(crate) fn grows(&self) -> Option<&Manifest> {
        self.target.as_ref()?.grows.as_deref()
    }

    /// Returns true if the job has a policy, and a release has no policy or a policy with another
    /// digest. `standing` is the policy of the release.
    pub(crate) fn is_under_another_policy(&self, standing: Option<&PolicySummary>) -> bool {
        let own = self.policy.as_ref().map(|policy| &policy.sha256);
        own.is_some() && own != standing.map(|policy| &policy.sha256)
    }
}
