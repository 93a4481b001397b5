//! Stage 4: writes the rows to staged files, or keeps them until they are handed out. They are not
//! visible yet.

mod alike;
#[cfg(feature = "cluster")]
mod away;
#[cfg(feature = "cluster")]
mod buckets;
mod compact;
mod files;
mod footer;
mod limit;
mod nanoseconds;
mod settled;
mod shelf;
mod sink;
mod spool;
mod staging;
mod stored;
mod written;

pub use alike::Alike;
#[cfg(feature = "cluster")]
pub(in crate::engine) use buckets::WriteBuckets;
pub(in crate::engine) use settled::Settled;
pub(in crate::engine) use shelf::WrittenFile;
pub use spool::ReleaseTable;
pub(in crate::engine) use spool::Spool;
pub(in crate::engine) use staging::Staging;
pub(in crate::engine) use stored::stored;
pub(in crate::engine) use written::{Written, keep_rows, write_files};

#[cfg(test)]
mod tests;
