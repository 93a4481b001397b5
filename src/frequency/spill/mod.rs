//! Memory reservations, and spill files for data that the memory pool refuses.

mod key_file;
mod space;

pub(crate) use key_file::KeyFile;
pub use space::Scratch;
pub(crate) use space::{Overflow, TemporaryFolder};
