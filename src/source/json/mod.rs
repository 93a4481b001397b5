//! JSON files of others: every number and truth value is read as the text that is written, and then
//! as a value of its column's type. A reader that is given a type takes 0.5 for 0 and "007" for 7,
//! and nobody learns it.

mod objects;
mod typed;

pub(crate) use objects::Objects;
pub(crate) use typed::{Misfit, exact_schema, has_numbers, text_schema, typed};
