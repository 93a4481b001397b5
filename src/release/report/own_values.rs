//! The columns with a mask that is drawn at random, and the number of rows that still reveal their
//! own value.

use crate::method::masks::OwnRows;
use serde::{Deserialize, Serialize};

/// A column with a mask that is drawn at random: NOISE, RANK SWAP or PRAM.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct OwnValues {
    /// The name of the column.
    pub column: String,
    /// The number of rows that reveal their own value; `None` if they were not counted, because
    /// rows were suppressed after they had been masked.
    #[serde(default)]
    pub counts: Option<OwnRows>,
}
