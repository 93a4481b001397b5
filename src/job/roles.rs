//! The roles of the columns of a source.

use super::secret;
use crate::error::{Error, Result};
use crate::hierarchy::{Hierarchy, LabelForm};
use crate::partition::Numbers;
use arrow::datatypes::DataType;
use datafusion::dataframe::DataFrame;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// An identifier column: dropped, or replaced by a keyed hash.
#[derive(Debug, Clone)]
pub struct Identifier {
    /// The name of the column.
    pub column: String,
    /// The place of the secret of the hash. Without one the column is dropped.
    pub secret: Option<Secret>,
}

/// The place of a secret. The secret itself is in no statement, log, manifest or error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Secret {
    /// The name of an environment variable.
    Environment(String),
    /// The path of a file.
    File(PathBuf),
}

impl Secret {
    /// Returns the secret at a place, `env:NAME` or `file:PATH`; `None` if it is no place.
    pub(crate) fn at(place: &str) -> Option<Self> {
        let (kind, name) = place.split_once(':').filter(|(_, name)| !name.is_empty())?;
        match kind {
            "env" => Some(Self::Environment(name.into())),
            "file" => Some(Self::File(name.into())),
            _ => None,
        }
    }

    /// Returns the place as a text, `env:NAME` or `file:PATH`, which stands for the same file in
    /// any folder.
    pub(crate) fn place(&self) -> String {
        match self {
            Self::Environment(name) => format!("env:{name}"),
            Self::File(path) => {
                let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                format!("file:{}", path.display())
            }
        }
    }

    /// Reads the secret of `what`. Fails if it could be guessed.
    pub(crate) fn read(&self, what: &str) -> Result<Vec<u8>> {
        let read = match self {
            Self::Environment(name) => std::env::var(name)
                .map_err(|_| Error::usage(format!("the environment variable {name} with the secret is not set")))?
                .into_bytes(),
            Self::File(path) => {
                let bytes = std::fs::read(path).map_err(|e| Error::io(format!("secret file {}", path.display()), e))?;
                bytes.trim_ascii_end().to_vec()
            }
        };
        match secret::fault(&read) {
            Some(fault) => Err(Error::usage(format!(
                "the secret of {what} {fault}, and could be guessed; use a longer one, such as 32 random bytes"
            ))),
            None => Ok(read),
        }
    }
}

/// A quasi-identifier with its hierarchy.
#[derive(Debug, Clone)]
pub struct QuasiIdentifier {
    /// The name of the column.
    pub column: String,
    /// The hierarchy of the column.
    pub hierarchy: Arc<Hierarchy>,
    /// The least and the greatest level that may be used, both included; `None` for all levels.
    pub levels: Option<(u8, u8)>,
    /// The weight of a loss in this column, relative to 1 for a column without a weight.
    pub weight: f64,
    /// The form in which the labels are released.
    pub labels: LabelForm,
}

impl QuasiIdentifier {
    /// Returns what local recoding labels values of a column with an order by; `asked` says that an
    /// option asks for ranges. LEVELS, and labels that say more than the intervals that they are,
    /// are those of the hierarchy.
    pub fn numbers(&self, asked: bool) -> Numbers {
        let is_free = asked || self.labels != LabelForm::Text || self.hierarchy.is_intervals();
        match self.levels {
            Some(_) => Numbers::Hierarchy,
            None if self.labels.is_of_class() => Numbers::Values,
            None if is_free => Numbers::Ranges,
            None => Numbers::Hierarchy,
        }
    }
}

/// A quasi-identifier whose rows have sets of items: a column of lists. It is in no class; models
/// ON the column judge it.
#[derive(Debug, Clone)]
pub struct ItemSet {
    /// The name of the column.
    pub column: String,
    /// The hierarchy of the items.
    pub hierarchy: Arc<Hierarchy>,
    /// The least and the greatest level that may be used, both included; `None` for all levels.
    pub levels: Option<(u8, u8)>,
}

/// Returns true for the types of columns of lists.
pub fn is_list(data_type: &DataType) -> bool {
    use DataType::{FixedSizeList, LargeList, LargeListView, List, ListView};
    matches!(
        data_type,
        List(_) | LargeList(_) | FixedSizeList(..) | ListView(_) | LargeListView(_)
    )
}

/// A sensitive attribute.
#[derive(Debug, Clone)]
pub struct Sensitive {
    /// The name of the column.
    pub column: String,
    /// The hierarchy of the column, for models that measure distances in it.
    pub hierarchy: Option<Arc<Hierarchy>>,
    /// How the values are permuted among the released rows; `None` if they are not permuted.
    pub randomization: Option<Randomization>,
}

/// The rows that a sensitive column is permuted among.
#[derive(Clone)]
pub enum Randomization {
    /// Permuted among all released rows.
    Table,
    /// Permuted among the rows of a class.
    Class,
    /// Permuted among the rows with equal values in other released columns.
    Columns(Vec<String>),
    /// Permuted among all released rows, in the order that a matrix gives.
    Matrix {
        /// The name of the matrix in the statement.
        name: String,
        /// The rows of the matrix.
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
