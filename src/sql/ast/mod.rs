//! What CREATE HIERARCHY says, as plain data that prints back as SQL.

mod hierarchy;

pub use hierarchy::{CreateHierarchy, Definition, Nulls, Unmapped};
