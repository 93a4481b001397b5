//! The single path that every front end takes from a [`Job`](crate::release::job::Job) to its
//! [`Release`](crate::release::observe::Release). Each stage is a folder, and `run` calls the
//! stages in order.

mod apply;
mod checked;
mod decide;
mod examine;
mod executor;
mod items;
mod publish;
mod run;
#[cfg(test)]
mod sample_tests;
mod scan;
mod standing;
#[cfg(test)]
mod testing;
mod verify;
mod waiting;
mod write;

pub use decide::{
    Decision, Evaluator, NearestMiss, NodeProfile, Objective, Optimized, Reached, column_loss, describe, front,
    of_lattice,
};
#[cfg(feature = "internal-api")]
pub use decide::{FrontOracle, front_oracle};
pub use examine::{Findings, findings, named_warnings};
pub(crate) use executor::{enable_executors, observe_executors};
pub use publish::{Placed, ReleasedRows};
pub use run::{decide_job, foresee, measure, release_rows, release_to};
#[cfg(feature = "internal-api")]
pub use scan::Scanned;
pub use scan::{detail_requests, scan};
pub use write::Alike;
