//! Binds a parsed statement to a job: looks up names and checks arguments.

mod append;
mod choice;
mod constraints;
mod goal;
mod job;
mod replay;
mod roles;
mod target;
mod waiting;

pub(super) use constraints::{constraints, not_sensitive};
pub(super) use job::{OPTIONS as RUN_OPTIONS, suppression};
pub(super) use target::OPTIONS as TARGET_OPTIONS;
