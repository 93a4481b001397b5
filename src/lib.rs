//! anonsql: an SQL-embedded anonymizer on Apache DataFusion.
#![forbid(unsafe_code)]
pub mod catalogue;
pub mod error;
pub mod lattice;
pub mod search;
pub mod sql;
