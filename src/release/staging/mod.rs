//! Files that are written and not visible yet: a hidden folder that becomes its target in one step,
//! and the report beside it.

mod report_file;
mod stage;

pub use report_file::StagedReport;
pub use stage::Stage;
pub(crate) use stage::{or_removed, removed};
