//! Stage 3: a decision becomes the plan that rewrites the source.

#[cfg(feature = "cluster")]
mod away;
mod cut;
mod draw;
mod limits;
mod order;
pub(in crate::engine) mod plan;
mod recoding_plan;
mod rewrite;
mod tally;

#[cfg(feature = "cluster")]
pub(in crate::engine) use away::{Away, away};
pub(in crate::engine) use cut::{Bucket, PlannedFile};
pub(in crate::engine) use order::{Ascending, AscendingExec};
pub(in crate::engine) use recoding_plan::recoding_among;
pub(in crate::engine) use rewrite::{Rewrite, rewrite};

#[cfg(test)]
mod tests;
