//! The columns whose masks are drawn by chance, with the rows that still tell their own value.

use crate::masks::OwnRows;
use serde::{Deserialize, Serialize};

/// A column whose mask is drawn by chance: NOISE, RANK SWAP or PRAM.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct OwnValues {
    /// The name of the column.
    pub column: String,
    /// The rows that tell their own value; `None` if they were not counted, because rows were
    /// suppressed after they were masked.
    #[serde(default)]
    pub counts: Option<OwnRows>,
}
