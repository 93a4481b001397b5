//! The node of an earlier release that a job applies again.

use crate::base::catalogue::Call;
use crate::data::drift::{Drift, OnDrift};
use crate::method::search::Search;

/// The node of an earlier release, with the response to drift since then.
#[derive(Debug)]
pub struct Replay {
    /// The levels of the node, one per quasi-identifier; `None` if they cannot be applied to these
    /// columns and hierarchies.
    pub levels: Option<Vec<u8>>,
    /// The response to drift.
    pub on_drift: OnDrift,
    /// The search that replaces a node at which the models no longer hold (ON DRIFT SEARCH).
    pub instead: Option<(Call, Box<dyn Search>)>,
    /// The checksum of the earlier manifest, as recorded in that manifest.
    pub manifest: String,
    /// Whether the earlier release suppressed rows, if its manifest says so.
    pub suppressed_rows: Option<bool>,
    /// Whether the earlier manifest lists the columns of its source. Only then were the columns of
    /// the two sources compared.
    pub schema_compared: bool,
    /// The drift that is known before any row is read.
    pub drift: Vec<Drift>,
    /// The new columns, on which the release does not depend.
    pub come: Vec<String>,
    /// The missing columns, on which the release did not depend.
    pub gone: Vec<String>,
}
