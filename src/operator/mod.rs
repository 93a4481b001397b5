//! The one frame around an operator of ours in a DataFusion plan.
//!
//! An [`Operator`] says its name and what it does with a stream of rows; [`OperatorExec`] is the ExecutionPlan around it,
//! and the one place that says how it stands in a plan, what it took and what is known of its rows. DataFusion's optimizer
//! goes over a plan that is queried as a table, so what an operator relies on has to be said, or a sort below it is taken
//! for needless, and its rows are dealt out to other partitions.

mod frame;
mod table;
#[cfg(test)]
mod tests;

pub use frame::{Input, Operator, OperatorExec, Rows};
pub use table::{ComputedTable, project};
