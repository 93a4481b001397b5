//! Reads files from other programs, which may be damaged, change during a run, or have wrong
//! metadata.

mod arrow_file;
mod bounds;
mod claims;
mod columns;
pub(crate) mod csv;
mod digits;
mod files;
mod guard;
mod inferred;
mod int96;
pub(crate) mod json;
mod noted;
mod pinned;
mod pins;
mod refused;
mod skipped;
mod stored;
mod text;
mod times;
mod types;

pub(crate) use arrow_file::{check as check_arrow_files, check_all as check_all_arrow_files};
pub(crate) use claims::{claimless, forget_claims, forgetting, forgetting_first, keyless, without_keys};
pub(crate) use columns::{in_type, same_types, select_columns};
pub(crate) use digits::checked_digits;
pub(crate) use files::FileTable;
pub(crate) use guard::read_again;
pub(crate) use guard::{GuardReaders, SOURCE, guard_readers, reading, source_plan};
pub(crate) use inferred::{Inferred, has_columns_of_its_own, inferred};
pub(crate) use int96::read_in_microseconds;
pub(crate) use noted::Noted;
pub(crate) use pinned::PinnedRows;
pub use pins::Pins;
pub(crate) use pins::forget_files;
pub(crate) use stored::{has_header, stored};
pub(crate) use types::Types;
