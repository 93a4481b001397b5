//! Stage 3: turns a decision into the plan that rewrites the source.

mod by_row;
mod by_value;
mod collected;
mod draw;
mod order;
pub(in crate::release::engine) mod plan;
mod recoding_plan;
mod rewrite;
mod surveyed;
mod tally;
mod treatments;

pub(in crate::release::engine) use order::{Ascending, AscendingExec};
pub(in crate::release::engine) use recoding_plan::recoding_among;
pub(in crate::release::engine) use rewrite::{Rewrite, foresee_rewrite, rewrite};

#[cfg(test)]
mod tests;
