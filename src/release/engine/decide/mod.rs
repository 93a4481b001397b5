//! Stage 2: choosing a node or a partition.

mod advice;
mod assess;
mod choose;
mod context;
mod cover;
mod decision;
mod divide;
mod evaluator;
mod front;
mod given;
mod groups;
mod infeasible;
mod join;
mod label_rows;
mod loss;
mod profile;
mod replay;
mod search;
mod standing;
mod stay;
mod subsets;
mod supersets;
mod values;

pub(in crate::release::engine) use advice::advice;
pub use choose::decide;
pub use decision::{Decision, GeneralizedItems, describe};
pub use evaluator::{Evaluator, Verdict};
#[cfg(feature = "internal-api")]
pub use front::{FrontOracle, front_oracle};
pub use front::{Objective, Optimized, Reached, front};
pub use given::of_lattice;
pub use infeasible::NearestMiss;
pub(in crate::release::engine) use join::join;
pub use label_rows::{LabelRows, label_rows};
pub use loss::column_loss;
pub use profile::NodeProfile;

#[cfg(test)]
mod tests;
