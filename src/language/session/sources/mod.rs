//! Opens the sources that a statement names.

mod csv;
pub(super) mod depends;
mod format;
mod json;
pub(super) mod lakes;
mod listing;
mod logged;
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
