//! The rows above a threshold of risk.

use serde::Serialize;

/// The rows whose risk is above a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Above {
    /// The threshold.
    pub threshold: f64,
    /// The number of rows whose risk is greater than the threshold.
    pub rows: u64,
    /// The share of these rows in all rows.
    pub share: f64,
}
