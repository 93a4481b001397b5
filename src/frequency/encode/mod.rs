//! Turns values into codes: the interner of a column's values, one dictionary per column of a scan,
//! and the codes of a lookup table.

mod dictionary;
mod encoder;
mod interner;
mod last_dictionary;

pub(crate) use dictionary::{Dictionary, Local, Shared};
pub use encoder::Encoder;
pub(crate) use interner::{Interner, ranked};
