//! Memory reservations, and spill files for data that the memory pool refuses.

mod key_file;
mod spill_space;

pub(crate) use key_file::KeyFile;
pub use spill_space::SpillSpace;
pub(crate) use spill_space::{Overflow, TemporaryFolder};
