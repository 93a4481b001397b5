//! A sensitive column whose values were put into random order.

use super::grouped::Grouped;
use super::sequence::Sequence;
use arrow::array::ArrayRef;
use datafusion::execution::memory_pool::MemoryReservation;
use std::sync::Arc;

/// A sensitive column whose values were put into random order.
#[derive(Debug)]
pub struct Permutation {
    /// The column.
    pub column: String,
    /// The distinct values of the released rows, ascending, NULL last.
    pub values: ArrayRef,
    /// The rows of each.
    pub counts: Vec<u64>,
    /// Their order.
    pub order: Order,
    /// The mutual information of the released classes and the column as it was, in bits, where it was measured.
    pub before: Option<f64>,
    /// The memory of the values.
    pub(crate) _held: MemoryReservation,
}

/// Which row gets which value.
#[derive(Debug, Clone)]
pub enum Order {
    /// By position.
    Rows(Arc<Sequence>),
    /// By position among the rows of a class.
    Classes(Arc<Grouped>),
    /// By position among the rows with equal values in other released columns.
    Groups {
        /// Those columns.
        columns: Vec<String>,
        /// The values of each group in them.
        keys: Arc<Vec<ArrayRef>>,
        /// The values by group.
        grouped: Arc<Grouped>,
    },
}
