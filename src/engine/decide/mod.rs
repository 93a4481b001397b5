//! Stage 2: choosing a node or a partition.

mod advice;
mod assess;
mod context;
mod cover;
mod decision;
mod divide;
mod evaluator;
mod front;
mod groups;
mod infeasible;
mod loss;
mod search;

pub(in crate::engine) use advice::advice;
pub use decision::{Decision, GeneralizedItems, describe};
pub use evaluator::{Evaluator, Verdict};
#[cfg(feature = "internal-api")]
pub use front::{FrontOracle, front_oracle};
pub use front::{Objective, Optimized, Reached, front};
pub use loss::column_loss;
pub use search::decide;

#[cfg(test)]
mod tests;
