//! Where the rows of a statement come from.

pub mod path_tables;
pub(super) mod repeatable;
pub(super) mod source;
