//! Table formats: tables of which each version stays as it is, as sources of statements and as
//! targets of releases.
//!
//! A format is a folder here and a line of [`FORMATS`], as a privacy model is a file and a line of
//! its list. Its folder implements `TableFormat` and [`PinnedTable`], and `LogFormat` and
//! [`LoggedTable`] if releases are committed to its tables. The rest of the crate reads tables by
//! these traits alone. A build without the feature of a format knows its line: it finds a table,
//! and its error names the feature.

// What only a commit reads is written by every build.
#![cfg_attr(not(feature = "delta"), allow(dead_code))]

mod at;
mod change;
mod delta;
mod ducklake;
mod entry;
#[cfg(any(feature = "delta", feature = "ducklake"))]
mod heads;
mod list;
mod pinned;
mod place;

pub use at::At;
pub(crate) use change::{Addition, Change, RELEASE, Verdict};
pub(crate) use delta::{ENTRY as DELTA, check_column, stored};
pub use entry::Entry;
pub use list::FORMATS;
pub(crate) use list::{find, is_table};
pub(crate) use pinned::{Asked, LoggedTable, PinnedFile, PinnedTable};
pub(crate) use place::{LOG, Place};
