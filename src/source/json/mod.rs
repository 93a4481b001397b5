//! JSON files that others wrote: every number and truth value is read as the text that is written,
//! and then as a value of its column's type. A reader with a given type would silently read 0.5 as
//! 0 and "007" as 7.

mod objects;
mod typed;

pub(crate) use objects::Objects;
pub(crate) use typed::{Misfit, exact_schema, has_numbers, text_schema, typed};
