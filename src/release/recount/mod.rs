//! Counts released rows by SQL that shares no code with the search: classes, promises, labels, and
//! the information about the source that a table retains. A release is recounted before it is
//! published. Any other table is counted when a statement asks for it.

mod bind;
mod bounds;
mod class_sizes;
mod codes;
mod copied_columns;
mod known_source;
mod ladders;
mod marginals;
mod number_columns;
mod number_counter;
mod number_ranks;
mod number_rows;
mod number_sort;
mod promises;
mod released;
mod remaining;
mod session;
mod spans;
mod sql;
mod suppressed;
mod utility;

pub(crate) use bind::{admit_people, bind};
pub(crate) use bounds::{bounds_as_text, is_bounds};
pub(crate) use codes::{CodedColumn, check_codes};
pub(crate) use copied_columns::{CopiedColumns, Copying};
pub(crate) use known_source::KnownSource;
pub(crate) use marginals::check_marginals;
pub(crate) use number_columns::KnownColumn;
pub(crate) use number_ranks::NumberRanks;
pub(crate) use promises::promises;
pub use released::{Answers, Generalized, Promise, ReleasedTable};
pub use remaining::Remaining;
pub use session::recounting_session;
pub(crate) use session::{Elsewhere, coded_plan, session_with};
pub(crate) use sql::{answer_rightly, count, label_text, numbers, register, steady, type_of, with_one_zero};
pub(crate) use utility::{Reading, Tables, are_read_together, figures};
