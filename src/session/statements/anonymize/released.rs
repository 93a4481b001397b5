//! What ANONYMIZE did, as values.

use crate::engine::Release;
use crate::folder::Manifest;
use crate::session::answer::Answer;
use std::path::PathBuf;

/// What ANONYMIZE did.
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
    /// The release is in a folder (ANONYMIZE ... TO).
    Files {
        /// The folder.
        folder: PathBuf,
        /// Its figures.
        release: Release,
        /// The manifest that is beside the files.
        manifest: Box<Manifest>,
    },
    /// The release is rows (ANONYMIZE without TO), recounted before the first is handed out.
    Rows {
        /// Its figures.
        release: Release,
        /// The rows.
        rows: Answer,
    },
    /// The target was there already, and IF NOT EXISTS keeps it.
    Kept {
        /// The folder.
        folder: PathBuf,
    },
}

impl Anonymized {
    /// The figures; `None` where the target was kept.
    pub fn release(&self) -> Option<&Release> {
        match self {
            Self::Files { release, .. } | Self::Rows { release, .. } => Some(release),
            Self::Kept { .. } => None,
        }
    }

    /// The manifest; `None` where nothing was written.
    pub fn manifest(&self) -> Option<&Manifest> {
        match self {
            Self::Files { manifest, .. } => Some(manifest),
            Self::Rows { .. } | Self::Kept { .. } => None,
        }
    }
}
