//! The catalogue, which creates objects from SQL names and checked arguments.
//!
//! Every extensible set in this crate (privacy models, metrics, searches, hierarchy kinds,
//! statements, REPL commands) is an ordered list of entries, such as [`Entry`]. Each entry consists
//! of a description and a function, such as a constructor. Help, completion, SHOW lists and the
//! checks of arguments use the description.

mod arguments;
mod call;
mod entry;
mod registry;
mod size;

pub use arguments::Arguments;
pub(crate) use arguments::duration;
pub use call::{Argument, Call, Value};
pub use entry::{Entry, Info, Kind, Param, find};
pub use registry::{Catalogue, Described};
pub(crate) use size::size;
