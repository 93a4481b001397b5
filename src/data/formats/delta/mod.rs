//! Delta tables. A statement reads one version of a table, and a release ends with one commit to
//! its log.
//!
//! The crate `deltalake-core` reads the log and the data files, and writes the log entry of a
//! commit. It uses the object stores of the session ([`Place`](super::Place)), and therefore needs
//! no credentials of its own. The format requires the cargo feature `delta`.
//!
//! The log of a table may contain data values, such as the bounds of each file. Therefore, no error
//! quotes the log.

#[cfg(feature = "delta")]
mod commit;
#[cfg(feature = "delta")]
mod entry;
#[cfg(feature = "delta")]
mod error;
#[cfg(feature = "delta")]
mod format;
mod line;
mod log;
#[cfg(feature = "delta")]
mod pinned;
#[cfg(feature = "delta")]
mod statistics;
#[cfg(feature = "delta")]
mod table;
mod types;

pub(crate) use line::ENTRY;
