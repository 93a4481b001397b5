//! The folder of a release: its manifest, the folders of its partitions, the check before OVERWRITE
//! and APPEND, and the lock of the process that uses the folder.

mod batch;
mod contents;
mod file;
mod held;
mod manifest;
mod partitions;
mod signed;
mod summary;
mod whole;

pub use batch::Batch;
pub(crate) use contents::{Replacing, check as check_replaceable, check_folder, remove};
pub use file::{FileSummary, sha256};
pub(crate) use held::{create_private, hold};
pub(crate) use manifest::{FORMAT, parse as parse_manifest};
pub use manifest::{Footer, MANIFEST, Manifest, hierarchy_key};
pub(crate) use partitions::{NULL_FOLDER, check_column as check_partition_column, name as partition_name, with_nulls};
pub(crate) use summary::DEFAULT_MASK;
pub use summary::{
    Budget, Check, HierarchySummary, ItemSetSummary, PartitionSummary, PersonalSummary, PolicySummary,
    RandomizedColumn, Recoding, ReleasedColumn, Role, SearchSummary, SuppressedRows, Tried,
};
pub(crate) use whole::{is_free, not_whole, whole};
