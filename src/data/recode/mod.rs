//! Applies a recoding: converts rows of the source to released rows.
//!
//! A [`RecodingPlan`] contains a treatment for every released column. [`RecodeExec`] applies the
//! plan batch by batch inside a DataFusion plan, so that the second scan is streamed like the
//! first. The labels of a row are determined by the node of the lattice, or by the group of a
//! partition that contains the row's combination.

mod class_values;
mod classes;
mod deal;
mod decode;
mod distinct_rows;
mod exact_sum;
mod exec;
mod fold;
mod forms;
mod hide;
mod items;
mod labelling;
mod labels;
mod order_key;
pub mod personal;
pub mod randomize;
mod recoding_plan;
mod row_labeller;
mod row_outcome;
mod sort;
mod travel;

pub use classes::Classes;
pub(crate) use deal::{BUCKET, ClassPlace, Deal, Range};
pub(crate) use decode::Decode;
pub use decode::DecodeExec;
pub(crate) use distinct_rows::DistinctRows;
pub(crate) use exec::Recode;
pub use exec::RecodeExec;
pub(crate) use fold::{Fold, FoldExec, Repeat};
pub(crate) use hide::HideSuppressedExec;
pub use items::ItemRecoding;
pub(crate) use items::{Items, item_type};
pub use labelling::{Grouped, KeptClasses};
pub use order_key::{ORDER_PREFIX, SUPPRESSED};
pub use recoding_plan::{ColumnTreatment, QuasiIdentifierRule, RecodingParts, RecodingPlan, Released};
pub(crate) use row_labeller::RowLabeller;
pub use row_outcome::RowOutcome;
pub use sort::PackedSortExec;
pub(crate) use sort::{PackedSort, numbers, of_codes, unpacked};
