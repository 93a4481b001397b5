//! Stage 6: a recounted release gets its manifest and its report, and is put in its place.

mod manifest;
mod place;
mod release;
mod report;
mod report_file;

pub(in crate::engine) use place::{Inputs, publish, publish_rows};
pub use place::{Published, ReleasedRows};
pub use release::Release;
pub use report_file::StagedReport;

#[cfg(test)]
mod tests;
