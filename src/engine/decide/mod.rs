//! Stage 2: the choice of a node, or of a partition.

mod assess;
mod cover;
mod decision;
mod evaluator;
mod front;
mod groups;
mod infeasible;
mod search;

pub use decision::{Decision, Proof, describe};
pub use evaluator::{Evaluator, Profile, Verdict};
pub use front::{Front, FrontOracle, Objective, Optimized, Reached, front, front_oracle};
pub use search::decide;

#[cfg(test)]
mod tests;
