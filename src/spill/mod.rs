//! Memory reservations, files for what the memory pool refuses, and temporary files of queries. No
//! file has a name.

mod space;
mod temporary;

pub use space::SpillSpace;
pub(crate) use space::{Overflow, TemporaryFolder};
pub(crate) use temporary::keep_files_unnamed;
pub use temporary::with_unnamed_files;
