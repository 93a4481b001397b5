//! Stage 5: the written rows are counted again, by SQL that shares no code with the search.

#[cfg(feature = "cluster")]
mod away;
mod bind;
mod bounds;
mod class_sizes;
mod classes;
mod codes;
#[cfg(feature = "cluster")]
mod ends;
mod marginals;
mod population;
mod promises;
mod read_back;
mod recounted;
mod released;
mod session;
mod spans;
mod sql;
mod union;

pub(crate) use bind::bind;
pub(crate) use bounds::{bounds_as_text, is_bounds};
pub(crate) use codes::Coded;
#[cfg(feature = "cluster")]
pub(in crate::engine) use ends::Ends;
pub(in crate::engine) use recounted::{Recounted, WHOLE, recount};
pub use released::{Answers, Generalized, Promise, ReleasedTable};
pub use session::recounting_session;
pub(in crate::engine) use sql::steady;
pub(crate) use sql::{answer_rightly, count, type_of, with_one_zero};
pub(in crate::engine) use union::{Union, recount_union, type_name};

#[cfg(test)]
mod tests;
