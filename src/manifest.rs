//! The manifest beside a release: all facts that repeat and check the release, and no data value.

pub use crate::folder::{
    Check, FileSummary, HierarchySummary, Manifest, PartitionSummary, PersonalSummary, RandomizedColumn,
    ReleasedColumn, Role, SearchSummary, SuppressedRows,
};
pub use crate::warning::{Warning, WarningKind};
