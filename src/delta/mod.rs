//! Delta tables: one version of a table as a source, and one commit of its log as the end of a release.
//!
//! The crate `deltalake-core` reads the log and the data files, and writes the entry of a commit. It gets the stores that
//! the session has ([`Place`]), so there is no second way to credentials. It is behind the cargo feature `delta`. A build
//! without the feature finds a Delta table where one is, and says that it cannot read it.
//!
//! A log may hold values of the table: the bounds of each file. So no error quotes the log.

// What only a commit reads is written by every build.
#![cfg_attr(not(feature = "delta"), allow(dead_code))]

mod at;
mod change;
mod place;
mod types;

#[cfg(not(feature = "delta"))]
mod absent;
#[cfg(feature = "delta")]
mod commit;
#[cfg(feature = "delta")]
mod entry;
#[cfg(feature = "delta")]
mod error;
#[cfg(feature = "delta")]
mod statistics;
#[cfg(feature = "delta")]
mod table;

#[cfg(not(feature = "delta"))]
pub(crate) use absent::{Table, check_built, commit, statistics};
pub(crate) use at::At;
#[cfg(feature = "ducklake")]
pub(crate) use at::time;
pub(crate) use change::{Addition, Change, RELEASE, Verdict};
#[cfg(feature = "delta")]
pub(crate) use commit::commit;
pub(crate) use place::{LOG, Place};
#[cfg(feature = "delta")]
pub(crate) use statistics::statistics;
#[cfg(feature = "delta")]
pub(crate) use table::{Table, check_built};
pub(crate) use types::{check_column, stored};
