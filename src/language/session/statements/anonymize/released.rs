//! The typed result of ANONYMIZE.

use crate::data::folder::Manifest;
use crate::language::session::answer::Answer;
use crate::release::observe::Release;
use std::path::PathBuf;

/// The result of ANONYMIZE.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> anonsql::error::Result<()> {
/// # let anon = anonsql::AnonContext::new(Default::default());
/// # let folder = tempfile::tempdir().unwrap();
/// # let target = folder.path().join("released").display().to_string();
/// anon.sql("CREATE TABLE people AS VALUES (31), (33), (36), (38); CREATE HIERARCHY age AS INTERVALS (5, 10)").await?;
/// let request = format!(
///     "ANONYMIZE people TO '{target}' QUASI IDENTIFIERS (column1 USING age) SATISFYING k_anonymity(2)"
/// );
/// let anonymized = anon.anonymize(&request).await?;
/// assert_eq!(anonymized.release().and_then(|r| r.reached_k), Some(2));
/// assert_eq!(anonymized.manifest().map(|m| m.node["column1"]), Some(1));
/// # Ok(())
/// # }
/// ```
#[must_use = "an ANONYMIZE without TO has its rows in here"]
#[non_exhaustive]
pub enum Anonymized {
    /// The release was written to a folder (ANONYMIZE ... TO).
    Files {
        /// The folder of the release.
        folder: PathBuf,
        /// The figures of the release.
        release: Release,
        /// The manifest beside the files.
        manifest: Box<Manifest>,
    },
    /// The release is a stream of rows (ANONYMIZE without TO), recounted before the first row is
    /// returned.
    Rows {
        /// The figures of the release.
        release: Release,
        /// The released rows.
        rows: Answer,
    },
    /// Nothing was written, because of `SET anonsql.dry_run = true`.
    DryRun {
        /// The folder that the release would have; `None` if the statement has no target.
        folder: Option<PathBuf>,
        /// The figures of the release as computed by the search, without a recount.
        release: Release,
    },
    /// The target existed already, and IF NOT EXISTS kept it.
    Kept {
        /// The existing folder.
        folder: PathBuf,
    },
    /// APPEND could not add any row to the existing release. All rows are held back for a later
    /// APPEND, and the release is unchanged.
    Waiting {
        /// The folder of the release.
        folder: PathBuf,
        /// The number of rows that are held back.
        rows: u64,
    },
}

impl Anonymized {
    /// Returns the figures of the release; `None` if an existing target was kept, or if no row
    /// could be added to the release.
    pub fn release(&self) -> Option<&Release> {
        match self {
            Self::Files { release, .. } | Self::Rows { release, .. } | Self::DryRun { release, .. } => Some(release),
            Self::Kept { .. } | Self::Waiting { .. } => None,
        }
    }

    /// Returns the manifest; `None` if no files were written.
    pub fn manifest(&self) -> Option<&Manifest> {
        match self {
            Self::Files { manifest, .. } => Some(manifest),
            Self::Rows { .. } | Self::DryRun { .. } | Self::Kept { .. } | Self::Waiting { .. } => None,
        }
    }
}
