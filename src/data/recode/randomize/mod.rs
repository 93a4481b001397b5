//! Randomized sensitive attributes: each attribute is permuted independently among the released
//! rows (MADARS, section 3.4).
//!
//! A [`Permutation`] contains the distinct values of a column in the released rows, and a random
//! order of these values. [`RandomizeExec`] adds the permuted column to the other columns, whose
//! order does not depend on the values of the permuted column. Someone who knows the class of a
//! person then learns no more about the column than the whole table reveals (or the group within
//! which the column was permuted).
//!
//! The seed may be published. A permutation starts from the values of the table (or of a class or a
//! group) in ascending order. Therefore all sources with the same values have the same release,
//! regardless of which rows have which values. A matrix must be kept secret: it permutes the rows
//! in their given order, so anyone with the matrix can undo the permutation.
//!
//! Reference: Guo et al., MADARS: a method of multi-attributes generalized randomization privacy
//! preserving, 2015.

mod codes;
mod contingency;
mod exec;
mod grouped;
mod matrix;
mod numbering;
mod permutation;
mod sequence;

pub use contingency::{ContingencyTable, Spread, mutual_information};
pub use exec::{MeasuredInformation, RandomizeExec};
pub use grouped::Grouped;
pub use matrix::order;
pub use numbering::Numbering;
pub use permutation::{Order, Permutation};
pub use sequence::{RandomSource, Sequence};
