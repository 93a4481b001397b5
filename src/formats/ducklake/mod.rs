//! DuckLake tables: one snapshot of a table as a source.
//!
//! The crate `datafusion-ducklake` reads the catalog, which is an SQLite file, and the data files.
//! The stores of the data files are those of the session. The format is behind the cargo feature
//! `ducklake`.
//!
//! A catalog may contain values of the table: rows that were too few for a file, and the bounds of
//! each file. So no error quotes the crate's messages about them. Tables that the crate would read
//! differently from DuckLake are refused: see `Table::open`.

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
