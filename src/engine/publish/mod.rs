//! Stage 6: writes the manifest and the report of a recounted release, and moves the release to its target.

mod change;
mod grown;
mod manifest;
mod place;
mod release;
mod repeated;
mod report;
mod report_file;

pub(in crate::engine) use place::{Inputs, publish, publish_rows};
pub use place::{Placed, ReleasedRows};
pub(in crate::engine) use repeated::refuse as refuse_repeated;
pub use report_file::StagedReport;

#[cfg(test)]
mod tests;
