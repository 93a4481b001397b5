//! Opens the rows that a statement names.

pub mod path_tables;
pub(super) mod repeatable;
pub(super) mod source;
mod table;
