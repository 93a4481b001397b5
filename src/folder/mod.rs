//! The folder of a release: its manifest, the folders of its partitions, and what of it may be replaced.

mod contents;
mod manifest;
mod partitions;

pub(crate) use contents::{check as check_replaceable, remove};
pub(crate) use manifest::sha256;
pub use manifest::{
    Check, FileSummary, HierarchySummary, MANIFEST, Manifest, PartitionSummary, PersonalSummary, RandomizedColumn,
    ReleasedColumn, Role, SearchSummary, SuppressedRows, hierarchy_key,
};
pub use partitions::NULL_FOLDER;
pub(crate) use partitions::{check_column as check_partition_column, name as partition_name, with_nulls};
