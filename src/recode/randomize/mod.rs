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
mod matrix;
mod numbering;
mod permutation;
mod sequence;

pub use contingency::{ContingencyTable, Spread, mutual_information};
pub use exec::{Measured, RandomizeExec};
pub use grouped::Grouped;
pub use matrix::order;
pub use numbering::Numbering;
pub use permutation::{Order, Permutation};
pub use sequence::{Sequence, Source};
