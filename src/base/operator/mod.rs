//! The common frame around anonsql's operators in a DataFusion plan.
//!
//! An [`Operator`] defines its name and its transformation of a stream of rows. [`OperatorExec`] is
//! the ExecutionPlan around an operator, and the only place that defines plan properties, metrics
//! and statistics. DataFusion's optimizer rewrites a plan that is queried as a table. The frame
//! must therefore declare the properties that an operator relies on. Otherwise the optimizer
//! removes a sort below the operator, or repartitions its rows.

pub(crate) mod bytes;
mod frame;
mod rule;
mod stopping;
mod table;
#[cfg(test)]
mod tests;
mod travel;

pub use frame::{InputPartitions, Operator, OperatorExec, Rows};
pub use rule::add_rule;
pub use stopping::stop_joins;
pub use table::{ComputedTable, project};
pub(crate) use travel::{Parcel, Travels};
