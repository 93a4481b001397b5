//! Packed keys: how the codes of a row lie in machine words, how a key is generalized, and how keys are grouped.

mod grouper;
mod layout;
pub(crate) mod partitioned;
mod schema;

pub(crate) use grouper::{Grouper, hash};
pub use layout::PackedLayout;
pub(crate) use layout::bits_for;
pub use schema::KeySchema;
