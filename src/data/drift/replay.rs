//! The part of a manifest about USING MANIFEST.

use super::found::{Drift, told};
use super::mode::OnDrift;
use serde::{Deserialize, Serialize};

/// How a release used the node of an earlier release.
///
/// ```
/// let read: anonsql::manifest::ReplaySummary = serde_json::from_str(
///     r#"{"manifest": "9f86d081", "on_drift": "warn", "applied": true, "schema_compared": true}"#,
/// )?;
/// assert!(read.drift.is_empty());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ReplaySummary {
    /// The checksum of the earlier release's manifest, as that manifest states it.
    pub manifest: String,
    /// The ON DRIFT mode of the statement.
    pub on_drift: OnDrift,
    /// True if the earlier release's node was applied. Otherwise a search found another node.
    pub applied: bool,
    /// True if the columns of the source were compared. A manifest of an older version does not
    /// contain these columns.
    pub schema_compared: bool,
    /// The differences from the state at the time of the earlier release.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub drift: Vec<Drift>,
}

impl ReplaySummary {
    /// Returns the drift in one line: `none`, or the kind and the text of each drift. Adds a note
    /// if the columns of the source were not compared, and a note if the node was not applied.
    pub(crate) fn told(&self) -> String {
        let mut text = match self.drift.is_empty() {
            true => "none".to_string(),
            false => told(&self.drift),
        };
        if !self.schema_compared {
            text += "; schema not checked: the manifest does not have the columns of its source";
        }
        if !self.applied {
            text += "; the node was not applied, and another was searched for";
        }
        text
    }
}
