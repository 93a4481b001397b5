//! DuckLake tables: one snapshot of a table as a source.
//!
//! The crate `datafusion-ducklake` reads the catalog, which is an SQLite file, and the data files. The stores of the data
//! files are those of the session. It is behind the cargo feature `ducklake`. A build without the feature says that it
//! cannot read such a table.
//!
//! A catalog may hold values of the table: rows that were too few for a file, and the bounds of each file. So no error quotes
//! what the crate says of them. What the crate would read otherwise than DuckLake is refused here: see [`Table::open`].

mod address;

#[cfg(not(feature = "ducklake"))]
mod absent;
#[cfg(feature = "ducklake")]
mod catalog;
#[cfg(feature = "ducklake")]
mod error;
#[cfg(feature = "ducklake")]
mod files;
#[cfg(feature = "ducklake")]
mod table;

#[cfg(not(feature = "ducklake"))]
pub(crate) use absent::{Table, failed_scan};
pub(crate) use address::{Address, TABLE};
#[cfg(feature = "ducklake")]
pub(crate) use error::failed_scan;
#[cfg(feature = "ducklake")]
pub(crate) use table::Table;
