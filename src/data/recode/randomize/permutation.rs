//! A sensitive column with its values in random order.

use super::grouped::Grouped;
use super::sequence::Sequence;
use arrow::array::ArrayRef;
use datafusion::execution::memory_pool::MemoryReservation;
use std::sync::Arc;

/// The distinct values of a sensitive column, and the random order in which they are assigned to
/// rows.
#[derive(Debug)]
pub struct Permutation {
    /// The name of the column.
    pub column: String,
    /// The distinct values in the released rows, ascending with NULL last.
    pub values: ArrayRef,
    /// The number of rows with each value.
    pub counts: Vec<u64>,
    /// The random order of the values.
    pub order: Order,
    /// The mutual information of the released classes and the column before the permutation, in
    /// bits; `None` if it was not measured.
    pub before: Option<f64>,
    /// The memory reservation for the values.
    pub(crate) _held: MemoryReservation,
}

/// Which permuted value a row gets.
#[derive(Debug, Clone)]
pub enum Order {
    /// The value is determined by the position of the row.
    Rows(Arc<Sequence>),
    /// The value is determined by the class of the row, and by its position in the class.
    Classes(Arc<Grouped>),
    /// The value is determined by the group of rows with the same values in other released columns,
    /// and by the position of the row in this group.
    Groups {
        /// The names of the other columns.
        columns: Vec<String>,
        /// For each of these columns, its value in each group.
        keys: Arc<Vec<ArrayRef>>,
        /// The permuted codes of each group.
        grouped: Arc<Grouped>,
    },
}
