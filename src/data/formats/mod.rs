//! Table formats. Statements read a version of a table, which never changes, and releases are
//! committed to tables.
//!
//! Each format is a folder here and an entry of [`FORMATS`]. Its folder implements `TableFormat`
//! and [`PinnedTable`], and also `LogFormat` and [`LoggedTable`] if releases can be committed to
//! its tables. The rest of the crate uses tables only through these traits. A build without the
//! feature of a format still has its entry, so that it recognizes such a table, and its error names
//! the feature.

// All builds fill in fields that only a commit reads.
#![cfg_attr(not(feature = "delta"), allow(dead_code))]

mod at;
mod change;
mod delta;
mod ducklake;
mod entry;
mod heads;
mod list;
mod marker;
mod pinned;
mod place;

pub use at::At;
pub(crate) use change::{Addition, Change, CommitOutcome, RELEASE};
pub use entry::Entry;
pub use list::FORMATS;
pub(crate) use list::{
    find, format_of_log, is_log, is_table, keywords, kind_of, may_be_table, may_name, with_formats, written,
    written_tables,
};
pub(crate) use pinned::{LoggedTable, PinnedFile, PinnedTable, ScanParameters};
pub(crate) use place::Place;
