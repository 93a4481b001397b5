//! Drift: the differences since an earlier release was made. USING MANIFEST finds them before
//! anything is published.
//!
//! A drift contains names of columns and counts, and no data value. ON DRIFT decides what follows
//! ([`OnDrift`]): drift stops the statement, or is reported.

mod found;
mod mode;
mod replay;
mod schema;

pub use found::{Drift, DriftKind};
pub use mode::OnDrift;
pub use replay::ReplaySummary;
pub use schema::{SchemaChange, SourceColumn, changes};

pub(crate) use found::{refusal, told};
