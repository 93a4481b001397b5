//! From a statement to what it asks for: names looked up, arguments checked.

mod choice;
mod constraints;
mod goal;
mod job;
mod options;
mod roles;
mod target;

pub(super) use constraints::{constraints, not_sensitive};
pub(super) use options::arguments;
