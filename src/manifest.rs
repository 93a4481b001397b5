//! The manifest beside a release: what repeats the release and what checks it, and no data value.

pub use crate::folder::{
    Check, FileSummary, HierarchySummary, Manifest, PartitionSummary, PersonalSummary, RandomizedColumn,
    ReleasedColumn, Role, SearchSummary, SuppressedRows,
};
