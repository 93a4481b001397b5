//! The one path of every front end from a [`Job`](crate::job::Job) to its [`Release`]. Each stage is a folder, and
//! `run` calls the stages in order.

mod apply;
#[cfg(feature = "cluster")]
mod codec;
mod course;
mod decide;
mod examine;
mod items;
mod observe;
mod publish;
mod recount;
mod release;
mod run;
#[cfg(test)]
mod sample_tests;
mod scan;
mod standing;
mod temporary;
#[cfg(test)]
mod testing;
mod utility;
mod waiting;
mod write;

#[cfg(feature = "cluster")]
pub(crate) use codec::CODEC;
pub use course::Course;
pub use decide::{Decision, Evaluator, Objective, Optimized, Reached, column_loss, describe, front};
#[cfg(feature = "internal-api")]
pub use decide::{FrontOracle, front_oracle};
pub use examine::{Findings, findings, named_warnings};
pub use observe::{Observer, Phase, Silent};
pub use publish::{Placed, ReleasedRows, StagedReport};
pub use recount::{Answers, Generalized, Promise, ReleasedTable, recounting_session};
pub(crate) use recount::{Coded, answer_rightly, bind, bounds_as_text, count, is_bounds, type_of, with_one_zero};
pub use release::{Growth, Release};
pub use run::{decide_job, foresee, measure, release_rows, release_to};
#[cfg(feature = "internal-api")]
pub use scan::Scanned;
pub use scan::{detail_requests, scan};
pub(crate) use temporary::keep_files_unnamed;
pub use temporary::with_unnamed_files;
pub(crate) use utility::{Reading, Tables, figures};
pub use write::Alike;
pub(crate) use write::{Stage, or_removed};
