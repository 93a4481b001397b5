//! anonsql: an SQL-embedded anonymizer on Apache DataFusion.
#![forbid(unsafe_code)]
pub mod catalogue;
#[cfg(feature = "cli")]
pub mod cli;
pub mod engine;
pub mod error;
pub mod frequency;
#[cfg(feature = "cli")]
pub mod generate;
pub mod hierarchy;
pub mod lattice;
pub mod metric;
pub mod model;
pub mod recode;
pub mod search;
pub mod session;
pub mod sql;

pub use session::{AnonContext, Answer};
