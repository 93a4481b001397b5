//! DuckLake tables: one snapshot of a table as a source.
//!
//! The crate `datafusion-ducklake` reads the catalog, which is an SQLite file, and the data files.
//! The stores of the data files are those of the session. It is behind the cargo feature
//! `ducklake`.
//!
//! A catalog may hold values of the table: rows that were too few for a file, and the bounds of
//! each file. So no error quotes what the crate says of them. What the crate would read otherwise
//! than DuckLake is refused here: see `Table::open`.

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
