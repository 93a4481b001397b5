//! The count of rows whose risk exceeds a threshold.

use serde::Serialize;

/// The count of rows whose risk exceeds a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Above {
    /// The threshold, a risk from 0 to 1.
    pub threshold: f64,
    /// The number of rows whose risk is greater than the threshold.
    pub rows: u64,
    /// The share of these rows in all rows.
    pub share: f64,
}
