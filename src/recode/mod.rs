//! Applying a choice: from the source's rows to released rows.
//!
//! A [`RecodingPlan`] says for every released column what becomes of it; [`RecodeExec`] applies it batch by batch inside a
//! DataFusion plan, so that the second scan streams like the first. Which label a row gets is said by the node of the
//! lattice, or by the group of a partition that the row's combination is in.

mod classes;
mod decode;
mod distinct_rows;
mod exec;
mod fold;
mod labelling;
mod labels;
mod order_key;
pub mod personal;
mod plain_type;
mod pseudonym;
pub mod randomize;
mod recoding_plan;

pub use classes::Classes;
pub use decode::DecodeExec;
pub(crate) use distinct_rows::DistinctRows;
pub use exec::RecodeExec;
pub use fold::{FoldExec, ROWS, RepeatExec, is_foldable, set_aside, with_rows};
pub use labelling::Grouped;
pub use order_key::{ORDER_PREFIX, SUPPRESSED};
pub use pseudonym::Pseudonym;
pub use recoding_plan::{ColumnTreatment, RecodingPlan, Released};
