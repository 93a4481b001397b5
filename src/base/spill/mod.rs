//! Memory reservations, files for data that does not fit in the memory pool, and temporary files of
//! queries. None of these files has a name.

mod space;
mod temporary;

pub use space::SpillSpace;
pub(crate) use space::{Overflow, TemporaryFolder};
pub(crate) use temporary::keep_files_unnamed;
pub use temporary::with_unnamed_files;
