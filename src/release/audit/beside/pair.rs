//! The input of a check of two releases together.

use crate::release::audit::claim::Claim;
use crate::release::job::QuasiIdentifier;
use datafusion::dataframe::DataFrame;

/// Two releases, and the source that they are checked against.
pub(crate) struct Pair {
    /// The release that the statement names first.
    pub(crate) first: ClaimedRelease,
    /// The release after BESIDE.
    pub(crate) second: ClaimedRelease,
    /// The source of both releases (AGAINST).
    pub(crate) against: Option<DataFrame>,
    /// The column of the source that identifies a person (ENTITY).
    pub(crate) entity: Option<String>,
}

/// One of the two releases, with the claim of its manifest.
pub(crate) struct ClaimedRelease {
    /// The release as the statement names it.
    pub(crate) name: String,
    /// The rows with their manifest, and the constraints that the manifest claims.
    pub(crate) claim: Claim,
    /// The quasi-identifiers that the constraints are about, without their hierarchies.
    pub(crate) quasi_identifiers: Vec<QuasiIdentifier>,
    /// The source as the statement in the manifest writes it.
    pub(crate) source: String,
    /// Whether the source is a path. Its rows are then the rows of the files at this path.
    pub(crate) reads_path: bool,
}
