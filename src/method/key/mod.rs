//! Packed keys: their layout in machine words, their generalization, and their grouping.

mod grouper;
mod layout;
pub(crate) mod partitioned;
mod schema;
mod sums;

pub(crate) use grouper::{Grouper, hash};
pub use layout::PackedLayout;
pub(crate) use layout::bits_for;
pub use schema::KeySchema;
pub(crate) use sums::Sums;
