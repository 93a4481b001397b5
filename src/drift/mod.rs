//! Drift: what is otherwise today than when an earlier release was made, which USING MANIFEST finds
//! before anything is published.
//!
//! A drift contains names of columns and counts, and no data value. What becomes of it is what ON
//! DRIFT says ([`OnDrift`]): it stops the statement, or it is told.

mod found;
mod mode;
mod replay;
mod schema;

pub use found::{Drift, DriftKind};
pub use mode::OnDrift;
pub use replay::ReplaySummary;
pub use schema::{Change, SourceColumn, changes};

pub(crate) use found::{refusal, told};
