//! Randomized sensitive attributes: each is permuted independently among the released rows (MADARS,
//! section 3.4).
//!
//! A [`Permutation`] contains the distinct values of the released rows and a random order of them.
//! [`RandomizeExec`] adds it to the other columns, whose order does not depend on its values.
//! Someone who knows the class of a person then learns of the column what the whole table (or the
//! group within which it was permuted) reveals, and no more.
//!
//! The seed may be published: the permuted values are those of the table (of a class, of a group)
//! in ascending order, so all sources with the same values have the same release, whichever row has
//! which value. A matrix is a secret: it permutes the rows in their given order, and whoever has it
//! can undo that.
//!
//! Guo et al., MADARS: a method of multi-attributes generalized randomization privacy preserving,
//! 2015.

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
