//! anonsql: an SQL-embedded anonymizer on Apache DataFusion.
#![forbid(unsafe_code)]
pub mod catalogue;
pub mod engine;
pub mod error;
pub mod frequency;
pub mod hierarchy;
pub mod lattice;
pub mod metric;
pub mod model;
pub mod recode;
pub mod search;
pub mod sql;
