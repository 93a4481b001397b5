//! Stage 4: writes the rows to staged files, or keeps them until they are read. The rows are not
//! visible yet.

mod alike;
mod compact;
mod execute;
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
pub(in crate::release::engine) mod stream;
mod written;

pub use alike::Alike;
pub(in crate::release::engine) use execute::{keep_rows, write_files};
pub(in crate::release::engine) use files::{FileColumns, FileRows};
pub(in crate::release::engine) use shelf::{WrittenFile, name};
pub(in crate::release::engine) use sink::{Sink, WRITING, failed, sink};
pub use spool::ReleaseTable;
pub(in crate::release::engine) use spool::{Spool, encode};
pub(in crate::release::engine) use staging::{StagedTarget, Staging};
pub(in crate::release::engine) use stored::stored;
pub(in crate::release::engine) use written::{Writers, Written};

#[cfg(test)]
mod tests;
