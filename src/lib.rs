//! anonsql: an SQL-embedded anonymizer on Apache DataFusion.
#![forbid(unsafe_code)]
pub mod catalogue;
pub mod error;
#[cfg(feature = "cli")]
pub mod generate;
pub mod lattice;
pub mod search;
