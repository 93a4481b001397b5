//! The entry point: anonsql over a DataFusion session.
//!
//! [`AnonContext`] runs every statement of the language in a
//! [`SessionContext`](datafusion::prelude::SessionContext), which the caller may supply. The
//! catalogs, object stores, memory pool and settings of that session are used unchanged. Statements
//! that anonsql does not define are passed on to DataFusion.

mod advice;
mod answer;
mod bind;
mod context;
mod deep;
mod functions;
mod hiding;
mod hierarchies;
mod numbers;
mod options;
mod planning;
mod policies;
mod policy;
mod register;
mod registry;
mod run;
mod sources;
mod statements;
mod typed;
mod variables;

pub use crate::release::audit::Verification;
pub use answer::Answer;
pub use context::AnonContext;
pub use functions::functions;
#[cfg(feature = "internal-api")]
pub use options::{OptionInfo, options};
pub use registry::Registry;
pub use sources::path_tables::enable_path_tables;
pub use statements::STATEMENTS;
pub use statements::anonymize::Anonymized;
pub use statements::entry::Statement;
pub use statements::pareto::{FrontPoint, ParetoFront};
pub use statements::parse::keywords;
#[cfg(feature = "internal-api")]
pub use statements::parse::{parse, parse_each};
pub use typed::Outcome;
pub use variables::Statements;
