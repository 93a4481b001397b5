//! The one path of every front end: a [`Job`] becomes a [`Release`].

mod alike;
mod arrow_file;
mod assess;
mod bounds;
mod columns;
mod compact;
mod cover;
mod decide;
mod details;
mod digits;
mod evaluator;
mod exposure;
mod front;
mod groups;
mod guard;
mod job;
mod manifest;
mod observe;
mod order;
mod partition_folder;
mod personal;
mod pin;
mod prepare;
mod randomize;
mod recount;
mod release;
mod replace;
mod report;
mod report_file;
mod spool;
mod stage;
mod summary;
mod table;
mod tally;
mod target;
mod temporary;
mod verify;
mod write;

pub use alike::Alike;
pub(crate) use arrow_file::check as check_arrow_files;
pub use decide::{Decision, Proof, decide, describe};
pub use details::detail_requests;
pub use evaluator::{Evaluator, Profile, Verdict};
pub use front::{EXHAUSTIVE_UP_TO, Front, FrontOracle, Objective, Property, Reached, front, front_oracle};
pub use groups::{Combinations, check as check_partition};
pub(crate) use guard::{SOURCE, guard_readers, reading};
pub use job::{
    Choice, Constraint, Existing, Format, Identifier, Job, QuasiIdentifier, Randomization, Secret, Sensitive, Source,
    SuppressionLimit, Target,
};
pub(crate) use manifest::sha256;
pub use manifest::{
    Check, FileSummary, HierarchySummary, MANIFEST, Manifest, PartitionSummary, PersonalSummary, RandomizedColumn,
    ReleasedColumn, Role, SearchSummary, SuppressedRows,
};
pub use observe::{Observer, Phase, Silent};
pub(crate) use partition_folder::with_nulls;
pub use pin::Pins;
pub use prepare::{Prepared, prepare};
pub use recount::recounting_session;
pub use release::{Decided, Release, decide_job, release_rows, release_to};
pub use report_file::{ReportFile, StagedReport};
pub use spool::ReleaseTable;
pub(crate) use stage::Stage;
pub(crate) use temporary::keep_files_unnamed;
pub use temporary::with_unnamed_files;
pub use verify::{Answers, Promise, ReleasedTable};
pub(crate) use verify::{answer_maxima_rightly, count, quote, with_one_zero};
