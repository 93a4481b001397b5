//! Table formats. A version of a table never changes. Tables are sources of statements and targets
//! of releases.
//!
//! A format is a folder here and a line of [`FORMATS`], like a privacy model is a file and a line
//! of its list. Its folder implements `TableFormat` and [`PinnedTable`], and also `LogFormat` and
//! [`LoggedTable`] if releases are committed to its tables. The rest of the crate uses tables
//! through these traits alone. A build without the feature of a format has its entry too, so it
//! recognizes a table, and its error names the feature.

// Every build fills in the fields that only a commit reads.
#![cfg_attr(not(feature = "delta"), allow(dead_code))]

mod at;
mod change;
mod delta;
mod ducklake;
mod entry;
mod heads;
mod list;
mod pinned;
mod place;

pub use at::At;
pub(crate) use change::{Addition, Change, CommitOutcome, RELEASE};
pub use entry::Entry;
pub use list::FORMATS;
pub(crate) use list::{find, is_log, is_table, written};
pub(crate) use pinned::{Asked, LoggedTable, PinnedFile, PinnedTable};
pub(crate) use place::{LOG, Place};
