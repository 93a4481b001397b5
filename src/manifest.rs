//! The manifest beside a release. It contains all facts that are needed to repeat and check the
//! release, but no data value.

pub use crate::data::drift::{Drift, DriftKind, OnDrift, ReplaySummary, SourceColumn};
pub use crate::data::folder::{
    Batch, Budget, Check, FileSummary, HierarchySummary, ItemSetSummary, Manifest, PartitionSummary, PersonalSummary,
    PolicySummary, RandomizedColumn, Recoding, ReleasedColumn, Role, SearchSummary, SuppressedRows, Tried,
};
pub use crate::data::signature::{Envelope, Mark};
pub use crate::method::warning::{Warning, WarningKind};
