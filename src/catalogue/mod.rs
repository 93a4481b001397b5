//! How an SQL name becomes an object.
//!
//! Every open set of this crate (privacy models, metrics, searches, hierarchy kinds, statements, REPL commands) is an
//! ordered slice of [`Entry`]: a description, from which help, completion, SHOW lists and argument checks are derived,
//! and a constructor.

mod arguments;
mod call;
mod entry;
mod registry;

pub use arguments::Arguments;
pub use call::{Argument, Call, Value};
pub use entry::{Entry, Info, Kind, Param, find};
pub use registry::{Catalogue, Described};
