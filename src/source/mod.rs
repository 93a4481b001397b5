//! Reading files that others wrote: files that are damaged, that change during a run, or whose metadata is wrong.

mod arrow_file;
mod bounds;
mod columns;
pub(crate) mod csv;
mod delta;
mod digits;
mod ducklake;
mod guard;
pub(crate) mod json;
mod null_folders;
mod pins;
mod stored;
mod text;
mod types;

pub(crate) use arrow_file::check as check_arrow_files;
pub(crate) use columns::{same_types, select_columns};
pub(crate) use delta::DeltaRows;
pub(crate) use ducklake::DuckLakeRows;
#[cfg(feature = "cluster")]
pub(crate) use guard::read_again;
pub(crate) use guard::{GuardReaders, SOURCE, guard_readers, reading, source_plan};
pub(crate) use null_folders::NullFolders;
pub use pins::Pins;
pub(crate) use pins::forget_files;
pub(crate) use stored::{has_header, stored};
pub(crate) use types::{Inferred, Types, inferred};
