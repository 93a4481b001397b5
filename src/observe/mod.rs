//! What a run tells its caller: its phases and their times, its progress, and the figures of its
//! release.

mod course;
mod observer;
mod release;

pub use course::Course;
pub use observer::{Observer, Phase, Silent};
pub use release::{Growth, Release};
