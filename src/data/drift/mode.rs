//! `ON DRIFT`: how a statement treats drift.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How a statement treats drift.
///
/// ```
/// use anonsql::manifest::OnDrift;
/// assert_eq!(serde_json::to_string(&OnDrift::Search)?, "\"search\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum OnDrift {
    /// The statement ends with an error that names the drift.
    #[default]
    Error,
    /// The node and the columns of the earlier release are applied as far as they still can be, and
    /// the drift is reported.
    Warn,
    /// If the node can no longer be applied, a search chooses another node.
    Search,
}

/// Writes the mode as its keyword in the statement.
impl fmt::Display for OnDrift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OnDrift::Error => "ERROR",
            OnDrift::Warn => "WARN",
            OnDrift::Search => "SEARCH",
        })
    }
}
