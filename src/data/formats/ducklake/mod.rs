//! DuckLake tables. A statement reads one snapshot of a table.
//!
//! The crate `datafusion-ducklake` reads the catalog, which is an SQLite file, and the data files.
//! It uses the object stores of the session. The format requires the cargo feature `ducklake`.
//!
//! A catalog may contain data values: inlined rows, which were too few for a file, and the bounds
//! of each file. Therefore, no error quotes the crate's messages about them. Tables whose rows the
//! crate would not read correctly are refused: see `TableSnapshot::open`.

mod address;
#[cfg(feature = "ducklake")]
mod catalog;
#[cfg(feature = "ducklake")]
mod error;
#[cfg(feature = "ducklake")]
mod files;
#[cfg(feature = "ducklake")]
mod format;
mod line;
#[cfg(feature = "ducklake")]
mod pinned;
#[cfg(feature = "ducklake")]
mod table;

pub(crate) use line::ENTRY;
