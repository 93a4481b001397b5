//! Values to codes: one dictionary a column, and the codes of a lookup table.

mod dictionary;
mod encoder;

pub(crate) use dictionary::{Dictionary, Local, Shared, one_zero};
pub use encoder::Encoder;
