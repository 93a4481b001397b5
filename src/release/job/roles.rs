//! The roles of the columns of a source.

use crate::base::error::Result;
use crate::method::hierarchy::{Hierarchy, LabelForm};
use crate::method::masks::{Mask, MaskClause, Masking};
use crate::method::partition::Numbers;
use arrow::datatypes::DataType;
use datafusion::dataframe::DataFrame;
use std::fmt;
use std::sync::Arc;

/// The roles of the columns of a job.
pub struct Roles {
    /// The identifiers. An identifier without a mask is dropped.
    pub identifiers: Vec<String>,
    /// The masks of identifiers, sensitive attributes and kept columns.
    pub masks: Vec<MaskOf>,
    /// The columns that are generalized.
    pub quasi_identifiers: Vec<QuasiIdentifier>,
    /// The quasi-identifiers that are sets of items.
    pub item_sets: Vec<ItemSet>,
    /// The sensitive attributes, which the models protect.
    pub sensitive: Vec<Sensitive>,
    /// The column of the class label.
    pub class_label: Option<String>,
    /// The columns that no model protects. A column without a mask is released unchanged.
    pub keep: Vec<String>,
}

impl Roles {
    /// Returns true if the column is released. Identifiers without a mask are dropped, and so is an
    /// entity column that is in no other list.
    pub fn releases(&self, column: &str) -> bool {
        self.mask(column).is_some()
            || self.quasi_identifiers.iter().any(|q| q.column == column)
            || self.item_set(column).is_some()
            || self.protects(column)
            || self.class_label.as_deref() == Some(column)
            || self.keep.iter().any(|k| k == column)
    }

    /// Returns true if the values of the column are not released in suppressed rows that stay in
    /// the release.
    pub fn protects(&self, column: &str) -> bool {
        self.sensitive.iter().any(|s| s.column == column)
    }

    /// Returns the mask of a column.
    pub fn mask(&self, column: &str) -> Option<&MaskOf> {
        self.masks.iter().find(|of| of.column == column)
    }

    /// Returns how a sensitive column is permuted.
    pub fn randomization(&self, column: &str) -> Option<&Randomization> {
        self.sensitive
            .iter()
            .find(|s| s.column == column)?
            .randomization
            .as_ref()
    }

    /// Returns the position of a quasi-identifier.
    pub fn quasi_identifier(&self, column: &str) -> Option<usize> {
        self.quasi_identifiers.iter().position(|q| q.column == column)
    }

    /// Returns the position of a column of sets of items.
    pub fn item_set(&self, column: &str) -> Option<usize> {
        self.item_sets.iter().position(|s| s.column == column)
    }

    /// Returns the quasi-identifiers whose labels are released in a form other than TEXT.
    pub fn computed_columns(&self) -> Vec<String> {
        let computed = self.quasi_identifiers.iter().filter(|q| q.labels != LabelForm::Text);
        computed.map(|q| q.column.clone()).collect()
    }
}

/// The mask of a column, as it was written and as it was bound.
#[derive(Debug, Clone)]
pub struct MaskOf {
    /// The name of the column.
    pub column: String,
    /// The mask as it was written.
    pub clause: MaskClause,
    /// The mask.
    pub mask: Arc<dyn Mask>,
}

impl MaskOf {
    /// Reads the secret from its place, and returns the mask with the secret.
    pub fn with_secret(&self) -> Result<Masking> {
        Masking::new(self.clause.clone(), Arc::clone(&self.mask))
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
    /// The weight of a loss in this column; 1 if the statement does not give one.
    pub weight: f64,
    /// The form in which the labels are released.
    pub labels: LabelForm,
}

impl QuasiIdentifier {
    /// Returns how local recoding makes the labels of an ordered column. `asked` is true if an
    /// option requests ranges. With LEVELS, the labels come from the hierarchy. Without LEVELS, a
    /// form that is computed from a class uses the values of the class. The labels are ranges if
    /// `asked` is true, if the form is not TEXT, or if the hierarchy consists of intervals.
    /// Otherwise they come from the hierarchy.
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

/// A quasi-identifier whose values are sets of items: a column of lists. The column forms no
/// classes. Only models ON the column protect it.
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

/// The rows among which a sensitive column is permuted.
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
