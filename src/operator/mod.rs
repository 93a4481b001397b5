//! The common frame around anonsql's operators in a DataFusion plan.
//!
//! An [`Operator`] defines its name and what it does with a stream of rows. [`OperatorExec`] is the
//! ExecutionPlan around an operator, and the only place that defines plan properties, metrics and
//! statistics. DataFusion's optimizer rewrites a plan that is queried as a table. The frame must
//! therefore declare what an operator relies on; otherwise the optimizer removes a sort below it,
//! or repartitions its rows.

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
