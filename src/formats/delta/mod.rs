//! Delta tables: one version of a table as a source, and one commit to its log as the end of a
//! release.
//!
//! The crate `deltalake-core` reads the log and the data files, and writes the entry of a commit.
//! It uses the stores of the session ([`Place`](super::Place)), so there is no second way to
//! credentials. The format is behind the cargo feature `delta`.
//!
//! A log may contain values of the table: the bounds of each file. So no error quotes the log.

#[cfg(feature = "delta")]
mod commit;
#[cfg(feature = "delta")]
mod entry;
#[cfg(feature = "delta")]
mod error;
#[cfg(feature = "delta")]
mod format;
mod line;
#[cfg(feature = "delta")]
mod pinned;
#[cfg(feature = "delta")]
mod statistics;
#[cfg(feature = "delta")]
mod table;
mod types;

pub(crate) use line::ENTRY;
