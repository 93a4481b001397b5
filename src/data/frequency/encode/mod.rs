//! Encodes values as codes: the interner for the values of a column, one dictionary per column of a
//! scan, and the encoder for a lookup table.

mod dictionary;
mod encoder;
mod interner;
mod last_dictionary;

pub(crate) use dictionary::{Dictionary, Local, Shared};
pub use encoder::Encoder;
pub(crate) use interner::{Interner, ranked};
