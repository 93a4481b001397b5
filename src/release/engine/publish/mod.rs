//! Stage 6: writes the manifest and the report of a recounted release, and moves the release to its
//! target.

mod change;
mod few;
mod grown;
mod manifest;
mod place;
mod release;
mod repeated;
mod report;

pub(in crate::release::engine) use place::{Inputs, RowsToPublish, ToPublish, publish, publish_rows};
pub use place::{Placed, ReleasedRows};
pub(in crate::release::engine) use repeated::refuse as refuse_repeated;
pub(in crate::release::engine) use report::{EarlyMeasures, ReleaseToMeasure, SourceReading};

#[cfg(test)]
mod tests;
