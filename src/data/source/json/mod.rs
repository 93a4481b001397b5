//! Reads JSON files from other programs. Every number and truth value is first read as text, and
//! then converted to its column's type. A reader with a fixed type would silently read 0.5 as 0 and
//! "007" as 7.

mod objects;
mod typed;

pub(crate) use objects::Objects;
pub(crate) use typed::{Misfit, exact_schema, has_numbers, text_schema, typed};
