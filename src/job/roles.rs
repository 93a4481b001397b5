//! What each column of the source is.

use crate::hierarchy::Hierarchy;
use datafusion::dataframe::DataFrame;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// An identifier column: dropped, or replaced by a keyed hash.
#[derive(Debug, Clone)]
pub struct Identifier {
    /// The column.
    pub column: String,
    /// Where the secret of the hash is; without one the column is dropped.
    pub secret: Option<Secret>,
}

/// Where a secret is kept. The secret itself is in no statement, log, manifest or error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Secret {
    /// In an environment variable.
    Environment(String),
    /// In a file.
    File(PathBuf),
}

/// A quasi-identifier with its hierarchy.
#[derive(Debug, Clone)]
pub struct QuasiIdentifier {
    /// The column.
    pub column: String,
    /// Its hierarchy.
    pub hierarchy: Arc<Hierarchy>,
    /// The levels that may be used, both included.
    pub levels: Option<(u8, u8)>,
    /// What a loss in this column counts, beside 1 for others.
    pub weight: f64,
}

/// A sensitive column.
#[derive(Debug, Clone)]
pub struct Sensitive {
    /// The column.
    pub column: String,
    /// Its hierarchy, for models that measure distances in it.
    pub hierarchy: Option<Arc<Hierarchy>>,
    /// How its values are permuted among the released rows; not at all when `None`.
    pub randomization: Option<Randomization>,
}

/// The rows that a sensitive column is permuted among.
#[derive(Clone)]
pub enum Randomization {
    /// All released rows.
    Table,
    /// Those of a class.
    Class,
    /// Those with equal values in other released columns.
    Columns(Vec<String>),
    /// All, in the order that a matrix gives.
    Matrix {
        /// How the statement names it.
        name: String,
        /// Its rows.
        rows: DataFrame,
    },
}

impl fmt::Display for Randomization {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Randomization::Table => f.write_str("RANDOMIZED"),
            Randomization::Class => f.write_str("RANDOMIZED WITHIN CLASS"),
            Randomization::Columns(columns) => write!(f, "RANDOMIZED WITHIN ({})", columns.join(", ")),
            Randomization::Matrix { name, .. } => write!(f, "RANDOMIZED WITH MATRIX {name}"),
        }
    }
}

impl fmt::Debug for Randomization {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
