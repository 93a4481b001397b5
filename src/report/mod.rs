//! Measured facts as documents and drawings.

mod front;

pub use front::{Axis, FrontChart};
