//! Randomized sensitive attributes: each is permuted on its own among the released rows (MADARS, section 3.4).
//!
//! A [`Permutation`] column is the distinct values of the released rows and a random order of them; [`RandomizeExec`] puts it
//! beside the other columns, which come in an order that its values have no part in. Who holds a class of rows then
//! knows of the column what the whole table (or the group that it was permuted in) tells, and no more.
//!
//! The seed may be published: what is drawn are the values of the table (of a class, of a group) in ascending order, so
//! every source that has the same of them is released alike, whoever has which. A matrix is a secret: it permutes the
//! rows as they are, and whoever has it can undo that.
//!
//! Guo et al., MADARS: a method of multi-attributes generalized randomization privacy preserving, 2015.

mod codes;
mod contingency;
mod exec;
mod grouped;
mod interner;
mod matrix;
mod numbering;
mod sequence;

pub use contingency::{ContingencyTable, Spread, mutual_information};
pub use exec::{Measured, RandomizeExec};
pub use grouped::Grouped;
pub use interner::Interner;
pub use matrix::order;
pub use numbering::Numbering;
pub use sequence::{Sequence, Source};

use crate::error::Error;
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
    pub held: MemoryReservation,
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

/// The error of a second scan that does not find what the first one counted.
fn changed() -> Error {
    Error::data("the second scan has other rows than the first: the source changed during the run")
}
