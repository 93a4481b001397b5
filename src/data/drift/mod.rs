//! Drift: the differences since an earlier release was made. USING MANIFEST finds them before
//! anything is published.
//!
//! A drift contains names of columns and counts, but no data value. The mode of ON DRIFT
//! ([`OnDrift`]) decides what happens next.

mod found;
mod mode;
mod replay;
mod schema;

pub use found::{Drift, DriftKind};
pub use mode::OnDrift;
pub use replay::ReplaySummary;
pub use schema::{SchemaChange, SourceColumn, changes};

pub(crate) use found::{refusal, told};
