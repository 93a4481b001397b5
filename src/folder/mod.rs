//! The folder of a release: its manifest, the folders of its partitions, and the check of what OVERWRITE may replace.

mod contents;
mod manifest;
mod partitions;
mod summary;

pub(crate) use contents::{check as check_replaceable, remove};
pub(crate) use manifest::sha256;
pub use manifest::{MANIFEST, Manifest, hierarchy_key};
pub(crate) use partitions::{check_column as check_partition_column, name as partition_name, with_nulls};
pub use summary::{
    Budget, Check, FileSummary, HierarchySummary, ItemSetSummary, PartitionSummary, PersonalSummary, RandomizedColumn,
    Recoding, ReleasedColumn, Role, SearchSummary, SuppressedRows, Tried,
};
