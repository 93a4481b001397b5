//! Stage 3: a decision becomes the plan that rewrites the source.

mod draw;
mod limits;
mod order;
pub(in crate::engine) mod plan;
mod recipe;
mod rewrite;
mod tally;

pub(in crate::engine) use recipe::recipe_of;
pub(in crate::engine) use rewrite::{Rewrite, rewrite};

#[cfg(test)]
mod tests;
