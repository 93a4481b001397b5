//! The interface through which a run informs its caller: phases and their times, progress, and the
//! figures of its release.

mod course;
mod observer;
mod release;

pub use course::Course;
pub use observer::{Observer, Phase, Silent};
pub use release::{Growth, Release};
