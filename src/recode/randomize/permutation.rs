//! A sensitive column with its values in random order.

use super::grouped::Grouped;
use super::sequence::Sequence;
use arrow::array::ArrayRef;
use datafusion::execution::memory_pool::MemoryReservation;
use std::sync::Arc;

/// The distinct values of a sensitive column, and the random order in which the rows get them.
#[derive(Debug)]
pub struct Permutation {
    /// The name of the column.
    pub column: String,
    /// The distinct values of the released rows, ascending, NULL last.
    pub values: ArrayRef,
    /// The row count of each value.
    pub counts: Vec<u64>,
    /// The random order of the values.
    pub order: Order,
    /// The mutual information of the released classes and the column before the permutation, in
    /// bits, if measured.
    pub before: Option<f64>,
    /// The reservation for the memory of the values.
    pub(crate) _held: MemoryReservation,
}

/// The rule that assigns the permuted values to rows.
#[derive(Debug, Clone)]
pub enum Order {
    /// By the position of the row.
    Rows(Arc<Sequence>),
    /// By the position of the row in its class.
    Classes(Arc<Grouped>),
    /// By the position of the row among the rows with equal values in other released columns.
    Groups {
        /// The other columns.
        columns: Vec<String>,
        /// The values of each group in these columns.
        keys: Arc<Vec<ArrayRef>>,
        /// The codes by group.
        grouped: Arc<Grouped>,
    },
}
