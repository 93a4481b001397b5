//! Opens the rows that a statement names.

mod csv;
mod delta;
pub(super) mod depends;
mod ducklake;
mod format;
mod json;
pub(super) mod lakes;
mod listing;
mod named;
mod options;
mod partitions;
pub mod path_tables;
mod read;
pub(super) mod released;
pub(super) mod repeatable;
pub(super) mod source;
mod stated;
mod table;

pub(super) use listing::matched;
pub(super) use options::OPTIONS as PATH_OPTIONS;
